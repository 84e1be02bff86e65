"""Coverage by the columns of ``coverage-by``."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy.stats import beta, betabinom

import confml
from confml.errors import ConfigError
from confml.report.tables.conditional_coverage import column_groups


def read(path):
    """Return the rows of a table without those of the majority class."""
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row.get("method") != "majority-class"]


def write_people(path, n=400, seed=0):
    """Rows with a column that is no feature; the label of group ``b`` is noise."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    age = rng.integers(20, 60, n).astype(float)
    x = rng.normal(size=n)
    label = np.where(group == "b", rng.random(n) < 0.5, x + 0.3 * rng.normal(size=n) > 0)
    lines = ["label,x,age,group"]
    for i in range(n):
        # Dots are missing values: none here, but ages repeat.
        lines.append(f"{'yes' if label[i] else 'no'},{float(x[i])!r},{age[i]:g},{group[i]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def config(folder, **others):
    dataset = {"name": "people", "csv": str(folder / "people.csv"), "label": "label", "id": ["group"]}
    return {
        "name": "by",
        "datasets": [dataset | others.pop("dataset", {})],
        "methods": [{"name": "sklearn.linear_model.LogisticRegression", "conformal": "split"}],
        "protocol": {"kind": "holdout", "test-size": 0.5, "repeats": 2},
        "levels": [0.1],
        "coverage-by": ["group", "age"],
        **others,
    }


def first_tests(out):
    """The region rows of a run, each test row once, with the line of the file."""
    found = {}
    for path in sorted((out / "regions").rglob("*LogisticRegression*.csv")):
        for row in read(path):
            found.setdefault(row["row"], row)
    return list(found.values())


def literal_bins(values, bins=5):
    """Bins of equal mass: equal values at sorted places [a, b) go to bin floor(B (a + b) / 2n)."""
    placed, found = sorted(values), {}
    for value in set(values):
        a, b = placed.index(value), len(placed) - placed[::-1].index(value)
        found[value] = bins * (a + b) // (2 * len(placed))
    return [found[value] for value in values]


def test_coverage_by_columns_equals_the_counts_of_the_region_tables(tmp_path):
    source = write_people(tmp_path / "people.csv").read_text().splitlines()
    confml.run(config(tmp_path), out=tmp_path / "out", jobs=1, engine="serial")
    tested = first_tests(tmp_path / "out")
    fields = [source[int(row["line"]) - 1].split(",") for row in tested]
    covered = np.array([row["label"] in row["region@0.1"].split("|") for row in tested])
    assert all(row["label"] == own[0] for row, own in zip(tested, fields, strict=True))
    groups = {
        "group": np.array([own[3] for own in fields]),
        "age": np.array(literal_bins([float(own[2]) for own in fields])),
    }
    rows = [row for row in read(tmp_path / "out" / "tables/conditional-coverage.csv") if row["by"] in groups]
    assert [row["group"] for row in rows][:3] == ["a", "b", "c"] and len(rows) == 8
    assert rows[3]["group"].startswith("20 to ")
    for place, row in enumerate(rows):
        own = groups[row["by"]]
        label = np.unique(own)[place if row["by"] == "group" else place - 3]
        n, k = int((own == label).sum()), int(covered[own == label].sum())
        assert (int(row["rows"]), int(row["covered"])) == (n, k)
        tail = 0.025 / len(np.unique(own))
        assert float(row["low"]) == pytest.approx(beta.ppf(tail, k, n - k + 1))
        assert float(row["high"]) == pytest.approx(beta.ppf(1 - tail, k + 1, n - k) if k < n else 1)
        # 200 training rows, of which 60 are calibrated on: 6 of 61 p-values are at most 0.1.
        chances = betabinom.pmf(np.arange(n + 1), n, 55, 6)
        gap = chances @ np.abs(np.arange(n + 1) / n - 0.9)
        assert float(row["expected_gap"]) == pytest.approx(gap)
        assert float(row["band_low"]) == np.searchsorted(chances.cumsum(), 0.025) / n
        assert row["few"] == str(int(n < 50))


def test_gaps_are_means_over_the_groups(tmp_path):
    write_people(tmp_path / "people.csv")
    confml.run(config(tmp_path), out=tmp_path / "out", jobs=1, engine="serial")
    lines = read(tmp_path / "out" / "tables/conditional-coverage.csv")
    gaps = {row["by"]: row for row in read(tmp_path / "out" / "tables/coverage-gaps.csv")}
    assert list(gaps) == ["class", "group", "age"]
    for by, row in gaps.items():
        mine = [line for line in lines if line["by"] == by]
        shares = np.array([float(line["coverage"]) for line in mine])
        assert float(row["covgap"]) == pytest.approx(np.abs(shares - 0.9).mean())
        assert float(row["undercoverage"]) == pytest.approx(np.maximum(0.9 - shares, 0).mean())
        assert float(row["expected"]) == pytest.approx(
            np.mean([float(line["expected_gap"]) for line in mine])
        )
        worst = min((line for line in mine if line["few"] == "0"), key=lambda line: float(line["coverage"]))
        assert (row["worst_group"], row["worst_coverage"]) == (worst["group"], worst["coverage"])


def test_a_column_that_no_data_set_has_is_an_error(tmp_path):
    write_people(tmp_path / "people.csv")
    with pytest.raises(ConfigError, match="no data set has the column 'grup'") as error:
        confml.run(config(tmp_path, **{"coverage-by": "grup"}), out=tmp_path / "out", jobs=1)
    assert "group" in error.value.hint
    ignored = {"id": [], "ignore": ["group"]}
    with pytest.raises(ConfigError) as error:
        confml.run(config(tmp_path, dataset=ignored), out=tmp_path / "out", jobs=1)
    assert "list it under id:" in error.value.hint


def test_missing_values_are_a_group_and_names_are_unique():
    groups, names = column_groups(np.array([1.0, np.nan, 1.0, 2.0]))
    assert names == ["1", "2", "missing"] and groups.tolist() == [0, 2, 0, 1]
    assert column_groups(np.full(2, np.nan))[1] == ["missing"]
    close = 1 + 1e-9 * np.repeat(np.arange(5), 20)
    assert len(set(column_groups(close)[1])) == 5


def test_rows_of_an_absent_class_are_never_covered_in_the_band(tmp_path):
    """One row has a class that training does not have: it is not covered, whatever the p-values are."""
    source = write_people(tmp_path / "people.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join([source[0], *source[301:], "other,0.1,30,a"]) + "\n")
    (tmp_path / "people.csv").write_text("\n".join(source[:301]) + "\n")
    others = {"protocol": {"kind": "fixed-split"}}
    wanted = config(tmp_path, dataset={"test": str(tmp_path / "new.csv")}, **others)
    confml.run(wanted, out=tmp_path / "out", jobs=1, engine="serial")
    rows = {row["group"]: row for row in read(tmp_path / "out" / "tables/conditional-coverage.csv")}
    n = int(rows["a"]["rows"]) - 1
    chances = betabinom.pmf(np.arange(n + 1), n, 82, 9)  # 90 calibration rows
    low = np.searchsorted(chances.cumsum(), 0.025) / (n + 1)
    gap = chances @ np.abs(np.arange(n + 1) / (n + 1) - 0.9)
    assert float(rows["a"]["band_low"]) == pytest.approx(low)
    assert float(rows["a"]["expected_gap"]) == pytest.approx(gap)
    assert rows["other"]["band_low"] == "" and rows["other"]["covered"] == "0"
    assert float(rows["other"]["expected_gap"]) == pytest.approx(0.9)
