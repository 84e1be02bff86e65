"""Where files are looked for, which is taken, and what is said where none is right."""

from __future__ import annotations

import gzip
import hashlib
import os

import pytest

from confml.data.cards import CardFile
from confml.data.files import check, find, look, search_path
from confml.errors import DataError

RIGHT, WRONG = b"1 2 3\n4 5 6\n", b"1 2 3\n4 5 7\n"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def card_file(data: bytes = RIGHT, **keys) -> CardFile:
    given = {"name": "a.data", "folder": "toy", "sha256": sha(data), "address": "http://127.0.0.1:9/a"}
    given.update(keys)
    return CardFile(**{key.replace("_", "-"): value for key, value in given.items() if value is not None})


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two folders of CONFML_DATA and the cache's own, all empty."""
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CONFML_DATA", os.pathsep.join([str(tmp_path / "one"), str(tmp_path / "two")]))
    return tmp_path / "one", tmp_path / "two", tmp_path / "cache" / "data"


def put(folder, data: bytes, name: str = "a.data"):
    path = folder / "toy" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_the_search_path_is_the_variable_s_folders_and_then_the_cache(folders, monkeypatch):
    assert search_path() == list(folders)
    monkeypatch.setenv("CONFML_DATA", "")
    assert search_path() == [folders[2]]
    monkeypatch.delenv("CONFML_DATA")
    assert search_path() == [folders[2]]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_file_is_found_in_each_of_the_folders(folders, place):
    path = put(folders[place], RIGHT)
    assert find("toy", card_file()) == path


def test_the_first_right_file_is_taken_and_wrong_ones_are_passed_over(folders):
    put(folders[0], WRONG)
    second, _ = put(folders[1], RIGHT), put(folders[2], RIGHT)
    assert find("toy", card_file()) == second


def test_a_missing_file_names_the_folders_and_the_command(folders):
    with pytest.raises(DataError) as caught:
        find("toy-variant", card_file())
    said = str(caught.value)
    assert said.startswith("toy/a.data of the data set 'toy-variant' is not in ")
    assert all(str(folder) in said for folder in folders)
    assert said.endswith("confml data fetch toy-variant downloads it")
    assert caught.value.exit_code == 3


def test_a_wrong_file_says_both_checksums_and_what_to_do(folders):
    path = put(folders[0], WRONG)
    with pytest.raises(DataError) as caught:
        find("toy", card_file())
    said = str(caught.value)
    assert said.startswith(
        f"{path}: wrong checksum: expected SHA-256 {sha(RIGHT)}, got {sha(WRONG)}; replace it"
    )
    put(folders[1], WRONG)
    os.remove(path)
    with pytest.raises(DataError, match="replace it, or download the right one: confml data fetch toy"):
        find("toy", card_file())


# ---- files known by what they hold


def test_a_gzip_file_packed_in_another_way_is_right_by_its_content(folders):
    file = card_file(gzip.compress(RIGHT, 9, mtime=0), content_sha256=sha(RIGHT))
    path = put(folders[0], gzip.compress(RIGHT, 1, mtime=99))
    assert look(file).path == path
    put(folders[0], gzip.compress(WRONG))
    state = look(file)
    assert (state.state, state.expected, state.got) == ("wrong", sha(RIGHT), sha(WRONG))


@pytest.mark.parametrize("data", [RIGHT, gzip.compress(RIGHT, mtime=0)[:-4], b""])
def test_what_is_not_a_whole_gzip_file_is_wrong(folders, data):
    file = card_file(sha256=None, content_sha256=sha(RIGHT))
    path = put(folders[0], data)
    if data:
        with pytest.raises(DataError, match="is not a whole gzip file"):
            find("toy", file)
    else:
        assert check(path, file).state == "wrong"
