"""Files without a header, sheets, and values that are spelled in another way."""

import pandas as pd
import pytest

from confml.data import load
from confml.data.coding import spelled_as
from confml.data.csv_text import CsvFormat
from confml.data.new_rows import RowCoder
from confml.data.table_files import read_table, table_chunks
from confml.errors import ConfmlError, DataError

TRAIN = "x,colour,y\n1,red,1.0\n2,blue,2\n3,red,1\n4,blue,2.0\n"


def file(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_numbers_compare_as_numbers(tmp_path):
    data = load({"csv": file(tmp_path, "a.csv", TRAIN), "label": "y"})
    assert data.y.tolist() == [1, 2, 1, 2]
    coder = RowCoder(data, "y")
    new = read_table(file(tmp_path, "b.csv", "x,colour,y\n1,red,2.0\n1,red,1\n"))
    assert coder.code(new).labels == ["2", "1"]
    assert spelled_as(["1.0", "2", "x"], ["1", "2"]) == ["1", "2", "x"]
    assert spelled_as(["1.00"], ["1", "1.0"]) == ["1.00"]


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_new_spelling_of_a_category_is_no_error_in_any_chunk(tmp_path, rows):
    coder = RowCoder(load({"csv": file(tmp_path, "a.csv", TRAIN), "label": "y"}), "y")
    new = file(tmp_path, "b.csv", "x,colour,y\n1,red,1\n1,red,2\n1,RED,2\n1,Blue,2\n")
    parts = [coder.code(part, at == 0) for at, part in enumerate(table_chunks(new, rows=rows))]
    assert [value for part in parts for value in part.table[:, 1].tolist()] == [1, 1, -1, -1]
    assert coder.unknown["colour"].rows == 2
    assert "'Blue', 'RED'" in coder.unknown_notes()[0]


def test_labels_that_match_nothing_stop(tmp_path):
    train = file(tmp_path, "a.csv", "x,y\n1,yes\n2,no\n3,yes\n")
    test = file(tmp_path, "b.csv", "x,y\n1,YES\n2,NO\n")
    with pytest.raises(DataError, match="b.csv, line 2, column 'y': no test label is a class of .*: 'YES'"):
        load({"csv": train, "test": test, "label": "y"})
    coder = RowCoder(load({"csv": train, "label": "y"}), "y")
    with pytest.raises(DataError, match="column 'y'"):
        coder.code(read_table(test))


def test_no_header(tmp_path):
    path = file(tmp_path, "a.csv", "0.64,0.64,a\n1,2,b\n3,4,a\n")
    with pytest.raises(DataError, match="--no-header"):
        load({"csv": path, "label": "y"})
    data = load({"csv": path, "label": "column-3", "header": False})
    assert data.table.tolist() == [[0.64, 0.64], [1, 2], [3, 4]] and data.lines.tolist() == [1, 2, 3]
    coder = RowCoder(data, "column-3", csv_format=CsvFormat(header=False))
    new = file(tmp_path, "b.csv", "5,6\n7,8\n")
    tables = list(table_chunks(new, expected=coder.columns, usual=coder.csv_format))
    assert coder.code(tables[0]).table.tolist() == [[5, 6], [7, 8]]


@pytest.mark.parametrize(
    ("text", "keys", "words"),
    [
        ("red,0,round,no\nblue,1,round,yes\nred,2,long,no\n", {}, "first line looks like data"),
        ("a,b,c\na,b,d\na,b,e\n", {}, "first line looks like data"),
        ("age,age,y\n1,2,no\n3,4,yes\n", {}, "columns 1 and 2 have the same name, 'age'"),
        ("age,sex,y\n1,2,no\n3,4,yes\n", {"header": False}, "column 'y'.*leave out header: false"),
    ],
)
def test_a_header_that_looks_like_data_and_data_without_a_header(csv, text, keys, words):
    with pytest.raises(ConfmlError, match=words):
        csv(text, **keys)


def test_sheets(tmp_path):
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        for name, x in (("first", [1, 2]), ("second", [3, 4])):
            pd.DataFrame({"x": x, "y": ["a", "b"]}).to_excel(book, sheet_name=name, index=False)
    assert any("--sheet" in note and "'second'" in note for note in load({"csv": path, "label": "y"}).notes)
    data = load({"csv": path, "label": "y", "sheet": "second"})
    assert data.table[:, 0].tolist() == [3, 4]
    with pytest.raises(DataError, match="did you mean 'second'"):
        load({"csv": path, "label": "y", "sheet": "secnd"})
