"""The store: records are whole or absent."""

import os

import numpy as np
import pytest

from confml.runner import store as module
from confml.runner.store import Store

ARRAYS = {"scores": np.array([[0.1, 0.2]]), "labels": np.array(["a|b", "c,d"])}


def written(folder, *keys):
    """Write a batch of cells, and return its lines and its arrays."""
    store = Store(folder)
    for number, key in enumerate(keys):
        store.write("cells", key, {"n": list(range(100)), "key": key}, {"a": np.arange(1000) + number})
    store.sync()
    lines = max(folder.glob(".run/batches/*.jsonl"))
    return lines, lines.with_suffix(".bin")


def test_records_of_a_batch_come_back(tmp_path):
    store = Store(tmp_path)
    store.write("cells", "k1", {"x": 1, "label": "é", "share": float("inf")}, ARRAYS)
    store.write("inner", "k2", {"scores": [0.5, None]})
    store.write("cells", "k3", {}, {"a": np.arange(3)})
    store.sync()
    assert len(os.listdir(tmp_path / ".run/batches")) == 2
    for reader in (store, Store(tmp_path)):
        assert reader.keys("cells") == {"k1", "k3"} and reader.keys("failures") == set()
        document, arrays = reader.read("cells", "k1")
        assert document == {"x": 1, "label": "é", "share": float("inf")}
        np.testing.assert_equal(dict(arrays), ARRAYS)
        assert reader.read("cells", "k3")[1]["a"].tolist() == [0, 1, 2]
        assert reader.read("inner", "k2") == ({"scores": [0.5, None]}, {})
        assert reader.read("cells", "k2") is None and not reader.has("inner", "k1")


def test_records_of_other_processes_are_found(tmp_path):
    reader = Store(tmp_path)
    assert reader.keys("cells") == set()
    written(tmp_path, "a")
    assert reader.has("cells", "a") and reader.keys("cells") == {"a"}
    written(tmp_path, "b")
    assert reader.keys("cells") == {"a"}
    reader.refresh()
    assert reader.keys("cells") == {"a", "b"}


def test_batches_become_one_at_the_end(tmp_path):
    """A process that is killed before it removed them leaves the records twice, which changes nothing."""
    left = {file: file.read_bytes() for keys in ("ab", "bc") for file in written(tmp_path, *keys)}
    before = {key: Store(tmp_path).read("cells", key)[1]["a"].tolist() for key in "abc"}
    earlier = Store(tmp_path)
    assert earlier.keys("cells") == set("abc")
    store = Store(tmp_path)
    store.merge()
    assert len(list((tmp_path / ".run/batches").iterdir())) == 2 and not any(map(os.path.exists, left))
    assert earlier.read("cells", "a")[1]["a"].tolist() == before["a"]
    for missing in ("bin", "jsonl", "none"):
        for file, content in left.items():
            if not file.name.endswith(missing):
                file.write_bytes(content)
        for reader in (store, Store(tmp_path)):
            assert reader.keys("cells") == set("abc")
            assert {key: reader.read("cells", key)[1]["a"].tolist() for key in "abc"} == before


def test_a_long_cell_is_stored_at_once(tmp_path, monkeypatch):
    """A batch ends after a second, so that a kill costs no more than that."""
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    store = Store(tmp_path)
    store.write("cells", "a", {})
    now[0] = 0.9
    store.write("cells", "b", {})
    assert Store(tmp_path).keys("cells") == set()
    now[0] = 1.1
    store.write("cells", "c", {})
    assert Store(tmp_path).keys("cells") == {"a", "b", "c"}


@pytest.mark.parametrize("ending", [".jsonl", ".bin"])
@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "flipped"])
def test_damaged_records_count_as_not_done(tmp_path, ending, damage):
    """Lines are written after the arrays: a process that is killed between the two leaves no lines."""
    path = written(tmp_path, "a")[0].with_suffix(ending)
    content = path.read_bytes()
    flipped = content[:200] + bytes([content[200] ^ 255]) + content[201:]
    path.write_bytes({"cut": content[: len(content) // 2], "flipped": flipped}.get(damage, b""))
    if damage == "gone":
        path.unlink()
    store = Store(tmp_path)
    assert store.keys("cells") == set() and not store.has("cells", "a") and store.read("cells", "a") is None


def test_a_damaged_line_costs_its_record_only(tmp_path):
    lines, _ = written(tmp_path, "a", "b", "c")
    content = lines.read_bytes().split(b"\n")
    content[2] = content[2].replace(b'"key": "b"', b'"key": "a"')
    lines.write_bytes(b"\n".join(content))
    store = Store(tmp_path)
    assert store.keys("cells") == {"a", "c"}
    assert store.read("cells", "c")[1]["a"][0] == 2


def test_a_record_is_not_read_under_another_key(tmp_path):
    """Two lines, or the files of two batches, that were exchanged by hand."""
    lines, arrays = written(tmp_path, "a", "b")
    content = lines.read_bytes().split(b"\n")
    content[1], content[2] = content[2], content[1]
    lines.write_bytes(b"\n".join(content))
    other_lines, other_arrays = written(tmp_path, "c")
    store = Store(tmp_path)
    records = {key: store.read("cells", key) for key in "abc"}
    assert {key: record[0]["key"] for key, record in records.items()} == {"a": "a", "b": "b", "c": "c"}
    assert {key: record[1]["a"][0] for key, record in records.items()} == {"a": 0, "b": 1, "c": 0}
    swapped = arrays.read_bytes(), other_arrays.read_bytes()
    arrays.write_bytes(swapped[1])
    other_arrays.write_bytes(swapped[0])
    assert other_lines.exists() and Store(tmp_path).keys("cells") == set()


def test_objects_are_refused_rather_than_pickled(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(ValueError, match="array a holds objects"):
        store.write("cells", "k", {}, {"a": np.array([object()])})
    store.sync()
    assert Store(tmp_path).keys("cells") == set()
