"""Coverage of the regions of `confml.predict` on held-out rows of real data sets."""

import re

import numpy as np
import pandas as pd
import pytest

import confml
from confml.data import load
from confml.measures.coverage_band import coverage_band


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["wisconsin-all-rows", "nursery"])  # with missing values; nominal
@pytest.mark.parametrize(("method", "conformal"), [("tcm-nn", None), ("naive-bayes", "split")])
def test_coverage_lies_in_the_band_of_valid_p_values(name, method, conformal, needs_data):
    """The band is beta-binomial, at 0.99 per level; p-values are smoothed, so ties widen no region."""
    needs_data(name)
    frame = load({"name": name}).to_frame()
    frame = frame.sample(n=min(len(frame), 1200), random_state=5)
    frame = frame[frame["label"].map(frame["label"].value_counts()) > 1]
    new = frame[::2]
    params = {"smoothed": True} if conformal is None else {"conformal__smoothed": True}
    nominal = [column for column in frame if column != "label" and frame[column].dtype.kind not in "if"]
    settings = {"label": "label", "nominal": nominal, "method": method, "params": params, "missing": "mean"}
    answers = confml.predict(frame[1::2], new, conformal=conformal, levels=(0.05, 0.1, 0.2), **settings)
    fitted = int(re.search(r"fitted to ([0-9]+) rows", answers.guarantee[0]).group(1))
    counted = fitted if conformal is None else int(0.3 * fitted)
    for level in (0.05, 0.1, 0.2):
        pairs = zip(new["label"], answers[f"region@{level}"], strict=True)
        covered = np.mean([label in labels for label, labels in pairs])
        low, high = coverage_band([(len(new), counted)], level, probability=0.99)
        assert low <= covered <= high, (level, covered, low, high)


@pytest.mark.parametrize("params", [{"conformal__smoothed": True}, {"conformal__nonconformity": "aps"}])
def test_rows_that_are_predicted_one_by_one_have_valid_p_values(tmp_path, params):
    """Two classes far apart: p-values depend on the random number of a row only, and are near uniform."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    frame = pd.DataFrame({"a": np.round(rng.random(120)) + 50 * y, "b": rng.random(120), "label": y})
    path = tmp_path / "model.confml"
    settings = {"method": "naive-bayes", "conformal": "split", "params": params, "save": path}
    answers = confml.predict(frame[:80], frame[80:81], label="label", **settings)
    # Smoothed p-values have no smallest value.
    assert ("smallest possible" in " ".join(answers.warnings)) == ("conformal__smoothed" not in params)
    new = frame[80:]
    model = confml.load_model(path)
    rows = [confml.predict(model, new[row : row + 1]).iloc[0] for row in range(40)]
    p = np.array([row[f"p[{label}]"] for row, label in zip(rows, new["label"], strict=True)])
    assert 0.15 < np.std(p) < 0.45 and 0.3 < np.mean(p) < 0.7
    again = confml.predict(model, new[3:4]).iloc[0]
    assert again[f"p[{new['label'].iloc[3]}]"] == p[3]
