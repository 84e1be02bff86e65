"""One table of bad CSV files: the line and the column that the message names, and its key words."""

import gzip

import pytest

from confml.data.table_files import read_table
from confml.errors import DataError

GOOD = "x,z,y\n1,2,a\n3,4,b\n5,6,a\n7,8,b\n"


def with_field(text: str, name: str = "x") -> str:
    """The good file with another field of a column on line 4."""
    lines = GOOD.split("\n")
    fields = lines[3].split(",")
    fields[lines[0].split(",").index(name)] = text
    return "\n".join([*lines[:3], ",".join(fields), *lines[4:]])


BAD = {
    "short row": (GOOD.replace("5,6,a", "5,a"), 4, None, "2 fields, expected 3"),
    "long row": (GOOD.replace("5,6,a", "5,6,a,9"), 4, None, "4 fields, expected 3"),
    "short row after line breaks in quotes": ('x,z,y\n"1\n\n2",2,a\n5,a\n', 5, None, "2 fields, expected 3"),
    "short row after blank lines": ("\n\nx,z,y\n\n1,2,a\n\n\n5,a\n", 8, None, "2 fields, expected 3"),
    "short row of a gzip file": (gzip.compress(GOOD.replace("5,6,a", "5,a").encode()), 4, None, "2 fields"),
    "open quote": (GOOD.replace("5,", '"5,'), 4, None, "a quoted field does not end"),
    "quote inside a quoted field": (GOOD.replace("5,", '"5"x,'), 4, None, "broken quotes"),
    "open quote after a field with blanks": ('x,y\n1, "2,3",u\n', 2, None, "3 fields, expected 2"),
    "Latin-1": (GOOD.replace("5,6,a", "5,6,\xfc").encode("latin-1"), 4, None, "--encoding latin-1"),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), 1, None, "zero bytes"),
    "two columns of one name": (GOOD.replace("z", "x", 1), 1, None, "have the same name, 'x'"),
    "NA": (with_field("NA"), 4, "x", "the value is missing ('NA')"),
    "1.#QNAN": (with_field("1.#QNAN"), 4, "x", "the value is missing ('1.#QNAN')"),
    "text among numbers": (with_field("5x"), 4, "x", "3 numbers and 1 text ('5x' on line 4)"),
    "infinite": (with_field("1e999"), 4, "x", "the value is infinite ('1e999')"),
    "text after quoted line breaks": ('x,y\n1,"a\nb"\n2,c\nbad,c\n3,c\n', 5, "x", "'bad' on line 5"),
    "empty fields": ("x,z,y\n" + "1,,a\n2,3,b\n" * 6, 2, "z", "5 more, on lines 4, 6, 8 and 2 more;"),
    "header only": ("x,y\n", 1, None, "no rows under the header"),
    "title above the header": ("My table\nx,z,y\n1,2,a\n3,4,b\n", 1, None, "is line 1 the header"),
    "single column": ("y\na\nb\n", None, None, "only one column, 'y'"),
    "a column without values": ("x,z,y\n1,,a\n2,?,b\n", None, None, "columns have no values: 'z'"),
    "single class": ("x,y\n1,a\n2,a\n", None, "y", "every row is of class 'a'"),
    "all labels different": ("x,y\n1,1.5\n2,2.5\n3,3.5\n", None, "y", "every row has a different label"),
    "workbook called CSV": (b"PK\x03\x04\x14\x00", None, None, "an Excel workbook, not a CSV file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_has_a_message_with_line_column_and_key_words(csv, case):
    content, line, column, words = BAD[case]
    with pytest.raises(DataError) as caught:
        csv(content)
    message = str(caught.value)
    assert words in message and (line is None or f"line {line}" in message) and "\n" not in message
    assert column is None or f"column '{column}'" in message


RIGHT = {
    "quoted line breaks": (GOOD.replace("2,a", '"2\n",a'), {}, [1, 3, 5, 7]),
    "blanks before quotes": (GOOD.replace("5,6,", '5, "6",'), {}, [1, 3, 5, 7]),
    "007": (with_field("007"), {}, [1, 3, 7, 7]),
    "signs and exponents": (with_field("+5E-1"), {}, [1, 3, 0.5, 7]),
    "decimal commas": ("x;z;y\n1,5;2;a\n-0,25;4;b\n", {"decimal": ","}, [1.5, -0.25]),
}


@pytest.mark.parametrize("case", RIGHT)
def test_a_file_in_another_form_is_read(csv, case):
    content, keys, values = RIGHT[case]
    assert csv(content, **keys).table[:, 0].tolist() == values


def test_a_mistake_in_a_later_block_has_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr("confml.data.table_files._BLOCK", 1 << 10)
    rows = [f'{row},"a\nb",{"pq"[row % 2]}' for row in range(1000)]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["x,z,y", *rows]) + "\n")
    assert read_table(path).lines.tolist() == list(range(2, 2002, 2))
    rows[700] = "7,q"
    path.write_text("\n".join(["x,z,y", *rows]) + "\n")
    with pytest.raises(DataError, match="line 1402: 2 fields, expected 3"):
        read_table(path)
