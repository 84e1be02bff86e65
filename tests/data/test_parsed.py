"""Parsed text of large files is kept by checksum, and read back as it was."""

import os

import numpy as np
import pytest

from confml.data import parsed
from confml.data.readers import read_delimited


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(parsed, "LEAST_BYTES", 10)
    monkeypatch.setattr("confml.data.readers.LEAST_BYTES", 10)
    path = tmp_path / "some.txt"
    path.write_text("1 2.5 3\n\n4 5 6e-3\n")
    return path


def read(path, **options):
    return read_delimited(path, separator="blanks", names=("a", "b", "c"), **options)


def test_the_second_reading_parses_nothing(file, monkeypatch):
    first = read(file)
    monkeypatch.setattr("confml.data.readers._all_numbers", None)
    again = read(file)
    assert np.array_equal(first.values, again.values) and first.names == again.names
    assert np.array_equal(first.lines, again.lines) and first.lines.tolist() == [1, 3]
    assert first.values.dtype == again.values.dtype == np.float64


def test_another_content_or_setting_is_parsed(file):
    read(file)
    file.write_text("1 2.5 4\n\n4 5 6e-3\n")
    assert read(file).values[0, 2] == 4
    file.write_text("x y z\n1 2.5 3\n4 5 6e-3\n")
    assert read(file, skip_lines=1).lines.tolist() == [2, 3]


@pytest.mark.parametrize("damage", [b"", b"no array", b"\x93NUMPY"])
def test_a_damaged_array_is_parsed_again(file, damage, tmp_path):
    first = read(file)
    (stored,) = (tmp_path / "cache" / "parsed").glob("*.npy")
    stored.write_bytes(damage)
    assert np.array_equal(read(file).values, first.values)


def test_a_folder_of_others_is_not_used(file, tmp_path):
    (tmp_path / "cache" / "parsed").mkdir(parents=True)
    os.chmod(tmp_path / "cache" / "parsed", 0o777)
    read(file)
    assert not list((tmp_path / "cache" / "parsed").iterdir())


def test_the_oldest_arrays_are_removed(file, monkeypatch, tmp_path):
    read(file)
    monkeypatch.setattr(parsed, "MOST_BYTES", 300)
    (old,) = (tmp_path / "cache" / "parsed").glob("*.npy")
    os.utime(old, (1, 1))
    file.write_text("7 8 9\n1 2 3\n")
    read(file)
    (kept,) = (tmp_path / "cache" / "parsed").glob("*.npy")
    assert kept != old


def test_zeros_in_a_stored_array_are_found(file, tmp_path, capsys):
    """Also in the numbers, where NumPy's format has no check."""
    first = read(file).values
    (stored,) = (tmp_path / "cache" / "parsed").glob("*.npy")
    content = stored.read_bytes()
    for place in (len(content) - 40, len(content) - 8):  # a number, and the checksum
        stored.write_bytes(content[:place] + bytes(4) + content[place + 4 :])
        assert np.array_equal(read(file).values, first)
        assert f"{stored}: this file of the cache is damaged" in capsys.readouterr().err
        assert stored.read_bytes() == content
    assert np.array_equal(read(file).values, first) and capsys.readouterr().err == ""
