"""Where files are looked for, which is taken, and what is said where none is right."""

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
    values = {"name": "a.data", "folder": "toy", "sha256": sha(data), "address": "http://127.0.0.1:9/a"}
    return CardFile(**values | keys)


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


def test_the_first_right_file_is_taken_and_wrong_ones_are_skipped(folders):
    with pytest.raises(DataError) as caught:
        find("toy-variant", card_file())
    message = str(caught.value)
    assert message.startswith("toy/a.data of the data set 'toy-variant' is not in ")
    assert all(str(folder) in message for folder in folders)
    assert message.endswith("confml data fetch toy-variant downloads it")
    path = put(folders[0], WRONG)
    with pytest.raises(DataError) as caught:
        find("toy", card_file())
    wrong = f"{path}: wrong checksum: expected SHA-256 {sha(RIGHT)}, got {sha(WRONG)}; replace it"
    assert str(caught.value).startswith(wrong)
    for folder in folders[:0:-1]:
        path = put(folder, RIGHT)
        assert find("toy", card_file()) == path


# ---- files known by what they hold


def test_a_gzip_file_packed_in_another_way_is_right_by_its_content(folders):
    file = card_file(gzip.compress(RIGHT, 9, mtime=0), **{"content-sha256": sha(RIGHT)})
    path = put(folders[0], gzip.compress(RIGHT, 1, mtime=99))
    assert look(file).path == path
    put(folders[0], gzip.compress(WRONG))
    state = look(file)
    assert (state.state, state.expected, state.got) == ("wrong", sha(RIGHT), sha(WRONG))


@pytest.mark.parametrize("data", [RIGHT, gzip.compress(RIGHT, mtime=0)[:-4], b""])
def test_what_is_not_a_whole_gzip_file_is_wrong(folders, data):
    file = card_file(**{"sha256": None, "content-sha256": sha(RIGHT)})
    path = put(folders[0], data)
    if data:
        with pytest.raises(DataError, match="is not a whole gzip file"):
            find("toy", file)
    else:
        assert check(path, file).state == "wrong"
