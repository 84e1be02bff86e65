"""A user's CSV files: what they may look like, and one clear message for each mistake."""

import bz2
import gzip
from csv import writer as csv_writer

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confml.data import coding, load, memory, table_files
from confml.data.csv_table import load_tables
from confml.data.frame_table import frame_table
from confml.errors import ConfigError, DataError

GOOD = "age,size,y\n30,1.5,yes\n41,2.5,no\n52,-3,yes\n63,4e1,no\n"


def error(csv, *texts, kind=DataError, **keys) -> str:
    """The message of the error."""
    with pytest.raises(kind) as caught:
        csv(*texts, **keys)
    assert type(caught.value) is kind
    return str(caught.value)


# ---- what is read


@pytest.mark.parametrize(
    ("separator", "note", "word"),
    [(";", "semicolons", "semicolon"), ("\t", "tabs", "\\t"), ("|", "bars", "|"), (" ", "blanks", "blanks")],
)
def test_the_separator_is_found_and_said(csv, separator, note, word):
    data = csv(GOOD.replace(",", separator))
    assert data.checksum == csv(GOOD).checksum
    assert data.notes == (f"mine.csv: the columns seem to be separated by {note}",)
    assert csv(GOOD.replace(",", separator), separator=word).notes == ()


def test_a_separator_that_stands_in_texts_is_not_mistaken(csv):
    text = "x,remark,y\n1,a;b;c,0\n2,d e,1\n"  # no separator cuts these texts evenly but the comma
    assert csv(text, ignore=["remark"]).X.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD + "\n\n  \n",
        "\n" + GOOD.replace("41", "\n\n41"),
        GOOD.rstrip("\n"),
        GOOD.replace(",", " , "),
        GOOD.replace("yes", '"yes"').replace("age", '"age"'),
        "".join(f"{line},,\n" for line in GOOD.splitlines()),
        GOOD + ",,\n",
        "\ufeff" + GOOD,
        GOOD.encode("utf-16"),
    ],
    ids=["CRLF", "CR", "empty-at-end", "empty-between", "no-newline", "blanks", "quotes", "separators-at-end"]
    + ["row-without-values", "UTF-8-mark", "UTF-16"],
)
def test_the_same_table_in_other_clothes(csv, text):
    assert csv(text).checksum == csv(GOOD).checksum


def test_quoted_fields_may_hold_separators_quotes_and_lines(csv):
    text = 'x,"the, size",y\n1,2,"a ""big"", hat"\n3,4,"two\nlines"\n5,6,"two\nlines"\n7,bad,b\n'
    data = csv(text, ignore=["the, size"])
    assert data.y.tolist() == ['a "big", hat', "two\nlines", "two\nlines", "b"]


def test_encodings(csv):
    text = "größe,y\n1,schön\n2,weiß\n"
    for encoding in ("latin-1", "cp1252", "utf-8", "utf-16-le"):
        data = csv(text.encode(encoding), encoding=encoding)
        assert data.attributes == ("größe",) and data.y.tolist() == ["schön", "weiß"]
    assert csv(text.encode("utf-8-sig"), encoding="latin-1").attributes == ("größe",)


# ---- labels


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", "10"], [1, 2, 10]),
        (["-1", "1", "0"], [-1, 1, 0]),
        (["01", "1", "2"], ["01", "1", "2"]),
        (["1.0", "2.0", "3"], [1, 2, 3]),
        (["1.5", "2.0", "3"], ["1.5", "2.0", "3"]),
        (["no", "yes", "off"], ["no", "yes", "off"]),
        (["9" * 18, "1", "2"], [10**18 - 1, 1, 2]),
        (["9" * 19, "1", "2"], ["9" * 19, "1", "2"]),
    ],
)
def test_labels_are_whole_numbers_only_where_all_are_written_so(csv, labels, expected):
    rows = "".join(f"{i},{label}\n" for i, label in enumerate(labels * 2))
    data = csv(f"x,y\n{rows}")
    assert data.y.tolist() == expected * 2
    assert data.y.dtype.kind == ("i" if isinstance(expected[0], int) else "U")


def test_the_test_file_s_labels_decide_too(csv):
    assert csv("x,y\n1,1\n2,2\n", "x,y\n1,02\n3,1\n").y.tolist() == ["1", "2", "02", "1"]


# ---- nominal columns, groups, test files


def test_nominal_columns_are_dummy_coded(csv):
    text = "colour,x,grade,y\nred,1,10,a\nblue,2,9,b\nred,3,10,a\n"
    data = csv(text, nominal=["colour", "grade"])
    assert data.attributes == ("colour=blue", "colour=red", "x", "grade=9", "grade=10")
    assert data.X.tolist() == [[0, 1, 1, 0, 1], [1, 0, 2, 1, 0], [0, 1, 3, 0, 1]]
    assert data.table.tolist() == [[1, 1, 1], [0, 2, 0], [1, 3, 1]]
    assert data.table_attributes == ("colour", "x", "grade")
    assert data.nominal.tolist() == [True, False, True]
    assert data.categories == (("blue", "red"), None, ("9", "10"))


def test_a_test_file_is_a_part_and_its_columns_may_stand_in_another_order(csv):
    data = csv("a,b,y\n1,2,p\n3,4,q\n", "y,b,a\nq,20,10\np,40,30\nq,60,50\n")
    assert data.X.tolist() == [[1, 2], [3, 4], [10, 20], [30, 40], [50, 60]]
    assert data.y.tolist() == ["p", "q", "q", "p", "q"]
    assert data.train_rows.tolist() == [0, 1] and data.test_rows.tolist() == [2, 3, 4]
    assert data.notes == ()


def test_a_category_and_a_column_of_the_test_file_alone(csv):
    text = "colour,y\nred,a\nblue,b\nred,b\n"
    data = csv(text, "colour,extra,y\ngreen,9,a\nred,9,b\ngreen,9,c\n", nominal=["colour"])
    assert data.attributes == ("colour=blue", "colour=red")
    assert data.X.tolist() == [[0, 1], [1, 0], [0, 1], [0, 0], [0, 1], [0, 0]]
    assert data.table[:, 0].tolist() == [1, 0, 1, -1, 1, -1]
    notes = "\n".join(data.notes)
    assert "not used: 'extra'" in notes and "'green' (2 rows, the first on line 2)" in notes
    assert "1 of 3 classes have only one row" in notes and "in the test file only" in notes


def test_groups_are_no_attribute(csv):
    data = csv("site,x,y\nA,1,a\nB,2,b\nA,3,a\n", groups="site")
    assert data.attributes == ("x",)
    assert data.groups.tolist() == ["A", "B", "A"]
    data = csv("who,x,y\nA,1,a\nA,2,b\nB,3,a\n", id="who", groups="who")
    assert data.groups.tolist() == ["A", "A", "B"] == data.ids[:, 0].tolist()


# ---- missing values

GAPS = "x,z,y\n1,2,a\n?,4,b\n5,,a\n7,8,b\n"


def test_rows_with_missing_values_are_dropped_where_asked_for(csv):
    data = csv(GAPS, missing="drop")
    assert data.X.tolist() == [[1, 2], [7, 8]] and data.y.tolist() == ["a", "b"]
    assert data.notes[0] == "mine.csv: 2 rows of 4 with missing values left out"


def test_missing_values_are_kept_for_means_where_asked_for(csv):
    data = csv("x,c,y\n1,p,a\n?,q,b\n5,,a\n7,p,b\n", missing="mean", nominal=["c"])
    expected = [[1, 1, 0], [np.nan, 0, 1], [5, np.nan, np.nan], [7, 1, 0]]
    np.testing.assert_array_equal(data.X, expected)
    np.testing.assert_array_equal(data.table, [[1, 0], [np.nan, 1], [5, np.nan], [7, 0]])
    assert data.categories == (None, ("p", "q"))
    assert data.notes == ("mine.csv: mean imputation of 2 missing values",)


# ---- kinds of columns


def test_a_column_without_numbers_is_categorical_and_a_note_says_so(csv):
    text = "colour,x,size,y\nred,1,big,a\nblue,2,big,b\nred,3,?,a\n"
    data = csv(text, missing="mean")
    assert data.checksum == csv(text, missing="mean", nominal=["colour", "size"]).checksum
    assert data.attributes == ("colour=blue", "colour=red", "x", "size=big")
    assert data.notes[1].endswith("categorical: 'colour' (2 categories), 'size' (1 category)")
    data = csv("colour,x,y\nred,1,a\nblue,2,b\n", "colour,x,y\n7,1,a\nred,2,b\n")
    assert data.table[:, 0].tolist() == [1, 0, -1, 1]


def test_a_column_of_texts_that_all_differ_is_an_identifier(csv):
    rows = "".join(f"P{i},{i % 3},{'ab'[i % 2]}\n" for i in range(12))
    data = csv(f"who,x,y\n{rows}")
    assert data.attributes == ("x",) and data.id_columns == ("who",)
    assert data.identifiers()["who"].tolist() == [f"P{i}" for i in range(12)]
    assert "nominal: [who] makes it a feature" in data.notes[0] and len(data.notes) == 1
    assert len(csv(f"who,x,y\n{rows}", nominal="who").attributes) == 13
    assert "no features are left" in error(csv, f"who,x,y\n{rows}", ignore="x")


def test_duplicates_are_dropped_whatever_the_form_of_numbers_and_identifiers(csv):
    rows = "".join(f"P{i},{i % 4},{'ab'[i % 2]}\n" for i in range(12))
    assert csv(f"who,x,y\n{rows}", duplicates="drop").lines.tolist() == [2, 3, 4, 5]
    numbers = csv("x,z,y\n1,5,1\n1.0,5,1\n1,5,1.0\n1,5,2\n2,5,1\n", duplicates="drop")
    assert numbers.lines.tolist() == [2, 5, 6] and "2 rows equal to an earlier row" in numbers.notes[0]


def test_rows_keep_their_lines_and_identifiers(csv):
    text = 'who,x,extra,y\nA,1,p,a\n\nB,,q,b\n"C\nc",3,r,a\nD,4,s,b\n'
    test = "y,x,who,extra\na,5,E,t\nb,?,F,u\nb,7,G,v\n"
    data = csv(text, test, id=["who", "extra"], missing="drop")
    assert data.attributes == ("x",)
    assert data.lines.tolist() == [2, 5, 7, 2, 4]
    assert data.id_columns == ("who", "extra")
    assert data.ids.tolist() == [["A", "p"], ["C\nc", "r"], ["D", "s"], ["E", "t"], ["G", "v"]]
    assert data.checksum == csv(text, test, ignore=["who", "extra"], missing="drop").checksum
    without = csv(text, "y,x\na,5\nb,6\n", id=["who", "extra"], missing="drop")
    assert without.ids[3:].tolist() == [["", ""], ["", ""]]


# ---- other formats


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst"])
def test_a_compressed_file_is_read(csv, tmp_path, ending):
    compress = {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "zst": lambda content: pa.compress(content, "zstd", asbytes=True),
    }[ending]
    packed = compress(GOOD[:20].encode()) + compress(GOOD[20:].encode())
    path = tmp_path / f"small.csv.{ending}"
    path.write_bytes(packed)
    data = load({"csv": str(path), "label": "y"})
    assert data.checksum == csv(GOOD).checksum and data.name == "small"
    path.write_bytes(packed[:-6])
    with pytest.raises(DataError, match="the compressed data are broken"):
        load({"csv": str(path), "label": "y"})


def test_a_compressed_file_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "available_memory", lambda: 8 * 10**6)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(GOOD.encode() + b"1,2,yes\n" * 10**6))
    with pytest.raises(DataError, match="it unpacks to more than the 1000000 bytes that are expected"):
        load({"csv": str(path), "label": "y"})


FRAME = {
    "x": [1.5, np.nan, 3.0, 0.1],
    "n": [1, 2, 3, 4],
    "c": ["red", "blue", None, "red"],
    "y": ["a", "b", "a", "b"],
}


@pytest.mark.parametrize(("ending", "line"), [("parquet", 1), ("xlsx", 2)])
def test_a_parquet_file_and_an_excel_workbook_are_read(tmp_path, ending, line):
    path = tmp_path / f"small.{ending}"
    frame = pd.DataFrame(FRAME)
    frame.to_parquet(path) if ending == "parquet" else frame.to_excel(path, index=False)
    data = load({"csv": str(path), "label": "y", "missing": "mean"})
    assert data.table_attributes == ("x", "n", "c") and data.categories == (None, None, ("blue", "red"))
    np.testing.assert_array_equal(data.table[:, 0], FRAME["x"])
    assert data.lines.tolist() == [line, line + 1, line + 2, line + 3]
    with pytest.raises(DataError, match=rf"small\.{ending}, row {line + 1}, column 'x': the field is empty"):
        load({"csv": str(path), "label": "y"})
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(DataError, match="this is not a"):
        load({"csv": str(path), "label": "y"})


# ---- sizes


def test_coding_that_does_not_fit_into_memory_is_refused_before(csv, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**8)
    monkeypatch.setattr(coding, "FEWEST_SPARSE", 10**9)
    rows = "".join(f"{i},k{i},{i % 2}\n" for i in range(3000))
    message = error(csv, f"x,t,y\n{rows}", nominal="t")
    assert "3001 columns ('t' has 3000 categories)" in message and "ignore: [t]" in message
    monkeypatch.setattr(memory, "LARGE", 10**7)
    monkeypatch.setattr(memory, "available_memory", lambda: 10**12)
    with pytest.warns(UserWarning, match="3001 columns .* takes 0.1 GB of memory"):
        csv(f"x,t,y\n{rows}", nominal="t")


# ---- mistakes: in what is said of it


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"label": "Y"}, "'Y'; did you mean 'y'?"),
        ({"label": "class"}, "the columns are age, size, y"),
        ({"ignore": ["age", "sise"]}, "column of ignore: 'sise'; did you mean 'size'?"),
        ({"groups": "site"}, "column of groups: 'site'"),
        ({"id": "age", "nominal": ["age"]}, "column 'age' is listed under nominal and id"),
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'"),
    ],
)
def test_a_wrong_key_or_value_is_a_mistake_of_the_config(csv, keys, expected):
    assert expected in error(csv, GOOD, kind=ConfigError, **keys)


def test_a_file_that_is_not_there_names_the_nearest(csv, tmp_path):
    csv(GOOD)
    for path, words in (
        ("mien.csv", r"mien\.csv: no such file; did you mean 'mine\.csv'\?"),
        ("none/mine.csv", "no such file, nor a folder"),
        ("", "this is a folder"),
    ):
        with pytest.raises(DataError, match=words):
            load({"csv": tmp_path / path, "label": "y"})


# ---- whatever a file holds

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=100)
@given(
    values=st.lists(st.tuples(FINITE, st.sampled_from(["no", "a,b", 'c"d', "1"])), min_size=4, max_size=12),
    separator=st.sampled_from([",", ";", "\t", "|"]),
)
def test_what_another_program_writes_is_read_back(tmp_path_factory, values, separator):
    path = tmp_path_factory.getbasetemp() / "written.csv"
    values = [*values, (1.0, "no"), (2.0, "a,b"), (1.0, "no"), (2.0, "a,b")]
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv_writer(stream, delimiter=separator)
        writer.writerow(["x", "y"])
        writer.writerows([repr(x), label] for x, label in values)
    data = load({"csv": str(path), "label": "y"})
    assert data.X[:, 0].tolist() == [x for x, _ in values]
    assert data.y.tolist() == [label for _, label in values]


SPELLINGS = (
    *("-nan", "+nan", "-NaN", "nan", "NaN", "NA", "n/a", "#N/A", "#n/a", "<NA>", "<na>", "None", "NULL"),
    *("?", ""),
)


@pytest.mark.parametrize("text", SPELLINGS)
def test_one_list_of_missing_values_for_every_column_and_reader(csv, tmp_path, text):
    """-nan was imputed in silence, and None became a class."""
    rows = [f"{row}.5,{'uv'[row % 2]},{'pq'[row % 2]}" for row in range(12)]
    for column, name in enumerate(("x", "colour", "y")):
        fields = rows[4].split(",")
        fields[column] = text
        content = "\n".join(["x,colour,y", *rows[:4], ",".join(fields), *rows[5:]]) + "\n"
        assert f"line 6, column '{name}'" in error(csv, content)
        frame = pd.read_csv(tmp_path / "mine.csv", dtype=str, keep_default_na=False)
        with pytest.raises(DataError, match=f"row 5, column '{name}'"):
            load_tables({"csv": "mine", "label": "y"}, [frame_table(frame, "mine")])
        if name != "y":
            data = csv(content, missing="mean")
            assert np.isnan(data.table[4, column]) and not np.isnan(np.delete(data.table, 4, axis=0)).any()
            assert data.categories[1] == ("u", "v")
