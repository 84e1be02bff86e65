"""DataSet: its shapes, its checksum, and how labels are read."""

import dataclasses
import hashlib
import pickle
import struct

import numpy as np
import pytest

from confml.data.dataset import DataSet


def made(**changes):
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    parts = dict(
        name="toy",
        X=X,
        y=np.array([2, 1, 2, 1]),
        attributes=("a", "b"),
        table=X,
        table_attributes=("a", "b"),
        nominal=np.zeros(2, bool),
        categories=(None, None),
    )
    return DataSet(**(parts | changes))


def test_arrays_are_read_only_and_their_owner_keeps_his():
    X = np.ones((4, 2))
    data = made(X=X, table=X)
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 5
    X[0, 0] = 5  # the caller's array is not locked
    assert data.table is data.X
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"


def test_checksum_is_of_the_contents_alone():
    data = made(train_rows=[0, 1], test_rows=[2, 3])
    same = made(name="other", notes=("a note",), train_rows=[0, 1], test_rows=[2, 3], attributes=("c", "d"))
    assert data.checksum == same.checksum and len(data.checksum) == 64
    assert data.checksum == pickle.loads(pickle.dumps(data)).checksum
    # Stored results are filed under it: what is hashed must not change by accident.
    rows = struct.pack("<8d", 1, 2, 3, 4, 5, 6, 7, 8)
    labels = struct.pack("<4q", 2, 1, 2, 1)
    hashed = b"<f8 (4, 2)\n" + rows + b"<i8 (4,)\n" + labels + b"none\n" * 3
    assert made().checksum == hashlib.sha256(hashed).hexdigest()
    text = made(y=np.array(["a", "b", "a", "b"]))
    assert text.checksum == made(y=np.array(["a", "b", "a", "b"], dtype="<U9")).checksum


def test_checksum_knows_every_content():
    X, flags = made().X, np.array([True, False])
    categories = (("1", "3", "5", "7"), None)
    kinds = [
        made(),
        made(X=X + 1e-15),
        made(X=np.where(X == 1, np.nan, X)),
        made(y=np.array([2, 1, 1, 2])),
        made(y=np.array(["2", "1", "2", "1"])),
        made(y=np.array(["21", "", "2", "1"])),
        made(train_rows=[0, 1], test_rows=[2, 3]),
        made(train_rows=[0], test_rows=[1, 2, 3]),
        made(groups=np.array([1, 1, 2, 2])),
        made(groups=np.array(["1", "1", "2", "2"])),
        made(nominal=flags, categories=categories),
        made(nominal=flags, categories=categories, table=X + 1),
        made(X=X[:, :1], attributes=("a",)),
    ]
    assert len({data.checksum for data in kinds}) == len(kinds)


def test_lines_and_identifiers_belong_to_the_rows_and_not_to_the_checksum():
    ids = np.array([["a"], ["bb"], ["c"], ["d"]])
    data = made(lines=[2, 5, 6, 7], ids=ids, id_columns=("who",))
    assert data.lines.tolist() == [2, 5, 6, 7] and data.identifiers()["who"].tolist() == ["a", "bb", "c", "d"]
    assert not data.lines.flags.writeable and not data.ids.flags.writeable
    assert data.checksum == made().checksum
