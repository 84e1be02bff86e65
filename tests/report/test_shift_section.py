"""``shift.csv``: a config whose coverage weights repair, and one where they cannot and the report says so."""

from pathlib import Path

import pandas as pd
import pytest
from command_line import command, refusal
from report.report_cases import read

from confml.report.tables.shift import advice_of

CONFIGS = Path(__file__).parents[2] / "configs"


def run(name, folder):
    command("run", CONFIGS / f"{name}.yaml", "--engine", "serial", "--out", folder)
    summary = pd.read_csv(folder / "summary.csv")
    coverage = summary[(summary["metric"] == "coverage") & (summary["level"] == 0.1)]
    plain = coverage[~coverage["params"].fillna("").str.contains("shift")]
    plain = plain.set_index(["dataset", "params"])["mean"]
    return read(folder / "tables/shift.csv"), plain, (folder / ".run/notes.txt").read_text()


def test_weights_repair_the_coverage_of_both_kinds_of_shift(tmp_path):
    rows, plain, notes = run("shift", tmp_path)
    split, mondrian = "conformal=split;conformal__calibration=0.5", ";conformal__mondrian=true"
    assert plain["covariate", split] < 0.82 and plain["covariate", "k=3"] < 0.85
    assert plain["label", split] < 0.75 and plain["label", split + mondrian] > 0.88
    by_params = {(row["dataset"], row["params"].rpartition("=")[2]): row for row in rows}
    for kind in ("covariate", "label"):
        assert 0.87 < float(by_params[kind, kind]["coverage"]) < 0.95
        assert by_params[kind, kind]["advice"] == ""
    for row in read(tmp_path / "tables/class-coverage.csv"):
        assert (row["band_low"] != "") == ("shift" not in row["params"])
    assert float(by_params["covariate", "covariate"]["auc"]) == pytest.approx(0.76, abs=0.03)
    assert "overlap" not in notes and "effective sample size" not in notes


def test_a_shift_too_far_is_said_to_be_so(tmp_path):
    rows, plain, notes = run("shift-too-far", tmp_path)
    assert plain.min() < 0.7
    for row in rows:
        assert "hardly overlap" in row["advice"] and "effective sample size" in row["advice"]
        assert float(row["effective_rows"]) < int(row["needed"])
        assert f"level {row['level']}: the effective sample size is" in notes


def test_advice_names_each_problem():
    assert advice_of(0.7, 200, 500, float("nan"), 0.05, 100, 0.0) == ""
    few = advice_of(0.9, 34, 500, float("nan"), 0.05, 100, 0.0)
    assert "effective sample size is 34 of 500 examples" in few and "needs 100" in few
    assert "62% of the test examples" in advice_of(0.9, 200, 500, float("nan"), 0.05, 100, 0.62)
    assert "use mondrian: true" in advice_of(float("nan"), 400, 400, 0.04, 0.05, 100, 0.0)
    assert advice_of(float("nan"), 400, 400, 0.06, 0.05, 100, 0.0) == ""


def test_predict_refuses_weights_of_a_whole_test_part(tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("x1,x2\n0,0\n1,1\n")
    config = tmp_path / "c.yaml"
    config.write_text(
        "datasets: [{name: a, generate: covariate-shift, n: 60}]\n"
        "methods: [{name: naive-bayes, conformal: {kind: split, shift: covariate}}]\nprotocol: holdout\n"
    )
    assert "needs the features of all training rows" in str(refusal("predict", config, new))
