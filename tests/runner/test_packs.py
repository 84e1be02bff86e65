"""Packs of small records: each record is there and whole, or absent, whatever became of its writer."""

import gc
import os
import warnings
import zlib

import numpy as np
import pytest

from confml.runner import packs
from confml.runner.packs import PackReader, PackWriter, frame_bytes, pack_arrays, unpack_arrays
from confml.runner.store import Store

ARRAYS = {
    "scores": np.array([[0.1, 0.2, 0.7], [1.0, 0.0, np.nan]]),
    "labels": np.array(["a|b", "é", "<b>"]),
    "flags": np.array([True, False, True]),
    "none": np.empty((0, 3)),
    "empty text": np.array(["", ""], dtype="<U1"),
    "about": np.array('{"views": []}'),
    "rows": np.arange(6, dtype=np.int32).reshape(2, 3)[:, ::2],
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "date": np.array(["2026-01-02"], dtype="datetime64[D]"),
}


def key(number):
    return f"{number:032x}"


def write(folder, numbers, size=3):
    """Append records with new writers, as a new process would; return the pack."""
    writer = PackWriter(folder)
    for number in numbers:
        arrays = pack_arrays({"a": np.arange(size) + number})
        writer.append("cells", key(number), b'{"n": %d}' % number, arrays)
    writer.sync()
    return max((folder / "packs").iterdir(), key=os.path.getmtime)


def ends_of(numbers):
    """Where the frames of `write` end."""
    sizes = [
        len(frame_bytes("cells", key(n), b'{"n": %d}' % n, pack_arrays({"a": np.arange(3) + n})))
        for n in numbers
    ]
    return np.cumsum(sizes).tolist()


def found(folder):
    reader = PackReader(folder)
    reader.refresh()
    for one in reader.keys("cells"):
        document, arrays = reader.read("cells", one)
        assert document == b'{"n": %d}' % int(one, 16)
        assert unpack_arrays(arrays)["a"][0] == int(one, 16)
    return {int(one, 16) for one in reader.keys("cells")}


def test_arrays_come_back():
    read = unpack_arrays(pack_arrays(ARRAYS))
    assert list(read) == list(ARRAYS)
    for name, values in ARRAYS.items():
        assert read[name].dtype == values.dtype and read[name].shape == values.shape, name
        np.testing.assert_array_equal(read[name], values)
    assert unpack_arrays(pack_arrays(None)) == {} == unpack_arrays(pack_arrays({}))
    with pytest.raises(ValueError, match="array x holds objects"):
        pack_arrays({"x": np.array([object()])})


def test_every_length_of_a_torn_tail_leaves_the_records_before_it(tmp_path):
    pack = write(tmp_path, range(3))
    content, ends = pack.read_bytes(), ends_of(range(3))
    for size in range(len(content) + 1):
        pack.write_bytes(content[:size])
        assert found(tmp_path) == {number for number in range(3) if ends[number] <= size}


def test_every_flipped_byte_costs_its_own_record_only(tmp_path):
    pack = write(tmp_path, range(3))
    content, ends = pack.read_bytes(), ends_of(range(3))
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 255
        pack.write_bytes(changed)
        hit = sum(end <= place for end in ends)
        assert found(tmp_path) == {0, 1, 2} - {hit}


def test_a_record_after_a_torn_one_is_found(tmp_path):
    """A full disk may cut a frame; the writer goes on when there is room again."""
    one, two = (frame_bytes("cells", key(n), b'{"n": %d}' % n, pack_arrays({"a": [n]})) for n in (1, 2))
    (tmp_path / "packs").mkdir()
    for cut in range(len(one)):
        (tmp_path / "packs" / "x.pack").write_bytes(one[:cut] + two)
        assert found(tmp_path) == {2}


def test_readers_see_what_was_appended_since(tmp_path):
    reader = PackReader(tmp_path)
    reader.refresh()
    assert reader.keys("cells") == set()
    writer = PackWriter(tmp_path)
    for number in range(5):
        writer.append("inner", key(number), b"{}", b"")
        reader.refresh()
        assert reader.keys("inner") == {key(n) for n in range(number + 1)}
    assert reader.keys("cells") == set() and not reader.has("cells", key(1))


def test_the_store_reads_files_and_packs(tmp_path):
    packed, plain = Store(tmp_path, packed=True), Store(tmp_path)
    packed.write("cells", key(1), {"x": 1}, ARRAYS)
    plain.write("cells", key(2), {"x": 2}, {"a": np.arange(2)})
    packed.write("inner", key(3), {"scores": [0.5, None]})
    packed.write("failures", key(4), {"error": "broke"})
    large = np.random.default_rng(0).random(packs.LARGEST // 4)
    packed.write("cells", key(5), {"x": 5}, {"a": large})
    packed.sync()
    for store in (packed, plain, Store(tmp_path)):
        store.refresh()
        assert store.keys("cells") == {key(1), key(2), key(5)} and store.keys("inner") == {key(3)}
        document, arrays = store.read("cells", key(1))
        assert document["x"] == 1 and list(arrays) == list(ARRAYS)
        assert store.read("inner", key(3))[0]["scores"] == [0.5, None]
        assert store.read("cells", key(2))[0]["x"] == 2
        np.testing.assert_array_equal(store.read("cells", key(5))[1]["a"], large)
        assert store.is_packed("cells", key(1)) and not store.is_packed("cells", key(2))
        assert [n for n in range(9) if store.is_intact("cells", key(n))] == [1, 2, 5]
    assert sorted(path.name for path in (tmp_path / "cells").iterdir()) == sorted(
        f"{key(n)}.{ending}" for n in (2, 5) for ending in ("json", "npz")
    )
    assert [path.name for path in (tmp_path / "failures").iterdir()] == [f"{key(4)}.json"]


def test_a_frame_that_is_damaged_after_it_was_indexed_is_absent(tmp_path):
    pack = write(tmp_path, [7])
    store = Store(tmp_path)
    assert store.is_packed("cells", key(7))
    content = bytearray(pack.read_bytes())
    content[-1] ^= 1
    pack.write_bytes(content)
    assert store.read("cells", key(7)) is None
    assert Store(tmp_path).keys("cells") == set()


def test_a_frame_of_nonsense_with_right_checks_is_absent(tmp_path):
    (tmp_path / "packs").mkdir()
    nonsense = [
        (b"{", b""),
        (b"{}", b"not zlib"),
        (b"{}", zlib.compress(b"x")),
        (b"{}", zlib.compress(b"\4\0\0\0[[1]")),
    ]
    for number, (document, arrays) in enumerate(nonsense):
        frame = frame_bytes("cells", key(number), document, arrays)
        (tmp_path / "packs" / f"{number}.pack").write_bytes(frame)
    store = Store(tmp_path)
    assert len(store.keys("cells")) == len(nonsense)
    assert all(store.read("cells", key(number)) is None for number in range(len(nonsense)))


def test_a_reader_that_is_no_longer_used_leaves_no_file_open(tmp_path):
    write(tmp_path, [1, 2])
    reader = PackReader(tmp_path)
    reader.refresh()
    assert reader.read("cells", key(1)) is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del reader
        gc.collect()
    assert [str(one.message) for one in caught if str(tmp_path) in str(one.message)] == []
