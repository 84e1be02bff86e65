"""Numbers with thousands separators and signs, and files of this kind."""

import numpy as np
import pandas as pd
import pytest

from confml.data import load
from confml.data.coding import marks_of, without_marks
from confml.data.new_rows import RowCoder
from confml.data.table_files import read_table
from confml.errors import DataError


def written(path, columns):
    """A CSV file, separated by semicolons, with a label column."""
    frame = pd.DataFrame(columns)
    frame.assign(label=np.arange(len(frame)) % 2).to_csv(path, sep=";", index=False)
    return path


@pytest.mark.parametrize(
    ("texts", "decimal", "marks", "numbers"),
    [
        (["5,074", "1,234,567", "12"], ".", (",",), [5074, 1234567, 12]),
        (["$1,200.50", "-$3", "$0.25"], ".", ("$", ","), [1200.5, -3, 0.25]),
        (["12 %", "0.5%", "100%"], ".", ("%",), [12, 0.5, 100]),
        (["1.234,5 €", "7 €"], ",", (".", "€"), [1234.5, 7]),
        (["1 234", "1 000 000"], ".", (" ",), [1234, 1000000]),
        (["CHF 1'234.50", "9"], ".", ("'", "CHF"), [1234.5, 9]),
        (["12%", "0.5"], ".", None, None),
        (["$5", "€5"], ".", None, None),
        (["12,34", "5"], ".", None, None),
        (["0,123", "5,074"], ".", None, None),
        (["1,2345"], ".", None, None),
        (["5,07", "a"], ".", None, None),
    ],
)
def test_marks(texts, decimal, marks, numbers):
    assert marks_of(texts, decimal) == marks
    if marks is not None:
        assert [float(text.replace(",", ".")) for text in without_marks(texts, marks, decimal)] == numbers


def test_thousands_are_numbers_not_categories(tmp_path):
    values = np.random.default_rng(1).integers(1, 10**7, 400)
    path = written(tmp_path / "a.csv", {"price": [f"{value:,}" for value in values]})
    data = load({"csv": path, "label": "label"})
    assert data.table[:, 0].tolist() == values.tolist() and data.attributes == ("price",)
    assert "fields with ',' are read as numbers: column 'price'" in data.notes
    blanks = written(tmp_path / "c.csv", {"price": [f"{value:,}".replace(",", " ") for value in values]})
    assert (
        "fields with 'blank' are read as numbers: column 'price'"
        in load({"csv": blanks, "label": "label"}).notes
    )
    plain = written(tmp_path / "b.csv", {"price": list(map(str, values))})
    coder = RowCoder(data, "label")
    assert np.array_equal(coder.code(read_table(path)).X, coder.code(read_table(plain)).X)
    with pytest.raises(DataError, match="must be numbers"):
        RowCoder(load({"csv": plain, "label": "label"}), "label").code(read_table(path))


def test_ambiguous_commas_name_both_options(tmp_path):
    prices = [f"{i},{(i * 37) % 1000:03}" for i in range(1, 40)]
    path = written(tmp_path / "a.csv", {"price": prices})
    with pytest.raises(DataError, match=r"--thousands ,.*--decimal ,"):
        load({"csv": path, "label": "label"})
    assert load({"csv": path, "label": "label", "thousands": ","}).table[0, 0] == 1037
    assert load({"csv": path, "label": "label", "decimal": ","}).table[0, 0] == 1.037
    comma = {"price": prices, "size": [f"{i},5" for i in range(1, 40)]}
    with pytest.raises(DataError, match="decimal comma") as caught:
        load({"csv": written(tmp_path / "c.csv", comma), "label": "label"})
    assert "thousands" not in caught.value.hint


def test_a_new_file_with_decimal_commas_has_no_thousands(tmp_path):
    train = written(tmp_path / "a.csv", {"price": ["1,234,567", "5,074", "12", "7"]})
    data = load({"csv": train, "label": "label"})
    new = written(tmp_path / "b.csv", {"price": ["1,234"]})
    assert RowCoder(data, "label").code(read_table(new)).table[0, 0] == 1234
    assert RowCoder(data, "label").with_decimal(",").code(read_table(new)).table[0, 0] == 1.234
