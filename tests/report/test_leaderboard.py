"""The leaderboard equals a literal computation from the predictions, and says what it leaves out."""

import csv
import io
import math

import numpy as np
import pytest
from scipy.stats import rankdata

import confml
from confml.report.answers.leaderboard import Column, Entry, Leaderboard, coverage_name
from confml.report.console import print_run
from confml.report.files import place_of
from confml.report.run.stored import open_run
from confml.report.tables.leaderboard import tuned_text

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


def test_the_console_prints_the_mean_ranks_of_a_written_report(run):
    _, folder = run
    stream = io.StringIO()
    print_run(open_run(folder), folder, stream, everything=True)
    lines = stream.getvalue().split("Leaderboard: mean ranks, 1 is best\n")[1].split("\n\n")[0].splitlines()
    board = [row for row in table(folder, "leaderboard.csv") if row["column"] == "error"]
    assert len(lines) == 2 + len(board)
    for row in board:
        (line,) = [one for one in lines if one.startswith(row["method"])]
        assert line.removeprefix(row["method"]).split()[0] == f"{float(row['mean_rank']):.2f}"


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
    text = (folder / "tables" / "leaderboard.md").read_text()
    assert "mean value" in text and "tcm-nn" in text
    assert "not shown to differ from it" in text and "The parameters of all methods are fixed." in text
    assert "No coverage of 1 - level is promised for the regions of knn k=5 and naive-bayes." in text
    tuned = tuned_text(["k-NN", "RBF SVM"])
    assert (
        tuned == "Inner cross-validation chooses parameters of k-NN, RBF SVM; those of the others are fixed."
    )
    assert 'id="leaderboard-table"' in (folder / "report.html").read_text()


def test_times_stand_in_files_of_their_own(run):
    """The other files have the same bytes in each run."""
    _, folder = run
    for name in ("leaderboard", "leaderboard-datasets"):
        assert "seconds" not in {row["column"] for row in table(folder, f"{name}.csv")}
        assert {row["column"] for row in table(folder, f"{name}-timings.csv")} == {"seconds"}
    assert "seconds" in (folder / "report.html").read_text().partition('id="leaderboard-table"')[2]


def test_without_the_key_nothing_is_written(tmp_path):
    config = {**CONFIG, "datasets": ["iris"], "methods": [{"name": "naive-bayes"}], "leaderboard": False}
    confml.run(config, out=tmp_path / "run")
    assert not (tmp_path / "run" / "tables/leaderboard.csv").exists()


ERROR = Column("error", "error", "errors", "lower")


def board_of(values, column=ERROR):
    found = Leaderboard([column], list(values))
    for dataset, own in values.items():
        for method, value in own.items():
            found.add(column.name, Entry(method, ""), dataset, value)
    return found


def test_the_table_without_gaps_is_as_large_as_possible():
    full = {name: {"a": 0.1, "b": 0.2, "c": 0.3} for name in ("one", "two", "three")}
    # A data set that only one method has is left out, not the other methods.
    (one,) = board_of({**full, "four": {"a": 0.1}}).ranked()
    assert (len(one.entries), one.datasets) == (3, ["one", "two", "three"])
    assert one.missing == "Data sets left out, because results are missing: four."
    # A method that has one data set of three is left out, not the data sets.
    (one,) = board_of({"one": {**full["one"], "d": 0.0}, "two": full["two"], "three": full["three"]}).ranked()
    assert [entry.label for entry in one.entries] == ["a", "b", "c"]
    assert one.missing.endswith("more than a fifth of the data sets are missing: d.")


def test_small_regions_with_too_little_coverage_are_ranked_last():
    """The verdict on coverage is that of the standings; see tests/report/answers/test_coverage.py."""
    size = Column("region_size", "size", "labels", "lower", level=0.05)
    coverage = Column(coverage_name(0.05), "coverage", "coverage", None, level=0.05)
    found = Leaderboard([coverage, size], ["one", "two"])
    for dataset in ("one", "two"):
        for method, share, labels in (("small", 0.5, 0.6), ("valid", 0.95, 1.2), ("large", 0.99, 2.0)):
            for split in range(3):
                found.add(coverage.name, Entry(method, ""), dataset, share + 0.001 * split)
                found.add(size.name, Entry(method, ""), dataset, labels)
    shares, sizes = found.ranked(lambda entry, dataset, level: entry.label == "small" and level == 0.05)
    assert shares.ranks is None and shares.low.tolist() == [2, 0, 0]
    assert sizes.ranks.mean_ranks.tolist() == [3, 1, 2]


def test_infinite_and_equal_values_have_ranks():
    (one,) = board_of({name: {"a": math.inf, "b": 0.5, "c": 0.5} for name in ("one", "two")}).ranked()
    assert one.ranks.mean_ranks.tolist() == [3, 1.5, 1.5]
    (same,) = board_of({name: {"a": 0.5, "b": 0.5} for name in ("one", "two")}).ranked()
    assert not any(same.best(place) or same.near_best(place) for place in range(2))


def test_certified_shares_of_groups_have_no_guarantee(tmp_path):
    rows = [f"{i // 4},{(7 * i) % 40},{(i % 2) * 20 + i % 9},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "g.csv").write_text("\n".join(["site,x,z,y", *rows]) + "\n")
    for name, groups in (("grouped", ", groups: site"), ("plain", "")):
        (tmp_path / f"{name}.yaml").write_text(
            f"name: {name}\ndatasets: [{{csv: g.csv, label: y{groups}}}]\nmethods: [knn, naive-bayes]\n"
            "protocol: {kind: k-fold, folds: 2}\nleaderboard: true\nfigures: []\n"
        )
        confml.run(tmp_path / f"{name}.yaml", out=tmp_path / name, jobs=1)
        text = (tmp_path / name / "tables" / "leaderboard.md").read_text()
        assert ("Certified shares have no guarantee on data sets" in text) == bool(groups)
        assert ", 1 data set." in text
