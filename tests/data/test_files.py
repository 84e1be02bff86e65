"""Where files are looked for, which is taken, and what is said where none is right."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys

import pytest

from confml.data import files
from confml.data.cards import CardFile
from confml.data.files import check, find, look, search_path
from confml.errors import DataError

RIGHT, WRONG = b"1 2 3\n4 5 6\n", b"1 2 3\n4 5 7\n"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def card_file(data: bytes = RIGHT, **keys) -> CardFile:
    given = {"name": "a.data", "folder": "toy", "sha256": sha(data), "address": "http://127.0.0.1:9/a"}
    given.update(keys)
    return CardFile(**{key: value for key, value in given.items() if value is not None})


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


@pytest.mark.parametrize(
    ("system", "given", "folder"),
    [
        ("darwin", "/var/caches", "/home/anna/Library/Caches/confml"),
        ("linux", "/var/caches", "/var/caches/confml"),
        ("linux", "", "/home/anna/.cache/confml"),
        ("linux", "caches", "/home/anna/.cache/confml"),
    ],
)
def test_the_cache_is_the_system_s_unless_said(monkeypatch, system, given, folder):
    monkeypatch.delenv("CONFML_CACHE", raising=False)
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("XDG_CACHE_HOME", given)
    monkeypatch.setattr(sys, "platform", system)
    assert str(files.cache_folder()) == folder


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
    assert said.endswith("confml data fetch toy-variant gets it")
    assert caught.value.exit_code == 3


def test_a_missing_file_that_no_address_serves_says_how_to_get_it(folders):
    file = card_file(address=None, manual="get it from\n  the library")
    with pytest.raises(DataError, match="no address serves it: get it from the library$"):
        find("toy", file)


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
    with pytest.raises(DataError, match="replace it, or have confml data fetch toy put"):
        find("toy", card_file())


def test_a_wrong_file_in_the_cache_is_for_fetch_to_replace(folders):
    put(folders[2], WRONG)
    with pytest.raises(DataError, match="confml data fetch toy puts the right one in its place"):
        find("toy", card_file())


def test_a_folder_of_that_name_is_not_the_file(folders):
    (folders[0] / "toy" / "a.data").mkdir(parents=True)
    assert look(card_file()).state == "missing"


# ---- what was read before


def count_reads(monkeypatch) -> list:
    reads = []
    real = files.sha256_of
    monkeypatch.setattr(files, "sha256_of", lambda path: reads.append(path) or real(path))
    return reads


def test_a_file_is_hashed_once_until_it_changes(folders, monkeypatch):
    path, reads = put(folders[0], RIGHT), count_reads(monkeypatch)
    for _ in range(3):
        find("toy", card_file())
    assert len(reads) == 1
    os.utime(path, ns=(1, 1))
    assert find("toy", card_file()) == path and len(reads) == 2
    path.write_bytes(WRONG)
    with pytest.raises(DataError, match="wrong checksum"):
        find("toy", card_file())
    assert len(reads) == 3


def test_a_remembered_checksum_is_compared_with_what_the_card_says_now(folders):
    put(folders[0], RIGHT)
    find("toy", card_file())
    assert look(card_file(WRONG)).state == "wrong"


def test_verify_reads_anew(folders, monkeypatch):
    path = put(folders[0], RIGHT)
    find("toy", card_file())
    (memory,) = (folders[2].parent / "verified").iterdir()
    kept = json.loads(memory.read_text())
    path.write_bytes(WRONG)
    assert look(card_file()).state == "wrong"
    now = json.loads(memory.read_text())
    del now["check"]
    files._remember(memory, {**now, "sha256": kept["sha256"]})  # bits of the data that rot change no time
    assert look(card_file()).state == "found"
    assert look(card_file(), again=True).state == "wrong"
    assert look(card_file()).state == "wrong"


@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_changed_with_size_and_time_kept_is_read_anew(folders, replaced):
    path = put(folders[0], RIGHT)
    find("toy", card_file())
    stat = path.stat()
    new = path.with_name("new") if replaced else path
    new.write_bytes(WRONG[: len(RIGHT)].ljust(len(RIGHT)))
    os.utime(new, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    os.replace(new, path)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    assert look(card_file()).state == "wrong"


@pytest.mark.parametrize("text", ["", "[]", "nonsense", '{"path": 1}', "another digest"])
def test_a_broken_memory_is_no_harm(folders, text):
    put(folders[0], RIGHT)
    find("toy", card_file())
    (memory,) = (folders[2].parent / "verified").iterdir()
    told = json.loads(memory.read_text())
    if text == "another digest":  # it would refuse a right file
        text = json.dumps({**told, "sha256": "0" * 64})
    memory.write_text(text)
    assert look(card_file()).state == "found"
    assert json.loads(memory.read_text()) == told


def test_without_a_cache_to_write_to_files_are_found_all_the_same(folders, monkeypatch, tmp_path):
    path = put(folders[0], RIGHT)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "file" / "cache"))
    assert find("toy", card_file()) == path


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


def test_variants_that_share_a_file_read_it_once(folders, monkeypatch):
    from types import SimpleNamespace

    put(folders[0], RIGHT)
    reads = count_reads(monkeypatch)
    cards = [SimpleNamespace(name=name, files=(card_file(),)) for name in ("toy", "toy-2")]
    cards.append(SimpleNamespace(name="bundled", files=()))
    found = files.verify(cards)
    assert {name: [state.state for state in told] for name, told in found.items()} == {
        "toy": ["found"],
        "toy-2": ["found"],
        "bundled": [],
    }
    assert len(reads) == 1
    assert found["toy"][0].as_dict()["file"] == "toy/a.data"
