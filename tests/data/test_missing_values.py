"""The key missing-values: which texts are missing values."""

import numpy as np
import pandas as pd
import pytest
from command_line import command

from confml import predict
from confml.config import make_config
from confml.errors import ConfigError, DataError

# Half of the labels of a public data set are the text None.
ROWS = [f"{row % 7}.5,{('NA', 'red', 'blue')[row % 3]},{('None', 'mild')[row % 2]}" for row in range(84)]


TEXT = "\n".join(["x,colour,y", *ROWS]) + "\n"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(TEXT)
    return file


def test_the_text_of_a_missing_label_is_quoted_with_the_remedy(csv):
    with pytest.raises(DataError) as caught:
        csv(TEXT)
    assert "the label is missing ('None')" in caught.value.message
    assert "missing-values: []" in caught.value.hint and '--missing-values ""' in caught.value.hint


def test_without_missing_values_none_is_a_class_and_na_a_category(csv):
    data = csv(TEXT, missing_values=[])
    assert data.class_counts() == {"None": 42, "mild": 42}
    assert data.categories == (None, ("NA", "blue", "red")) and not np.isnan(data.X).any()


def test_texts_that_are_missing_and_texts_that_are_not(csv):
    data = csv(TEXT, missing_values=["NA"], missing="mean")
    assert data.categories[1] == ("blue", "red") and np.isnan(data.table[::3, 1]).all()
    with pytest.raises(DataError, match=r"column 'colour': the value is missing \('NA'\).*missing-values"):
        csv(TEXT, missing_values=["NA"])


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_number_that_is_missing(csv, decimal):
    text = "x;z;y\n" + f"-999;1{decimal}5;a\n2;-999;b\n" * 3
    data = csv(text, missing_values=[-999], missing="mean", decimal=decimal)
    assert np.array_equal(data.table[:2], [[np.nan, 1.5], [2, np.nan]], equal_nan=True)


def test_nan_is_a_text_where_it_is_not_missing(csv):
    with pytest.raises(DataError, match=r"2 numbers and 1 text \('nan' on line 3\)"):
        csv("x,y\n1,a\nnan,b\n3,a\n,b\n", missing_values=[], missing="mean")


def test_commands_and_python_take_the_texts(path, tmp_path):
    for arguments in (["data", "check", path], ["init", path, "--out", "-"]):
        output = command(*arguments, "--label", "y", "--missing-values", "").output
        assert "None" in output
    assert "missing-values: []" in output.replace('"', "")
    frame = pd.read_csv(path, keep_default_na=False)
    answers = predict(frame, frame[:10], label="y", missing_values=[], method="naive-bayes")
    assert set(answers["label"]) == {"None", "mild"}
    assert answers["prediction"].isin(["None", "mild"]).all()


def test_the_key_in_a_config(path):
    dataset = {"csv": str(path), "label": "y", "missing-values": ["?", -999]}
    config = {"name": "a", "datasets": [dataset], "methods": ["knn"], "protocol": "k-fold"}
    assert make_config(config).datasets[0].missing_values == ("?", "-999")
    dataset["missing-values"] = [None]
    with pytest.raises(ConfigError, match="expected a list of texts"):
        make_config(config)
