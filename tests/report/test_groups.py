"""Groups of ``by`` in runs and in predictions for new rows, one of them much smaller than the others."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal

from confml.measures import Case, Prediction
from confml.measures.coverage_band import calibration_parts
from confml.report.answers.coverage import SplitErrors, p_value
from confml.report.answers.differences import SplitLosses
from confml.report.tables import class_coverage

CONFIG = """
name: groups
datasets: [{name: mine, csv: train.csv, label: y}]
steps: [standardise]
methods:
  - {name: naive-bayes, conformal: split, label: plain}
  - {name: naive-bayes, conformal: {kind: split, by: site}, label: one division}
  - {name: naive-bayes, conformal: {kind: split, by: [[site], [{age: 3}]]}, label: two divisions}
  - {name: tcm-nn, k: 10, by: site, label: tcm}
protocol: {kind: holdout, test-size: 0.5, repeats: 3}
levels: [0.1, 0.3]
figures: [groups]
seed: 4
"""
SITES = {"north": (0.3, 250), "south": (2.0, 250), "west": (0.3, 24)}  # noise and rows


def grouped_case(rng, sizes, test_sizes, several=False) -> Case:
    """Return exchangeable p-values of the true label 0, each counted in its group, among 0 for label 1."""
    groups, greater, counted = [], [], []
    for group, (m, n) in enumerate(zip(sizes, test_sizes, strict=True)):
        scores = np.sort(rng.random(m))
        greater.append(m - np.searchsorted(scores, rng.random(n)))
        groups.append(np.full(n, group))
        counted.append(np.full(n, m + 1))
    above, counted, codes = map(np.concatenate, (greater, counted, groups))
    p = np.column_stack([(above + 1) / counted, 1 / counted])
    if several:
        extra = {"group": np.column_stack([codes, codes]), "division": np.zeros(p.shape, dtype=np.int64)}
    else:
        above = np.column_stack([above, np.zeros_like(above)])
        extra = {"group": codes[:, None], "n_greater": above, "n_equal": np.ones(p.shape, dtype=np.int64)}
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
    overlapping = grouped_case(rng, (80, 3), (100, 5), several=True)
    assert calibration_parts(overlapping) == ()
    assert np.isnan(p_value([errors_of(np.ones(50), ())], 0.1))  # no verdict


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("groups")
    rng = np.random.default_rng(3)
    site = np.repeat([*SITES], [rows for _, rows in SITES.values()])
    frame = pd.DataFrame({"a": rng.normal(size=len(site)), "site": site})
    frame["age"] = rng.integers(20, 80, len(site))
    noise = np.array([SITES[name][0] for name in site]) * rng.normal(size=len(site))
    frame["y"] = np.where(frame.a + noise > 0, "high", "low")
    train = np.r_[:200, 250:450, 500:512]
    frame.iloc[train].to_csv(path / "train.csv", index=False)
    frame.drop(index=train).to_csv(path / "new.csv", index=False)
    (path / "c.yaml").write_text(CONFIG)
    command("run", path / "c.yaml", "--out", path / "res", "--engine", "serial")
    return path


def test_table_of_groups(folder):
    table = pd.read_csv(folder / "res" / "tables/groups.csv")
    assert set(table.by) == {"site", "age in 3 bins"}
    of_site = table.label.isin(["one division", "tcm"]) & (table.by == "site")
    assert (table.guaranteed == ((table.label == "two divisions") | of_site)).all()
    by_site = table[(table.by == "site") & (table.level == 0.3) & (table.group == "site = south")]
    assert by_site.calibration_rows.between(20, 130).all()
    error, size = by_site.set_index("label").error, by_site.set_index("label").mean_size
    assert error["plain"] > 0.31 > error["two divisions"]
    assert size["plain"] < size["two divisions"]
    assert (folder / "res" / "figures" / "groups-mine.svg").exists()
    assert table[table.label == "plain"].groupby(["by", "level"]).rows.sum().nunique() == 1


def test_a_run_calls_no_valid_group_too_low_and_names_the_small_ones(folder):
    answer = (folder / "res" / "answer.json").read_text()
    assert "every method with a guarantee" not in answer and json.loads(answer)["datasets"]
    bands = pd.read_csv(folder / "res" / "tables/class-coverage.csv")
    assert (bands.band_low.isna() == bands.params.str.contains("age")).all()
    assert (bands.band_low.dropna() < 1).all()
    notes = (folder / "res" / ".run/notes.txt").read_text()
    assert re.search(r"in \d of \d groups of by and cannot exclude any label there: .*site = west \(", notes)


@pytest.mark.parametrize("method", ["one division", "two divisions", "tcm"])
def test_new_rows_of_groups_look_exchangeable(folder, method):
    options = ("--method", method, "--json")
    facts = json.loads(command("predict", folder / "c.yaml", folder / "new.csv", *options).stdout)
    tests = {test["test"]: test for test in facts["tests"]}
    assert not any(test["differs"] for test in tests.values())
    assert ("coverage" in tests) == (method != "two divisions")  # overlapping groups have no test
    if method != "two divisions":
        band = float(re.search(r"95 % band ([0-9.]+) to", tests["coverage"]["text"]).group(1))
        assert 75 < band < 95
    few = [text for text in facts["warnings"] if "cannot exclude any label there" in text]
    assert any("site = west" in text for text in few) == (
        method != "tcm"
    )  # whose 12 training rows of the group are enough


@pytest.mark.parametrize("method", ["two divisions", "tcm"])
def test_stored_models_predict_the_same_bytes(folder, method):
    model, new = folder / f"{method}.confml", folder / "new.csv"
    fitted = command("predict", folder / "c.yaml", new, "--method", method, "--save", model, "--force")
    stored = command("predict", model, new)
    assert fitted.stdout == stored.stdout and len(fitted.stdout.splitlines()) == 113
    assert "in each group of (site)" in fitted.stderr
    explained = command("predict", model, new, "--explain", "1")
    assert "lines@predicted" in explained.stdout.splitlines()[0]


def test_new_groups_and_wrong_columns(folder):
    (folder / "moon.csv").write_text((folder / "new.csv").read_text().replace("north", "moon"))
    warned = command("predict", folder / "c.yaml", folder / "moon.csv", "--method", "tcm")
    assert "in groups without calibration rows: all labels have p-value 1" in warned.stderr
    wrong = str(refusal("run", "--dry-run", folder / "c.yaml", "--set", "methods.3.by=sity"))
    assert "has no column 'sity'" in wrong and "site" in wrong


def test_rows_of_an_online_pass_are_whole_numbers():
    prediction = Prediction(np.array([0, 1]), np.full((3, 2), 0.5), "p-value")
    case = SimpleNamespace(truth=np.array([0, 1, 1]), prediction=prediction, counted=None)
    result = SimpleNamespace(rows=[4, 5, 6], views=SimpleNamespace(fit_details=SimpleNamespace(other={})))
    parts = class_coverage.calibration_parts([(result, case)])
    assert str(parts) == "{(0, ''): (1, None), (1, ''): (2, None)}"
