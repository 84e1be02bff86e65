"""Readers on small files made by hand, right and broken."""

from __future__ import annotations

import gzip
import struct
import zipfile

import numpy as np
import pytest

from confml.data.readers import read_delimited, read_idx, read_keel, read_text
from confml.errors import DataError


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(*parts, read, **options):
    """The message of the DataError of ``read``, which must have all the parts."""
    with pytest.raises(DataError) as caught:
        read(**options)
    for part in parts:
        assert part in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    "separator, text",
    [
        ("comma", "1,2.5,7\n3,-4e-1,8\n"),
        ("comma", " 1, 2.5 ,7\r\n\r\n3,-.4,8\r\n\n"),
        ("semicolon", "1;2.5;7\n3;-0.4;8"),
        ("blanks", "  1 2.5\t7 \n3   -0.40 8\n"),
    ],
)
def test_numbers(write, separator, text):
    rows = read_delimited(write("a.data", text), separator=separator, names=["a", "b", "y"], label="y")
    assert rows.names == ("a", "b", "y") and rows.texts == {}
    assert rows.values.tolist() == [[1, 2.5, 7], [3, -0.4, 8]]


def test_text_label_and_columns_of_text(write):
    path = write("a.data", "red, 1.5,g\n blue,2,b\nred,3,g\n")
    rows = read_delimited(path, names=["colour", "x", "y"], text_columns=["colour"], label="y")
    assert rows.texts == {"colour": ["red", "blue"], "y": ["g", "b"]}
    assert rows.values.tolist() == [[0, 1.5, 0], [1, 2, 1], [0, 3, 0]]


def test_text_that_differs_by_blanks_only_is_one_category(write):
    rows = read_delimited(
        write("a.data", "a ,1\n a,2\na,3\nb,4\n"), names=["c", "x"], text_columns=["c"], label="x"
    )
    assert rows.texts["c"] == ["a", "b"] and rows.values[:, 0].tolist() == [0, 0, 0, 1]


def test_numbers_are_rounded_as_python_rounds_them(write):
    rng = np.random.default_rng(3)
    texts = [f"{value:.17g}" for value in rng.standard_normal(2000) * 10.0 ** rng.integers(-30, 30, 2000)]
    want = [float(text) for text in texts]
    numbers = read_delimited(write("a.data", "\n".join(texts)), names=["x"])
    assert numbers.values[:, 0].tolist() == want
    mixed = read_delimited(write("b.data", ",t\n".join(texts) + ",t"), names=["x", "y"], label="y")
    assert mixed.values[:, 0].tolist() == want


def test_more_rows_than_a_block(write):
    lines = [f"{i},{'even' if i % 2 == 0 else 'odd'}" for i in range(10_000)]
    rows = read_delimited(write("a.data", "\n".join(lines)), names=["x", "y"], label="y")
    assert rows.values[:, 0].tolist() == list(range(10_000))
    assert rows.values[:, 1].tolist() == [i % 2 for i in range(10_000)]


def test_header_and_leading_lines(write):
    path = write("a.csv", '# made\n\n"fixed acidity";"pH";"quality"\n7.4;3;5\n')
    rows = read_delimited(path, separator="semicolon", skip_lines=2, label="quality")
    assert rows.names == ("fixed acidity", "pH", "quality") and rows.values.tolist() == [[7.4, 3, 5]]


def test_missing_values(write):
    path = write("a.data", "1,?,2\n?,3,4\n5, ?,2\n")
    rows = read_delimited(path, names=["a", "b", "y"], label="y", missing=["?"], text_columns=["b"])
    np.testing.assert_array_equal(rows.values[:, 0], [1, np.nan, 5])
    np.testing.assert_array_equal(rows.values[:, 1], [np.nan, 0, np.nan])
    assert rows.texts["b"] == ["3"]


def test_latin_1_and_byte_order_mark(write):
    assert read_text(write("a", "caf\xe9".encode("latin-1"))) == "caf\xe9"
    assert read_text(write("b", "caf\xe9".encode())) == "caf\xe9"
    assert read_text(write("c", b"\xef\xbb\xbf1,2")) == "1,2"


def test_gzip(write):
    path = write("a.gz", gzip.compress(b"1 2\n3 4\n"))
    rows = read_delimited(path, separator="blanks", names=["x", "y"], compressed="gzip")
    assert rows.values.tolist() == [[1, 2], [3, 4]]


def test_long_row_is_named(write):
    path = write("a.data", "1,2,3\n4,5,6,7\n")
    refused(
        "row 2 (line 2)",
        "expected 3 fields, got 4",
        "'y'",
        read=read_delimited,
        path=path,
        names=["a", "b", "y"],
    )


@pytest.mark.parametrize("text", ["abc", "", "nan", "inf", "1_000", "1.2.3", "?"])
def test_what_is_not_a_number_is_named(write, text):
    path = write("a.data", f"1,2,u\n3,{text},v\n")
    refused(
        "row 2 (line 2), column 'b'",
        "expected a number",
        f"{text!r}" if text else "got nothing",
        read=read_delimited,
        path=path,
        names=["a", "b", "y"],
        label="y",
    )


@pytest.mark.parametrize("text", ["nan", "inf", "1e999"])
def test_numbers_are_finite_among_numbers_alone_too(write, text):
    path = write("a.data", f"1,2\n3,{text}\n")
    refused("row 2 (line 2), column 'b'", repr(text), read=read_delimited, path=path, names=["a", "b"])


def test_truncated_gzip(write):
    whole = gzip.compress(np.random.default_rng(0).bytes(5000))
    refused(
        "a.gz",
        "ends before its end",
        "fetch",
        read=read_delimited,
        path=write("a.gz", whole[:-100]),
        names=["x"],
        compressed="gzip",
    )


def test_gzip_that_is_none_or_broken_inside(write):
    refused("a.gz", "gzip", read=read_idx, path=write("a.gz", b"plain text"))
    whole = bytearray(gzip.compress(np.random.default_rng(0).bytes(5000)))
    whole[200:300] = bytes(100)
    refused("b.gz", "broken", read=read_idx, path=write("b.gz", bytes(whole)))


def idx(kind=8, shape=(2, 2, 3), content=bytes(range(12))):
    head = bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
    return gzip.compress(head + content)


def test_idx(write):
    images = read_idx(write("a.gz", idx()))
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(images, np.arange(12).reshape(2, 2, 3))


@pytest.mark.parametrize("content", [b"\x00\x00\x0d\x01\x00\x00\x00\x00", b"\x1f", b"", b"\x00\x00\x08\x00"])
def test_bad_idx_magic(write, content):
    refused(
        "a.gz", "expected it to start with 000008", read=read_idx, path=write("a.gz", gzip.compress(content))
    )


def test_idx_of_wrong_size(write):
    refused("2 x 2 x 3 = 12 bytes", "got 11", read=read_idx, path=write("a.gz", idx(content=bytes(11))))
    refused("cut short", read=read_idx, path=write("b.gz", gzip.compress(b"\x00\x00\x08\x03\x00")))


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
    rows = read_keel(write("a.dat", KEEL))
    assert rows.names == ("Size", "Colour", "Class") and rows.label == "Class"
    assert rows.texts == {"Colour": ["red", "blue"], "Class": ["yes", "no"]}  # green does not occur
    assert rows.values.tolist() == [[1.5, 0, 0], [2, 1, 1]]


def test_keel_in_a_zip(tmp_path):
    path = tmp_path / "toy.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("toy.dat", KEEL.replace("@outputs Class\n", ""))
    assert read_keel(path, member="toy.dat").label == "Class"
    refused("no member 'tox.dat'", "toy.dat", read=read_keel, path=path, member="tox.dat")
    path.write_bytes(path.read_bytes()[:80])
    refused("toy.zip", "broken", read=read_keel, path=path, member="toy.dat")


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("@data", "", "not a line of a KEEL header"),
        (KEEL, "@relation toy\n", "no line @data"),
        (KEEL, "@relation toy\n@data\n1\n", "declares no attribute"),
        ("@outputs Class", "@outputs Klass", "'Klass'"),
        ("1.5,red,yes", "big,red,yes", "row 1 (line 8), column 'Size'"),
        ("2, blue, no", "2, blue", "row 2 (line 9)"),
    ],
)
def test_broken_keel(write, old, new, said):
    refused(said, "a.dat", read=read_keel, path=write("a.dat", KEEL.replace(old, new)))


def test_rows_know_their_lines(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("head\n\n1,2\n\n3,4\n")
    assert read_delimited(path, names=("a", "b"), skip_lines=1).lines.tolist() == [3, 5]
    path.write_text("a,b\n1,x\n\n3,y\n")
    assert read_delimited(path, text_columns=("b",)).lines.tolist() == [2, 4]
