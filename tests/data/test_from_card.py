"""From a card to a data set, on small files made by hand."""

import gzip
import struct

import numpy as np
import pytest
from data.test_files import sha

from confml.data import load
from confml.data.cards import read_card_file
from confml.data.from_card import dataset_from_card
from confml.errors import DataError

COMMA = "{kind: delimited, separator: comma}"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """``made({"a.data": "1,2"}, "columns: ...")`` is the data set of a card of these files."""
    monkeypatch.setenv("CONFML_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("CONFML_CACHE", str(tmp_path / "cache"))

    def made(files, rest, reader=COMMA):
        (tmp_path / "data" / "toy").mkdir(parents=True, exist_ok=True)
        lines = ["title: Toy", "about: A toy.", "provider: Nobody", "licence: none", "citation: none"]
        lines += ["page: https://example.org", f"reader: {reader}", "files:"]
        for name, content in files.items():
            name, *keys = name.split(" ")
            content = content if isinstance(content, bytes) else content.encode()
            (tmp_path / "data" / "toy" / name).write_bytes(content)
            keys += [f"sha256={sha(content)}", f"bytes={max(len(content), 1)}"]
            lines += [f"  - name: {name}", f"    address: https://example.org/{name}"]
            lines += [f"    {key.replace('=', ': ')}" for key in keys]
        path = tmp_path / "toy.yaml"
        path.write_text("\n".join([*lines, rest]) + "\n")
        return dataset_from_card(read_card_file(path))

    return made


def test_numbers_in_two_parts(made):
    data = made(
        {"a.data part=train rows=2": "1,2,7\n3,4,8\n", "b.data part=test": "5,6,7\n"},
        "columns: [p, q, y]\nlabel: y\n"
        "expect: {rows: 3, train-rows: 2, test-rows: 1, attributes: 2, classes: {7: 2, 8: 1}}",
    )
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]] and data.y.tolist() == [7, 8, 7]
    assert data.attributes == data.table_attributes == ("p", "q") and data.table is data.X
    assert data.train_rows.tolist() == [0, 1] and data.test_rows.tolist() == [2]
    assert data.part_row(np.array([2, 0, 1])).tolist() == [0, 0, 1]
    assert data.categories == (None, None) and not data.nominal.any()


NOMINAL = {"a.data": "red,1,id1,g\nblue,2,id2,b\ngreen,3,id3,g\nred,4,id4,g\n"}
COLOURS = [2, 0, 1, 2]
NOMINAL_CARD = (
    "columns: [colour, x, id, y]\nlabel: y\nignore: [id]\nnominal: [colour]\ncoding: {coding}\n"
    "expect: {{rows: 4, attributes: 2, columns: {columns}, classes: {{g: 3, b: 1}}}}"
)


@pytest.mark.parametrize(
    ("coding", "attributes", "colours"),
    [
        ("dummy", "colour=blue colour=green colour=red x", np.eye(3)[COLOURS]),
        ("dummy-drop-first", "colour=green colour=red x", np.eye(3)[COLOURS, 1:]),
        ("integer", "colour x", COLOURS),
    ],
)
def test_codings_of_nominal_columns(made, coding, attributes, colours):
    attributes = tuple(attributes.split())
    data = made(NOMINAL, NOMINAL_CARD.format(coding=coding, columns=len(attributes)))
    assert data.attributes == attributes
    np.testing.assert_array_equal(data.X, np.column_stack([colours, [1, 2, 3, 4]]))
    assert data.table.tolist() == [[2, 1], [0, 2], [1, 3], [2, 4]]
    assert data.categories == (("blue", "green", "red"), None)
    assert data.nominal.tolist() == [True, False] and data.y.tolist() == ["g", "b", "g", "g"]


def test_ordinal_words_count_from_1(made):
    card = (
        "columns: [size, y]\nlabel: y\nordinal: {size: [small, medium, large]}\n"
        "expect: {rows: 3, attributes: 1, classes: {1: 2, 2: 1}}"
    )
    data = made({"a.data": "large,1\nsmall,2\nmedium,1\n"}, card)
    assert data.X[:, 0].tolist() == [3, 1, 2] and not data.nominal.any() and data.categories == (None,)


def test_categories_of_rows_left_out_do_not_count(made):
    data = made(
        {"a.data": "u,a\nv,b\nw,c\nu,d\n"},
        "columns: [c, y]\nlabel: y\nnominal: [c]\ndrop-classes: [b]\nmerge: {a: [a, c]}\n"
        "expect: {rows: 3, attributes: 1, columns: 2, classes: {a: 2, d: 1}}",
    )
    assert data.categories == (("u", "w"),) and data.X.tolist() == [[1, 0], [0, 1], [1, 0]]


def test_missing_values_are_kept(made):
    data = made(
        {"a.data": "1,u,1\n?,?,2\n5,v,1\n"},
        "columns: [a, b, y]\nlabel: y\nmissing-values: ['?']\nmissing: mean\nnominal: [b]\n"
        "expect: {rows: 3, attributes: 2, columns: 3, classes: {1: 2, 2: 1}}",
    )
    np.testing.assert_array_equal(data.X, [[1, 1, 0], [np.nan] * 3, [5, 0, 1]])
    assert data.notes[0] == "a.data: mean imputation of 2 missing values"


FIVE = {"a.data": "1,1\n2,2\n3,3\n4,3\n5,9\n"}


def test_merged_and_dropped_classes(made):
    card = "columns: [a, y]\nlabel: y\ndrop-classes: [9]\nmerge: {2: [2, 3]}\n"
    data = made(FIVE, card + "expect: {rows: 4, attributes: 1, classes: {1: 1, 2: 3}}")
    assert data.y.tolist() == [1, 2, 2, 2] and data.X[:, 0].tolist() == [1, 2, 3, 4]


def test_first_rows_train(made):
    data = made(
        FIVE,
        "columns: [a, y]\nlabel: y\ntrain-first: 2\ndrop-classes: [1]\n"
        "expect: {rows: 4, train-rows: 2, test-rows: 2, attributes: 1, classes: {2: 1, 3: 2, 9: 1}}",
    )
    assert data.train_rows.tolist() == [0, 1] and data.part_row(data.test_rows).tolist() == [0, 1]


DELIMITED = "columns: [a, b, y]\nlabel: y\nexpect: {rows: 2, attributes: 2, classes: {red: 1, ab: 1}}"


@pytest.mark.parametrize(
    ("separator", "text"),
    [
        ("comma", " 1, 2.5 ,red\r\n\r\n3,-.4,ab\r\n\n"),
        ("semicolon", "1;2.5;red\n\n3;-.4;ab"),
        ("blanks", "  1 2.5\tred \n\n3   -.4 ab\n"),
    ],
)
def test_delimited_text(made, separator, text):
    reader = f"{{kind: delimited, separator: {separator}, skip-lines: 1}}"
    data = made({"a.data": "# made\n" + text}, DELIMITED, reader)
    assert data.X.tolist() == [[1, 2.5], [3, -0.4]] and data.y.tolist() == ["red", "ab"]
    assert data.lines.tolist() == [2, 4]


def test_a_header_after_leading_lines(made):
    content = gzip.compress(b'# made\n\n"fixed acidity";"y"\n7.4;3\n7;4\n')
    reader = "{kind: delimited, separator: semicolon, header: true, compressed: gzip, skip-lines: 2}"
    card = "label: y\nexpect: {rows: 2, attributes: 1, classes: {3: 1, 4: 1}}"
    data = made({"a.csv.gz": content}, card, reader)
    assert data.attributes == ("fixed acidity",) and data.lines.tolist() == [4, 5]


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


def test_keel(made):
    card = "expect: {rows: 2, attributes: 2, columns: 3, classes: {yes: 1, no: 1}}"
    data = made({"a.dat": KEEL}, card, "{kind: keel}")
    assert data.attributes == ("Size", "Colour=blue", "Colour=red") and data.lines.tolist() == [8, 9]
    assert data.table.tolist() == [[1.5, 1], [2, 0]] and data.y.tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("rows: 6, attributes: 1, classes: {1: 1, 2: 1, 3: 2, 9: 1}", "expected 6 rows, got 5"),
        ("rows: 5, attributes: 2, classes: {1: 1, 2: 1, 3: 2, 9: 1}", "2 attributes, got 1"),
        ("rows: 5, attributes: 1, columns: 3, classes: {1: 1, 2: 1, 3: 2, 9: 1}", "3 columns, got 1"),
        (
            "rows: 5, attributes: 1, train-rows: 4, classes: {1: 1, 2: 1, 3: 2, 9: 1}",
            "training rows, got 0",
        ),
        ("rows: 5, attributes: 1, classes: {1: 1, 2: 1, 3: 1, 9: 1}", "1 rows of class '3', got 2"),
        ("rows: 5, attributes: 1, classes: {1: 1, 2: 1, 4: 2, 9: 1}", "0 rows of class '3', got 2"),
    ],
)
def test_data_that_are_not_as_expected_are_refused(made, expect, message):
    with pytest.raises(DataError, match=f"toy.*{message}"):
        made(FIVE, f"columns: [a, y]\nlabel: y\nexpect: {{{expect}}}")


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return gzip.compress(head + array.astype(np.uint8).tobytes())


IDX_CARD = (
    'columns: ["pixel[1..4]"]\n'
    "expect: {rows: 3, train-rows: 2, test-rows: 1, attributes: 4, classes: {0: 1, 5: 2}}"
)


def test_images(made):
    images = np.arange(12).reshape(3, 2, 2)
    files = {
        "a.gz part=train": idx(images[:2]),
        "b.gz part=train": idx(np.array([5, 0])),
        "c.gz part=test": idx(images[2:]),
        "d.gz part=test": idx(np.array([5])),
    }
    data = made(files, IDX_CARD, "{kind: idx}")
    assert data.X.tolist() == images.reshape(3, 4).tolist() and data.y.tolist() == [5, 0, 5]
    assert data.attributes == ("pixel1", "pixel2", "pixel3", "pixel4")


def test_a_card_under_another_name():
    iris = load({"name": "flowers", "card": "iris"})
    assert iris.name == "flowers" and iris.classes.tolist() == ["setosa", "versicolor", "virginica"]
    assert iris.checksum == load({"name": "iris"}).checksum == load({"card": "iris"}).checksum
