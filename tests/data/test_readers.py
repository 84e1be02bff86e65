"""Readers of the formats of cards on small files made by hand, right and broken."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from confml.data.cards import Delimited
from confml.data.readers import read_delimited, read_idx, read_keel


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def delimited(path, names, **keys):
    return read_delimited(path, Delimited(kind="delimited", **{"separator": "comma", **keys}), names)


def rows_of(table):
    return [list(row) for row in zip(*map(table.fields, table.names), strict=True)]


@pytest.mark.parametrize(
    ("separator", "text"),
    [
        ("comma", " 1, 2.5 ,red\r\n\r\n3,-.4,a b\r\n\n"),
        ("semicolon", "1;2.5;red\n\n3;-.4;a b"),
        ("blanks", "  1 2.5\tred \n\n3   -.4 ab\n"),
    ],
)
def test_delimited_text(write, separator, text):
    table = delimited(write("a.data", "# made\n" + text), ["a", "b", "y"], separator=separator, **SKIP)
    last = "ab" if separator == "blanks" else "a b"
    assert rows_of(table) == [["1", "2.5", "red"], ["3", "-.4", last]] and table.lines.tolist() == [2, 4]


SKIP = {"skip-lines": 1}


def test_a_header_after_leading_lines(write):
    path = write("a.csv.gz", gzip.compress(b'# made\n\n"fixed acidity";"pH"\n7.4;3\n'))
    keys = {"separator": "semicolon", "header": True, "compressed": "gzip", "skip-lines": 2}
    table = delimited(path, None, **keys)
    assert table.names == ["fixed acidity", "pH"] and rows_of(table) == [["7.4", "3"]]
    assert table.lines.tolist() == [4]


def idx(shape=(2, 2, 3), content=bytes(range(12)), kind=8):
    head = bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
    return gzip.compress(head + content)


def test_idx(write):
    images = read_idx(write("a.gz", idx()))
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(images, np.arange(12).reshape(2, 2, 3))


KEEL = """@relation toy
@attribute Size real [0.0,9.0]
@attribute Colour {red,green,blue}
@attribute Class {yes,no}
@inputs Size, Colour
@outputs Class
@data
1.5,red,yes
2, blue, no
"""


def test_keel(write):
    table, nominal, label = read_keel(write("a.dat", KEEL))
    assert nominal == ("Colour",) and label == "Class" and table.lines.tolist() == [8, 9]
    assert table.names == ["Size", "Colour", "Class"]
    assert rows_of(table) == [["1.5", "red", "yes"], ["2", "blue", "no"]]
