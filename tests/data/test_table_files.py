"""Table files and streams in chunks, and new rows in the columns of a training set."""

import codecs
import io
import itertools
from csv import reader as csv_reader
from pathlib import Path

import numpy as np
import pytest

from confml.data.csv_text import CsvFormat, text_blocks
from confml.data.new_rows import RowCoder
from confml.data.table_files import read_table, table_chunks

TEXT = "a,b,c\n" + "".join(f"{row},{row % 3},x{row % 2}\n" for row in range(25))


def chunks(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return list(table_chunks("stream", io.BytesIO(data), **options))


def rows_of(table):
    return [list(fields) for fields in zip(*map(table.fields, table.names), strict=True)]


def literal_records(lines, separator):
    """The rows and their lines by `csv.reader` only."""
    blanks = separator != "\t"
    reader = csv_reader((f"{line}\n" for line in lines), delimiter=separator, skipinitialspace=blanks)
    begins = 1
    for fields in reader:
        fields = [entry.strip() for entry in fields]
        if any(fields):
            yield begins, fields
        begins = reader.line_num + 1


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    "odd", ["1", '"x,y"', '"x\ty\nz"', " a", "b\u00a0", "\x1f7", "\u3000", '"a""b"', '5" x', ' "q"', '"\n"']
)
def test_rows_are_those_of_the_csv_module(separator, odd):
    rng = np.random.default_rng(3)
    for row in (0, 1023, 2500):
        rows = [[str(rng.choice(["1.5", "", "nan", "-2e9", "\xe9"])) for _ in range(3)] for _ in range(2600)]
        rows[row][1] = odd
        lines = "\n".join(separator.join(row) for row in [["a", "b", "c"], *rows]).split("\n")
        parts = chunks("\n".join(lines), separator=separator, rows=1000)
        records = [pair for part in parts for pair in zip(part.lines.tolist(), rows_of(part), strict=True)]
        assert records == list(literal_records(lines, separator))[1:] and len(records) > 2000


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("start", [b"", codecs.BOM_UTF8])
def test_line_ends_and_characters_may_be_cut_between_blocks(size, start):
    text = "a,b\r\n1,\xe9\r\n2,\u20ac\r3,x\n\n4,y"
    stream = io.BytesIO(start + text.encode())
    blocks = list(text_blocks(Path("x.csv"), stream, None, None, itertools.repeat(size)))
    assert b"".join(blocks).decode() == "a,b\n1,\xe9\n2,\u20ac\n3,x\n\n4,y"


@pytest.mark.parametrize("rows", [1, 7, 25, 100])
def test_chunks_are_the_whole_file(tmp_path, rows):
    path = tmp_path / "file.csv"
    path.write_text(TEXT)
    whole = read_table(path)
    parts = list(table_chunks(path, rows=rows))
    assert [row for part in parts for row in rows_of(part)] == rows_of(whole)
    assert [line for part in parts for line in part.lines] == whole.lines.tolist()
    assert all(part.names == whole.names and len(part) <= rows for part in parts)


def test_the_separator_that_finds_the_expected_columns_is_taken():
    text = "a;b,c\n" + "1;2,5\n" * 5
    assert chunks(text)[0].names == ["a;b", "c"]
    assert chunks(text, expected=["a", "b,c"])[0].names == ["a", "b,c"]
    assert rows_of(chunks("a\n1\n2\n")[0]) == [["1"], ["2"]]


def test_the_usual_separator_is_tried_first():
    text = "a^b,c\n" + "1^2,5\n" * 5
    assert chunks(text, expected=["a", "b,c"])[0].names == ["a^b", "c"]
    usual = CsvFormat(separator="^")
    assert chunks(text, expected=["a", "b,c"], usual=usual)[0].names == ["a", "b,c"]
    assert chunks(TEXT, expected=["a", "b"], usual=usual)[0].names == ["a", "b", "c"]
    both = "a;b,a2\n1;2,5\n"
    assert chunks(both, expected=["a", "a2"])[0].names == ["a;b", "a2"]
    usual = CsvFormat(separator="semicolon")
    assert chunks(both, expected=["a", "a2"], usual=usual)[0].names == ["a", "b,a2"]


def test_a_stream_is_read_no_further_than_its_chunk_needs():
    class Stream(io.RawIOBase):
        size = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            lines = b"".join(b"%d,1\n" % row for row in range(len(buffer) // 10))
            part = b"a,b\n" + lines if not self.size else lines
            part = part[: part.rindex(b"\n", 0, len(buffer)) + 1]
            buffer[: len(part)] = part
            Stream.size += len(part)
            return len(part)

    endless = table_chunks("endless", Stream(), rows=1000)
    for _ in range(20):
        assert len(next(endless)) == 1000
    assert Stream.size < 20 * 1000 * 8 + (1 << 18)


@pytest.mark.parametrize("drop_first", [False, True])
def test_rows_of_the_training_file_are_coded_as_in_training(csv, tmp_path, drop_first):
    lines = ["id,size,job,y"]
    lines += [f"r{row},{row / 7 if row % 5 else ''},{'abc'[row % 3]},{'xy'[row % 2]}" for row in range(20)]
    data = csv("\n".join(lines) + "\n", missing="mean", drop_first=drop_first)
    coder = RowCoder(data, "y", missing="mean")
    table = read_table(tmp_path / "mine.csv")
    assert coder.check_columns(table) == []
    rows = coder.code(table)
    np.testing.assert_array_equal(rows.X, data.X)
    np.testing.assert_array_equal(rows.table, data.table)
    assert rows.ids[:, 0].tolist() == [f"r{row}" for row in range(20)]
    assert rows.labels == data.y.tolist() and not coder.unknown
    assert rows.complete.tolist() == [row % 5 != 0 for row in range(20)]


@pytest.mark.parametrize("size", [1, 2, 3, 50])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_utf_8_is_found_in_blocks_of_any_size_where_latin_1_is_usual(encoding, size):
    stream = io.BytesIO("a\r\né\rb,é".encode(encoding))
    blocks = text_blocks(Path("x.csv"), stream, None, "latin-1", itertools.repeat(size))
    assert b"".join(blocks).decode() == "a\né\nb,é"
