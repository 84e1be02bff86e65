"""Files without a header, sheets, and values that are spelled in another way."""

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
def test_another_spelling_after_known_ones_is_no_error_in_any_chunk(tmp_path, rows):
    coder = RowCoder(load({"csv": file(tmp_path, "a.csv", TRAIN), "label": "y"}), "y")
    new = file(tmp_path, "b.csv", "x,colour,y\n1,red,1\n1,red,2\n1,RED,2\n1,Blue,2\n")
    parts = [coder.code(part, at == 0) for at, part in enumerate(table_chunks(new, rows=rows))]
    assert [value for part in parts for value in part.table[:, 1].tolist()] == [1, 1, -1, -1]
    assert coder.unknown["colour"].rows == 2
    assert (
        "column 'colour' has categories that no training row has: 'Blue', 'RED'" in coder.unknown_notes()[0]
    )


def test_labels_that_match_nothing_stop(tmp_path):
    train = file(tmp_path, "a.csv", "x,y\n1,yes\n2,no\n3,yes\n")
    test = file(tmp_path, "b.csv", "x,y\n1,YES\n2,NO\n")
    with pytest.raises(DataError, match="no test label is a class of the training file: 'YES'"):
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
    ("text", "label", "header", "words"),
    [
        ("red,0,round,no\nblue,1,round,yes\nred,2,long,no\n", "y", None, "first line looks like data"),
        ("a,b,c\na,b,d\na,b,e\n", "y", None, "first line looks like data"),
        ("age,age,y\n1,2,no\n3,4,yes\n", "y", None, "columns 1 and 2 have the same name, 'age'; rename"),
        ("age,sex,ill\n1,2,no\n3,4,yes\n", "ill", False, "column 'ill'.*leave out header: false"),
    ],
)
def test_a_header_that_looks_like_data_and_one_that_does_not(tmp_path, text, label, header, words):
    keys = {} if header is None else {"header": header}
    with pytest.raises(ConfmlError, match=words):
        load({"csv": file(tmp_path, "a.csv", text), "label": label, **keys})


def test_sheets(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}).to_excel(book, sheet_name="one", index=False)
        pd.DataFrame({"x": [3, 4], "y": ["a", "b"]}).to_excel(book, sheet_name="two", index=False)
    assert any("--sheet" in note and "'two'" in note for note in load({"csv": path, "label": "y"}).notes)
    data = load({"csv": path, "label": "y", "sheet": "two"})
    assert data.table[:, 0].tolist() == [3, 4]
    with pytest.raises(DataError, match="no sheet 'tow'; did you mean 'two'"):
        load({"csv": path, "label": "y", "sheet": "tow"})
