"""Whole numbers above 2^53 in columns of features: categories or identifiers, never rounded."""

import numpy as np
import pandas as pd
import pytest

from confml.config.suggestion import suggest
from confml.data import load
from confml.data.csv_table import load_tables
from confml.data.frame_table import frame_table
from confml.data.new_rows import RowCoder
from confml.data.text_table import TextTable

FIRST, SECOND = 9007199254740992, 9007199254740993  # equal as float64
FRAME = pd.DataFrame({"card": [FIRST, SECOND] * 20, "x": np.arange(40) % 7 / 2, "y": ["a", "b"] * 20})


def data_of(kind: str, frame: pd.DataFrame, path):
    if kind == "frame":
        return load_tables({"csv": "train", "label": "y"}, [frame_table(frame, "train")])
    file = path / f"mine.{kind}"
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    return load({"csv": file, "label": "y"})


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_integers_that_a_float_rounds_are_categories(tmp_path, kind):
    data = data_of(kind, FRAME, tmp_path)
    assert data.attributes == (f"card={FIRST}", f"card={SECOND}", "x")
    assert np.array_equal(data.X[:, 1], data.y == "b")
    assert any("above 2^53" in note and "'card'" in note for note in data.notes)


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_integers_that_a_float_rounds_are_identifiers_if_all_differ(tmp_path, kind):
    data = data_of(kind, FRAME.assign(card=FIRST + np.arange(40)), tmp_path)
    assert data.attributes == ("x",)
    assert data.ids[:, 0].tolist() == [str(FIRST + at) for at in range(40)]


def test_integers_of_a_parquet_file_with_missing_values_are_not_rounded(tmp_path):
    card = pd.array([FIRST, SECOND, None, SECOND] * 10, dtype="Int64")
    path = tmp_path / "mine.parquet"
    FRAME.assign(card=card).to_parquet(path)
    data = load({"csv": path, "label": "y", "missing": "mean"})
    assert data.categories[0] == (str(FIRST), str(SECOND))


def test_large_numbers_that_floats_hold_stay_numbers(tmp_path):
    assert data_of("csv", FRAME.assign(card=[2**53, 2**60] * 20), tmp_path).attributes == ("card", "x")
    assert data_of("csv", FRAME.assign(card=[1e300, 2.5] * 20), tmp_path).attributes == ("card", "x")


def test_init_names_the_column_as_categories(tmp_path):
    path = tmp_path / "mine.csv"
    FRAME.to_csv(path, index=False)
    found = suggest({"csv": path, "label": "y"}).dataset
    assert found["nominal"] == ["card"] and "ignore" not in found


def test_a_new_category_is_not_the_known_one_of_equal_float(tmp_path):
    frame = FRAME.assign(card=[FIRST, FIRST + 2] * 20, other=[FIRST + 1, FIRST + 5] * 20)
    coder = RowCoder(
        load_tables({"csv": "train", "label": "y", "nominal": "card"}, [frame_table(frame, "train")])
    )
    new: TextTable = frame_table(pd.DataFrame({"card": [FIRST, SECOND], "x": 0.5, "other": FIRST + 1}), "new")
    assert coder.code(new).table[:, 0].tolist() == [0, -1]
