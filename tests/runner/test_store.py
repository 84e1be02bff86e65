"""The store: records are whole or absent."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from confml.errors import ConfmlError
from confml.runner.lease import temporary_name
from confml.runner.store import Store, open_atomically
from confml.runner.workspace import Workspace


def test_record_round_trip(tmp_path):
    store = Store(tmp_path)
    arrays = {"scores": np.array([[0.1, 0.2]]), "labels": np.array(["a|b", "c,d"])}
    store.write("cells", "k1", {"x": 1}, arrays)
    document, read = store.read("cells", "k1")
    assert document["x"] == 1
    assert read["scores"].tolist() == [[0.1, 0.2]] and read["labels"].tolist() == ["a|b", "c,d"]
    assert store.keys("cells") == {"k1"} and store.is_intact("cells", "k1")
    store.write("inner", "k2", {"scores": [0.5, None]})
    assert store.read("inner", "k2") == ({"scores": [0.5, None], "arrays": None}, {})


def test_files_of_cells_are_flushed_to_the_disk_and_inner_folds_are_not(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda number: flushed.append(os.fstat(number).st_size))
    store = Store(tmp_path)
    store.write("inner", "k", {"scores": [0.5]})
    assert not flushed
    store.write("cells", "k", {}, {"a": np.arange(3)})
    assert flushed == [store.path("cells", "k", ending).stat().st_size for ending in ("npz", "json")]


def test_no_record_until_the_json_is_there(tmp_path):
    """The arrays are written first: a process killed between the two leaves no record."""
    store = Store(tmp_path)
    store.write("cells", "k", {}, {"a": np.arange(3)})
    store.path("cells", "k").unlink()
    assert (
        store.read("cells", "k") is None
        and not store.is_intact("cells", "k")
        and store.keys("cells") == set()
    )


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "flipped"])
def test_damaged_record_counts_as_not_done(tmp_path, ending, damage):
    store = Store(tmp_path)
    store.write("cells", "k", {"n": list(range(100))}, {"a": np.arange(1000)})
    path = store.path("cells", "k", ending)
    if damage == "gone":
        path.unlink()
    else:
        content = path.read_bytes()
        flipped = content[:40] + bytes([content[40] ^ 255]) + content[41:]
        path.write_bytes({"cut": content[: len(content) // 2], "empty": b"", "flipped": flipped}[damage])
    assert not store.is_intact("cells", "k")
    assert store.read("cells", "k") is None


def test_no_temporary_files_stay(tmp_path):
    store = Store(tmp_path)
    for number in range(5):
        store.write("cells", f"k{number}", {}, {"a": np.arange(3)})
    assert all(not name.startswith(".") for name in os.listdir(tmp_path / "cells"))


def test_objects_are_refused_rather_than_pickled(tmp_path):
    with pytest.raises(ValueError):
        Store(tmp_path).write("cells", "k", {}, {"a": np.array([object()])})
    assert Store(tmp_path).keys("cells") == set()


def test_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfmlError, match="cannot write results there.*--out"):
        Store(tmp_path / "file" / "run").make()


def test_documents_are_plain_json(tmp_path):
    store = Store(tmp_path)
    store.write("cells", "k", {"label": "é"})
    assert json.loads(store.path("cells", "k").read_text(encoding="utf-8"))["label"] == "é"


def test_a_changed_document_counts_as_not_done(tmp_path):
    """A flipped digit leaves valid JSON, and the arrays as they are."""
    store = Store(tmp_path)
    store.write("cells", "k", {"train_rows": 48, "labels": {1: 0.1}}, {"a": np.arange(3)})
    path = store.path("cells", "k")
    text = path.read_text()
    assert store.read("cells", "k")[0]["train_rows"] == 48
    path.write_text(text.replace("48", "49"))
    assert store.read("cells", "k") is None and not store.is_intact("cells", "k")
    document = json.loads(text.replace("48", "49"))
    del document["sha256"]  # older versions wrote none
    path.write_text(json.dumps(document))
    assert store.read("cells", "k")[0]["train_rows"] == 49


def test_arrays_that_cannot_be_read_count_as_not_done(tmp_path):
    """The digest fits, and the file is no archive."""
    store = Store(tmp_path)
    store.write("cells", "k", {}, {"a": np.arange(3)})
    store.path("cells", "k", "npz").write_bytes(b"PK\x03\x04 no archive")
    document = {"arrays": hashlib.sha256(b"PK\x03\x04 no archive").hexdigest()}
    store.path("cells", "k").write_text(json.dumps(document))
    assert store.read("cells", "k") is None


def test_a_new_run_removes_temporary_files_of_killed_runs(tmp_path):
    """Nothing that only has a similar name; ``123-0a1b2c3d`` is of an earlier version."""
    store = Store(tmp_path)
    store.write("inner", "a" * 32, {"value": 1})
    names = [temporary_name(Path(f"{'b' * 32}.{kind}")).name for kind in ("json", "npz")]
    names += [f".{'b' * 32}.npz.123-0a1b2c3d", ".mine", f".{'b' * 32}.json"]
    for name in names:
        (tmp_path / "inner" / name).touch()
    os.utime(tmp_path / "inner" / names[2], (1e9, 1e9))
    with open_atomically(tmp_path / "inner" / "c.json"):  # of a run that is alive
        Workspace.make(tmp_path).remove()
        left = {path.name for path in (tmp_path / "inner").iterdir()}
        assert {f"{'a' * 32}.json", *names[3:]} < left and len(left) == 4
