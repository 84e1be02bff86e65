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


def test_parts_of_groups_are_their_rows_and_the_rows_that_p_values_are_counted_among():
    codes, counted = np.repeat([[0, 1, 2], [81, 81, 9]], [100, 100, 8], axis=1)
    equal = np.ones((208, 2), dtype=np.int64)
    p, truth = 3 / np.column_stack([counted, counted]), np.zeros(208, dtype=int)
    extra = {"group": codes[:, None], "n_greater": 2 * equal, "n_equal": equal}
    case = Case(Prediction(np.array([0, 1]), p, "p-value", extra=extra), truth)
    assert calibration_parts(case) == ((100, 81), (100, 81), (8, 9))
    extra = {"group": np.column_stack([codes, codes]), "division": 0 * equal}  # groups that overlap
    assert calibration_parts(Case(Prediction(np.array([0, 1]), p, "p-value", extra=extra), truth)) == ()


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
    # The 12 training rows of the group are enough for TCM-NN.
    assert any("site = west" in text for text in few) == (method != "tcm")


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
