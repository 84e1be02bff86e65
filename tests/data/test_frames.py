"""Data frames of any library, and Parquet files: the same rows as those of a CSV file."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from confml import predict
from confml.data import load
from confml.data.csv_table import load_tables
from confml.data.frame_table import frame_table
from confml.errors import DataError

COLUMNS = {
    "x": [1.5, None, 3.0, 0.1] * 6,
    "n": [1, 2, 3, -4] * 6,
    "colour": [" red", "blue", None, "red "] * 6,
    "sold": [True, False, True, True] * 6,
    "price": [decimal.Decimal("1.50"), decimal.Decimal("2"), None, decimal.Decimal("0.1")] * 6,
    "y": ["a", "b", "a", "b"] * 6,
}
ARROW = pa.table(COLUMNS)


class Stream:
    """A frame of another library, such as polars and DuckDB: it has the stream of Arrow's interface."""

    def __arrow_c_stream__(self, requested_schema=None):
        return ARROW.__arrow_c_stream__(requested_schema)


FRAMES = {
    "pandas": lambda: ARROW.to_pandas(),
    "arrow": lambda: ARROW,
    "batch": lambda: ARROW.to_batches()[0],
    "stream": Stream,
}


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_of_any_library_is_read(csv, library):
    spec = {"csv": "train", "name": "a", "label": "y", "missing": "mean"}
    data = load_tables(spec, [frame_table(FRAMES[library](), "train")])
    text = "x,n,colour,sold,price,y\n"
    text += "1.5,1,red,True,1.50,a\n,2,blue,False,2.00,b\n3,3,,True,,a\n0.1,-4,red,True,0.10,b\n" * 6
    assert data.checksum == csv(text, missing="mean").checksum
    assert data.lines.tolist() == list(range(1, 25))


def test_predict_takes_a_frame_of_any_library():
    expected, answers = (
        predict(frame, frame, label="y", missing="mean", method="naive-bayes")
        for frame in (ARROW.to_pandas(), Stream())
    )
    assert answers.equals(expected) and set(expected["prediction"]) <= {"a", "b"}
    with pytest.raises(DataError, match="expected a path or a data frame that pyarrow reads, got int"):
        predict(7, 7, label="y")


def test_columns_without_numbers_are_texts_as_in_a_csv_file():
    day = datetime.date(2024, 5, 31)
    time = datetime.datetime(2024, 5, 31, 7)
    table = frame_table(pa.table({"day": [day], "time": [time], "list": [[1, 2]], "null": [None]}), "f")
    fields = [table.fields(name)[0] for name in table.names]
    assert fields == ["2024-05-31", "2024-05-31T07:00:00", "[1, 2]", ""]
    of_pandas = frame_table(pd.DataFrame({"t": pd.to_datetime(["2024-05-31"])}), "f")
    assert of_pandas.fields("t") == ["2024-05-31T00:00:00"]


def test_numbers_of_frames_keep_all_digits_as_text():
    frame = pd.DataFrame({"i": [2**60 + 1, 7], "f": [0.1, 7.0], "g": np.array([0.1, np.nan], np.float32)})
    table = frame_table(frame, "f")
    assert table.fields("i") == [str(2**60 + 1), "7"] and table.fields("f") == ["0.1", "7"]
    assert table.texts("g").as_list() == [repr(float(np.float32(0.1))), ""]
    assert table.texts("f").distinct == ["0.1", "7"]


@pytest.mark.parametrize("index", [None, "n", np.arange(24) * 2], ids=["none", "named", "unnamed"])
def test_an_index_of_pandas_in_a_parquet_file(tmp_path, index):
    frame = ARROW.to_pandas()
    if index is not None:
        frame = frame.set_index("n") if isinstance(index, str) else frame.set_axis(index)
    frame.to_parquet(tmp_path / "a.parquet")
    names = load({"csv": tmp_path / "a.parquet", "label": "y", "missing": "mean"}).table_attributes
    assert sorted(names) == ["colour", "n", "price", "sold", "x"]


def test_a_number_that_is_missing_and_rows_without_values(tmp_path):
    table = pa.table({"x": [1.0, -999.0, None, 2.0], "n": [-999, 2, None, 3], "y": ["a", "b", None, "a"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    data = load({"csv": tmp_path / "a.parquet", "label": "y", "missing": "mean", "missing-values": [-999]})
    assert np.array_equal(data.table, [[1, np.nan], [np.nan, 2], [2, 3]], equal_nan=True)
    assert data.lines.tolist() == [1, 2, 4]
