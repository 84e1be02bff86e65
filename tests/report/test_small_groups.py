"""Verdicts on the coverage of p-values with groups of ``by`` of very different sizes."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import processes
import pytest

from confml.measures import Case, Prediction
from confml.measures.coverage_band import calibration_parts
from confml.report.answers.coverage import SplitErrors, p_value
from confml.report.answers.differences import SplitLosses

CONFIG = """
name: small-groups
datasets: [{name: mine, csv: train.csv, label: y}]
methods:
  - {name: naive-bayes, conformal: {kind: split, by: site}, label: one division}
  - {name: naive-bayes, conformal: {kind: split, by: [[site], [half]]}, label: two divisions}
  - {name: tcm-nn, k: 10, by: site, label: tcm}
protocol: {kind: holdout, test-size: 0.5}
levels: [0.1]
seed: 4
"""


def grouped_case(rng, sizes, test_sizes, several=False, **params) -> Case:
    """Return exchangeable p-values of the true label 0, each counted in its group, among 0 for label 1."""
    groups, greater, counted = [], [], []
    for group, (m, n) in enumerate(zip(sizes, test_sizes, strict=True)):
        scores = np.sort(rng.random(m))
        greater.append(m - np.searchsorted(scores, rng.random(n)))
        groups.append(np.full(n, group))
        counted.append(np.full(n, m + 1))
    above, counted, codes = map(np.concatenate, (greater, counted, groups))
    p = np.column_stack([(above + 1) / counted, 1 / counted])
    extra = {
        "group": np.column_stack([codes, codes]) if several else codes[:, None],
        "n_greater": np.column_stack([above, np.zeros_like(above)]),
        "n_equal": np.ones(p.shape, dtype=np.int64),
    }
    if several:
        extra["division"] = np.zeros(p.shape, dtype=np.int64)
        del extra["n_greater"], extra["n_equal"]
    return Case(Prediction(np.array([0, 1]), p, "p-value", extra=extra), np.zeros(len(p), dtype=int))


def errors_of(missed, parts):
    return SplitErrors(SplitLosses(np.arange(len(missed)), missed, 100), parts, False)


@pytest.mark.parametrize("small", [2, 8])
def test_valid_groups_are_hardly_ever_called_too_low(small):
    rng = np.random.default_rng(small)
    low = np.empty(400)
    for draw in range(len(low)):
        case = grouped_case(rng, (80, 80, small), (100, 100, small))
        parts = calibration_parts(case)
        assert sorted(parts) == sorted([(100, 81), (100, 81), (small, small + 1)])
        low[draw] = p_value([errors_of(~case.covered(0.1), parts)], 0.1)
    assert np.mean(low <= 0.05) <= 0.08 and 0.12 <= np.mean(low <= 0.2) <= 0.28  # one p-value of each draw


def test_overlapping_divisions_have_no_verdict():
    case = grouped_case(np.random.default_rng(0), (80, 3), (100, 5), several=True)
    assert calibration_parts(case) == ()
    assert np.isnan(p_value([errors_of(np.ones(50), ())], 0.1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("small-groups")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 424)
    site = np.array([*rng.permutation(["north", "south"] * 200), *["west"] * 24])
    frame = pd.DataFrame(
        {"a": rng.normal(size=424) + 1.5 * y, "site": site, "half": rng.choice(["l", "r"], 424)}
    )
    frame["y"] = np.where(y, "yes", "no")
    train = np.r_[:200, 400:412]
    frame.iloc[train].to_csv(path / "train.csv", index=False)
    frame.drop(index=train).to_csv(path / "new.csv", index=False)
    (path / "c.yaml").write_text(CONFIG)
    found = processes.confml("run", path / "c.yaml", "--out", path / "res")
    assert found.returncode == 0, found.stderr
    return path


def test_a_run_calls_no_valid_group_too_low_and_names_the_small_ones(folder):
    answer = (folder / "res" / "answer.json").read_text()
    assert "too low" not in answer and "keeps its promise" not in answer
    bands = pd.read_csv(folder / "res" / "tables/class-coverage.csv")
    assert (bands.band_low.isna() == bands.params.str.contains("half")).all()
    assert (bands.band_low.dropna() < 1).all()
    notes = (folder / "res" / ".run/notes.txt").read_text()
    assert "in a group of by, and cannot exclude any label there: site = west (" in notes
    assert "1/7, and cannot exclude any label" not in notes
    assert json.loads(answer)["datasets"]


@pytest.mark.parametrize("method", ["one division", "two divisions", "tcm"])
def test_new_rows_of_groups_look_exchangeable(folder, method):
    found = processes.confml("predict", folder / "c.yaml", folder / "new.csv", "--method", method, "--json")
    assert found.returncode == 0, found.stderr
    facts = json.loads(found.stdout)
    tests = {one["test"]: one for one in facts["tests"]}
    assert not any(one["differs"] for one in tests.values())
    assert ("coverage" in tests) == (method != "two divisions")  # overlapping groups have no test
    if method != "two divisions":
        band = float(re.search(r"95 % band ([0-9.]+) to", tests["coverage"]["text"]).group(1))
        assert 75 < band < 95
    few = any("cannot exclude any label there: site = west" in one for one in facts["warnings"])
    assert few == (method != "tcm")  # whose 12 training rows of the group are enough
