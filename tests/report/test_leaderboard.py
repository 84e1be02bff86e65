"""The leaderboard equals a literal computation from the predictions, and says what it leaves out."""

import csv
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

import confml
from confml.report.files import place_of
from confml.report.tables.leaderboard import column_of

CONFIG = {
    "name": "board",
    "datasets": ["iris", "wine-sklearn"],
    "steps": ["standardise"],
    "methods": [{"name": "tcm-nn", "k": 1}, {"name": "knn", "k": 5}, {"name": "naive-bayes"}],
    "protocol": {"kind": "k-fold", "folds": 3},
    "levels": [0.05],
    "leaderboard": True,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board") / "run"
    return confml.run(CONFIG, out=folder), folder


def table(folder, name):
    with (folder / place_of(name)).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_means_and_ranks_are_those_of_the_metrics(run):
    _, folder = run
    metrics = table(folder, "metrics.csv")
    board = table(folder, "leaderboard.csv")
    for column, metric, level in (("error", "error", ""), ("region_size", "mean_region_size", "0.05")):
        rows = [row for row in board if row["column"] == column]
        methods = [row["method"] for row in rows]
        values = []
        for dataset in CONFIG["datasets"]:
            values.append([])
            for method in methods:
                own = [
                    float(row["value"])
                    for row in metrics
                    if (row["dataset"], row["metric"], row["level"]) == (dataset, metric, level)
                    and method.startswith(row["method"])
                ]
                assert len(own) == 3
                values[-1].append(math.fsum(own) / 3)
        assert [float(row["mean"]) for row in rows] == pytest.approx(np.mean(values, axis=0).tolist())
        if column == "error":
            ranks = rankdata(values, axis=1).mean(axis=0)
            assert [float(row["mean_rank"]) for row in rows] == pytest.approx(ranks.tolist())


def test_selective_risk_is_that_of_the_most_confident_rows(run):
    _, folder = run
    results = confml.load_run(folder)
    wanted = []
    for dataset in CONFIG["datasets"]:
        risks = []
        regions = results.regions(dataset, "naive-bayes")
        for _, rows in regions.groupby("split"):
            confidence = rows["confidence"].to_numpy()
            wrong = (rows["prediction"].astype(str) != rows["label"].astype(str)).to_numpy()
            # Expected errors among the 90 % most confident rows; equal confidences share their errors.
            left, errors = 0.9 * len(rows), 0.0
            for value in np.unique(confidence)[::-1]:
                group = confidence == value
                taken = min(left, group.sum())
                errors += wrong[group].mean() * taken
                left -= taken
            risks.append(errors / (0.9 * len(rows)))
        wanted.append(np.mean(risks))
    found = [
        float(row["value"])
        for row in table(folder, "leaderboard-datasets.csv")
        if row["column"] == "risk_at_0.9" and row["method"] == "naive-bayes"
    ]
    assert found == pytest.approx(wanted, abs=1e-4)


def test_probability_columns_have_only_views_with_probabilities(run):
    _, folder = run
    board = table(folder, "leaderboard.csv")
    assert not [row for row in board if row["column"] == "log_loss" and row["method"].startswith("tcm-nn")]


def test_times_stand_in_files_of_their_own(run):
    """The other files have the same bytes in each run."""
    _, folder = run
    for name in ("leaderboard", "leaderboard-datasets"):
        assert "seconds" not in {row["column"] for row in table(folder, f"{name}.csv")}
        assert {row["column"] for row in table(folder, f"{name}-timings.csv")} == {"seconds"}


def test_without_the_key_nothing_is_written(tmp_path):
    config = {**CONFIG, "datasets": ["iris"], "methods": [{"name": "naive-bayes"}], "leaderboard": False}
    confml.run(config, out=tmp_path / "run")
    assert not (tmp_path / "run" / "tables/leaderboard.csv").exists()


def means_of(values):
    """Means (data sets, methods), NaN where a data set does not have a method."""
    return pd.DataFrame(values).T


def test_the_table_without_gaps_is_as_large_as_possible():
    full = {name: {"a": 0.1, "b": 0.2, "c": 0.3} for name in ("one", "two", "three")}
    # A data set that only one method has is left out, not the other methods.
    column = column_of(means_of({**full, "four": {"a": 0.1}}), "lower")
    assert column.means.shape == (3, 3) and list(column.means.index) == ["one", "two", "three"]
    assert column.missing == "Data sets left out, because results are missing: four."
    # A method that has one data set of three is left out, not the data sets.
    column = column_of(means_of({**full, "one": {**full["one"], "d": 0.0}}), "lower")
    assert list(column.means.columns) == ["a", "b", "c"]
    assert column.missing.endswith("more than a fifth of the data sets are missing: d.")


def test_small_regions_with_too_little_coverage_are_ranked_last():
    """The verdict on coverage is that of the answers; see tests/report/answers/test_coverage.py."""
    datasets, low = ["one", "two"], {"small": True, "valid": False, "large": False}
    too_low = means_of(dict.fromkeys(datasets, low))
    shares = means_of(dict.fromkeys(datasets, {"small": 0.5, "valid": 0.95, "large": 0.99}))
    sizes = means_of(dict.fromkeys(datasets, {"small": 0.6, "valid": 1.2, "large": 2.0}))
    coverage, size = column_of(shares, None, (), too_low), column_of(sizes, "lower", (), too_low)
    assert coverage.ranking is None and coverage.low.tolist() == [2, 0, 0]
    assert size.ranking.comparison.mean_ranks.tolist() == [3, 1, 2] and size.low is None


def test_failed_methods_and_infinite_and_equal_values_have_ranks():
    values = dict.fromkeys(("one", "two"), {"a": math.inf, "b": 0.5, "c": 0.5})
    assert column_of(means_of(values), "lower").ranking.comparison.mean_ranks.tolist() == [3, 1.5, 1.5]
    assert column_of(means_of(values), "higher").ranking.comparison.mean_ranks.tolist() == [1, 2.5, 2.5]
    values = {str(number): {"a": 0.1, "b": 0.2} for number in range(5)} | {"5": {"b": 0.3}}
    failed = column_of(means_of(values), "lower", {("5", "a")})
    assert failed.ranking.comparison.mean_ranks.tolist() == [(5 + 1.5) / 6, (10 + 1.5) / 6]
    assert failed.missing == "Failed, and ranked last there: a on 5."
