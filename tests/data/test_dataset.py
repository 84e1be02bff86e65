"""DataSet: its shapes, its checksum, and how labels are read."""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
import struct

import numpy as np
import pytest

from confml.data.coding import code_columns, sort_categories
from confml.data.dataset import DataSet, as_labels


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


def test_properties():
    data = made(train_rows=[3, 0], test_rows=[1, 2])
    assert len(data) == 4 and data.classes.tolist() == [1, 2] and data.class_counts() == {1: 2, 2: 2}
    assert data.part_row(np.array([0, 1, 2, 3])).tolist() == [1, 0, 1, 0]
    assert made().part_row(np.array([3, 1])).tolist() == [3, 1]
    assert "4 rows, 2 columns, 2 classes" in repr(data)


def test_arrays_are_read_only_and_their_owner_keeps_his():
    X = np.ones((4, 2))
    data = made(X=X, table=X)
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 5
    X[0, 0] = 5  # the caller's array is not locked
    assert data.table is data.X
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"


@pytest.mark.parametrize(
    "changes",
    [
        {"y": np.array([1, 2, 1])},
        {"y": np.array([1.0, 2, 1, 2])},
        {"y": np.array([1, 2, 1, 2], dtype=object)},
        {"attributes": ("a",)},
        {"table_attributes": ("a",)},
        {"nominal": np.zeros(3, bool)},
        {"categories": (None,)},
        {"train_rows": np.array([0])},
        {"groups": np.array([1, 2])},
    ],
)
def test_what_does_not_fit_is_refused(changes):
    with pytest.raises(ValueError):
        made(**changes)


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


@pytest.mark.parametrize(
    "values, want",
    [
        (["1", "10", " 2 "], [1, 10, 2]),
        (["6.0000", "7"], [6, 7]),
        (["-1", "+1"], [-1, 1]),
        (["a", "1"], ["a", "1"]),
        (["0.5", "1"], ["0.5", "1"]),
        (["nan", "1"], ["nan", "1"]),
        (["inf", "1"], ["inf", "1"]),
        (["", "1"], ["", "1"]),
        (["1_0", "1"], ["1_0", "1"]),
        (np.array([1.0, 2.0]), [1, 2]),
        (np.array([True, False]), [1, 0]),
        (np.array([1.5, 2.0]), ["1.5", "2.0"]),
        (np.array([3, 4], np.uint8), [3, 4]),
    ],
)
def test_labels_are_whole_numbers_if_all_are(values, want):
    labels = as_labels(values)
    assert labels.tolist() == want
    assert labels.dtype == np.int64 if isinstance(want[0], int) else labels.dtype.kind == "U"


def test_categories_are_sorted_by_value_where_they_are_numbers():
    assert sort_categories(["b", "a", "B", "a"]) == ("B", "a", "b")
    assert sort_categories(["10", "9", "-2"]) == ("-2", "9", "10")
    assert sort_categories(["10", "9", "x"]) == ("10", "9", "x")


def test_coding_of_many_rows_and_of_missing_values():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 3, 5000), rng.standard_normal(5000)]).astype(float)
    table[17, 0] = np.nan
    X, names = code_columns(table, ["c", "x"], [("p", "q", "r"), None])
    assert names == ("c=p", "c=q", "c=r", "x")
    assert np.isnan(X[17, :3]).all() and np.isnan(X).sum() == 3
    for row in (0, 4999, *rng.integers(18, 4999, 50)):
        assert X[row].tolist() == [*(float(table[row, 0] == k) for k in range(3)), table[row, 1]]
    dropped, names = code_columns(table, ["c", "x"], [("p", "q", "r"), None], "dummy-drop-first")
    assert names == ("c=q", "c=r", "x")
    np.testing.assert_array_equal(dropped, X[:, 1:])
    assert code_columns(table, ["c", "x"], [("p", "q", "r"), None], "integer")[0] is table
    with pytest.raises(ValueError, match="coding is one of"):
        code_columns(table, ["c", "x"], [None, None], "one-hot")


def test_lines_and_identifiers_belong_to_the_rows_and_not_to_the_checksum():
    ids = np.array([["a"], ["bb"], ["c"]])
    given = {"lines": [2, 5, 6], "ids": ids, "id_columns": ("who",)}
    base = {
        "name": "toy", "X": np.zeros((3, 1)), "y": np.array([0, 1, 1]), "attributes": ("x",),
        "table": np.zeros((3, 1)), "table_attributes": ("x",), "nominal": np.array([False]),
        "categories": (None,),
    }  # fmt: skip
    data = DataSet(**base, **given)
    assert data.lines.tolist() == [2, 5, 6] and data.identifiers()["who"].tolist() == ["a", "bb", "c"]
    assert not data.lines.flags.writeable and not data.ids.flags.writeable
    assert data.checksum == DataSet(**base).checksum
    for wrong in ({"lines": [1]}, {"ids": ids}, {"id_columns": ("who",)}, {**given, "ids": ids[:2]}):
        with pytest.raises(ValueError):
            DataSet(**base, **wrong)


def test_a_frame_has_the_texts_of_categories():
    table = np.array([[0.0, 1.5], [1.0, np.nan], [np.nan, 2.0]])
    X, names = code_columns(table, ("colour", "size"), (("blue", "red"), None))
    data = DataSet(
        "d",
        X,
        np.array([1, 2, 1]),
        names,
        table,
        ("colour", "size"),
        np.array([True, False]),
        (("blue", "red"), None),
    )
    frame = data.to_frame()
    assert list(frame.columns) == ["colour", "size", "label"]
    assert frame["colour"].tolist()[:2] == ["blue", "red"] and frame["label"].tolist() == [1, 2, 1]
    assert frame["colour"].isna().tolist() == [False, False, True]
    assert frame["size"].isna().tolist() == [False, True, False]
