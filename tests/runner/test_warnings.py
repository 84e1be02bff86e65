"""Each warning of a run, its remedy, and runs without a warning."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from report.report_cases import entry, make_config, make_run, result_of

from confml.cli import main
from confml.config.warnings import WARNINGS
from confml.data.audit import audit
from confml.data.dataset import DataSet
from confml.data.identifiers import names_subjects
from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import Views
from confml.methods.details import FitDetails
from confml.methods.divisions import DIVISIONS
from confml.report.tables.notes import result_warnings
from confml.report.write import write_report
from confml.runner.manifest import DatasetInfo
from confml.runner.plan import load_datasets, make_plan
from confml.runner.warnings import audits, run_warnings
from confml.runs import load_settings

ROWS = 60


def rows_of(n: int = ROWS, seed: int = 0, classes: str = "ab") -> list[list[str]]:
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        label = classes[i % len(classes)]
        rows.append([label, *(f"{rng.normal() + classes.index(label):.4f}" for _ in range(3))])
    return rows


def write(path: Path, rows: list[list[str]], header: str = "y,u,v,w") -> str:
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n", encoding="utf-8")
    return str(path)


def warned(folder: Path, rows: list[list[str]], header: str = "y,u,v,w", **others) -> dict[str, str]:
    """The warnings of a config on these rows: code -> text."""
    dataset = {"name": "d", "csv": write(folder / "d.csv", rows, header), "label": "y"}
    if "test" in others:
        dataset["test"] = write(folder / "t.csv", others.pop("test"), header)
        others["protocol"] = {"kind": "fixed-split"}
    given = {
        "name": "w",
        "datasets": [dataset | others.pop("dataset", {})],
        "methods": ["tcm-nn"],
        "protocol": {"kind": "k-fold", "folds": 3},
        "levels": [0.1],
    }
    config = load_settings(given | others)
    plan = make_plan(config, load_datasets(config))
    found = run_warnings(plan, audits(plan))
    texts = {one.code: one.text for one in found}
    assert len(texts) == len(found) and texts.keys() <= WARNINGS.keys()
    assert all(one.remedy and one.text.endswith(f"[{one.code}]") for one in found)
    return texts


def scaled(rows, factor: float):
    return [[*row[:3], f"{factor * float(row[3]):.6f}"] for row in rows]


def test_a_clean_config_has_no_warning(tmp_path):
    assert warned(tmp_path, rows_of()) == {}
    assert warned(tmp_path, rows_of(), test=rows_of(30, seed=1)) == {}


# ---- features


def test_unscaled_features_with_a_method_of_distances(tmp_path):
    rows = scaled(rows_of(), 1000)
    found = warned(tmp_path, rows)
    assert list(found) == ["unscaled-features"]
    assert "'w' has 10 times the range" in found["unscaled-features"]
    assert "tcm-nn depends on the scale" in found["unscaled-features"]
    assert "steps: [standardise]" in found["unscaled-features"]
    for step in ("standardise", "min-max"):
        assert warned(tmp_path, rows, steps=[step]) == {}
    assert warned(tmp_path, rows, methods=["naive-bayes", "sklearn.tree.DecisionTreeClassifier"]) == {}
    assert list(warned(tmp_path, rows, methods=["sklearn.svm.SVC"])) == ["unscaled-features"]
    assert warned(tmp_path, scaled(rows_of(), 3)) == {}


def test_an_identifier_among_the_features(tmp_path):
    rows = [[*row, str(i)] for i, row in enumerate(rows_of())]
    found = warned(tmp_path, rows, "y,u,v,w,number", steps=["standardise"])
    assert list(found) == ["identifier"] and "id: [number]" in found["identifier"]
    kept = {"id": ["number"]}
    assert warned(tmp_path, rows, "y,u,v,w,number", dataset=kept) == {}


def test_an_identifier_of_subjects_among_the_features(tmp_path):
    rows = [[*row, str(100 + 7 * (i % 13))] for i, row in enumerate(rows_of())]
    header, steps = "y,u,v,w,patient", ["standardise"]
    found = warned(tmp_path, rows, header, steps=steps)
    assert list(found) == ["repeated-identifier"] and "'patient' (13 values)" in found["repeated-identifier"]
    assert "groups: patient" in found["repeated-identifier"]
    assert warned(tmp_path, rows, header, dataset={"groups": "patient"}, steps=steps) == {}


def test_names_of_subjects():
    values = 100.0 + np.arange(60) % 13
    for name in ("patient", "PatientID", "store_id", "customer no", "batch"):
        assert names_subjects(name, values, False), name
    for name in ("age_group", "family_size", "user_rating", "width", "zip_code"):
        assert not names_subjects(name, values, False), name


def test_few_kinds_in_many_rows_are_no_identifiers_of_subjects():
    kinds = np.arange(1200) % 7
    assert not names_subjects("PERSON", kinds.astype(float), True)
    assert names_subjects("PERSON", kinds[:300].astype(float), True)


# ---- rows


def test_duplicate_rows_that_a_split_divides(tmp_path):
    rows = rows_of()
    found = warned(tmp_path, [*rows, *rows[:7]])
    assert list(found) == ["duplicate-rows"]
    assert "7 rows of 67 repeat an earlier row" in found["duplicate-rows"]
    assert "copies of training rows are among the test rows" in found["duplicate-rows"]
    assert "groups:" in found["duplicate-rows"]


def test_duplicate_rows_of_one_group_are_never_divided(tmp_path):
    rows = [[*row, f"g{i}"] for i, row in enumerate(rows_of())]
    groups = {"groups": "subject"}
    header = "y,u,v,w,subject"
    assert warned(tmp_path, [*rows, *rows[:7]], header, dataset=groups) == {}
    other = [*rows, *([*row[:-1], "another"] for row in rows[:7])]
    assert list(warned(tmp_path, other, header, dataset=groups)) == ["duplicate-rows"]


# ---- parameters


def test_levels_that_are_meant_as_confidence(tmp_path):
    found = warned(tmp_path, rows_of(), levels=[0.95])
    assert list(found) == ["level-as-confidence"]
    assert "may miss 95 % of the labels; levels: [0.05] if" in found["level-as-confidence"]
    assert list(warned(tmp_path, rows_of(), levels=[0.95, 0.05])) == ["level-as-confidence"]
    assert warned(tmp_path, rows_of(), levels=[0.05, 0.1, 0.2, 0.5]) == {}


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ({"name": "knn", "k": 40}, "k = 40 of knn is not smaller than the training set (40 rows)"),
        ({"name": "knn", "sweep": {"k": [1, 50]}}, "k = 50 of knn is not smaller than the training set"),
        ({"name": "tcm-nn", "k": 5000}, "k = 5000 of tcm-nn is not smaller than the training set (40 rows)"),
        ({"name": "tcm-nn", "k": 20}, "k = 20 of tcm-nn is not smaller than class a (20 training rows)"),
        (
            {"name": "sklearn.neighbors.KNeighborsClassifier", "n_neighbors": 40},
            "k = 40 of sklearn.neighbors.KNeighborsClassifier is not smaller than the training set (40 rows)",
        ),
    ],
)
def test_k_that_is_not_smaller_than_the_training_rows(tmp_path, method, sentence):
    found = warned(tmp_path, rows_of(), methods=[method])
    assert list(found) == ["k-too-large"]
    assert sentence in found["k-too-large"] and "choose k below" in found["k-too-large"]


def test_votes_that_cannot_reach_a_threshold(tmp_path):
    rows = rows_of(classes="abcd")
    found = warned(tmp_path, rows, methods=["ovo-svm"], thresholds=[0.4, 0.5, 0.8, 0.95])
    assert list(found) == ["votes-below-threshold"]
    assert "at most 2/4 = 0.5 with 4 classes" in found["votes-below-threshold"]
    assert "at threshold 0.8, 0.95;" in found["votes-below-threshold"]
    assert warned(tmp_path, rows, methods=["ovo-svm"], thresholds=[0.5]) == {}
    assert warned(tmp_path, rows_of(), methods=["ovo-svm"], thresholds=[0.8]) == {}


# ---- results


def run_by_hand(labels, truth, train_rows=99, **config):
    classes = np.array(["a", "b"])

    def predict(cell):
        p = np.where(np.array(labels)[:, None] == classes, 0.9, 0.01)
        view = Prediction(classes, p, "p-value")
        return result_of(cell, {"p-value": view}, truth, train_rows=train_rows)

    info = {"d": DatasetInfo(name="d", rows=40, attributes=3, classes=2)}
    return make_run(make_config([entry("tcm-nn", {"k": 1})], **config), predict, info, ["r0", "r1"])


def test_constant_predictions_over_all_splits(tmp_path):
    truth = ["a"] * 4 + ["b"] * 2
    (one,) = result_warnings(run_by_hand(["a"] * 6, truth))
    assert one.code == "constant-predictions" and one.dataset == "d"
    assert one.sentence == "tcm-nn k=1 predicts class a for all 12 test rows"
    write_report(run_by_hand(["a"] * 6, truth), tmp_path)
    assert f"warning: {one.text}\n" in (tmp_path / ".run/notes.txt").read_text()
    assert json.loads((tmp_path / "summary.json").read_text())["notes"] == [f"warning: {one.text}"]
    assert not result_warnings(run_by_hand(["a"] * 5 + ["b"], truth))
    assert not result_warnings(run_by_hand(["a"] * 6, ["a"] * 6))  # nothing else was there
    assert not result_warnings(run_by_hand(["a"] * 4, ["a"] * 3 + ["b"]))  # 8 rows


def test_a_level_below_the_smallest_p_value(tmp_path):
    labels = ["a"] * 4 + ["b"] * 2
    (one,) = result_warnings(run_by_hand(labels, labels, train_rows=18))
    assert one.code == "level-too-small"
    assert "1/19" in one.text and "18 training rows, at least 19 are" in one.text
    assert not result_warnings(run_by_hand(labels, labels, train_rows=19))


def test_a_level_below_the_smallest_p_value_of_a_class():
    """Label-conditional p-values count the calibration examples of one class."""
    labels = np.array(["a", "b"] * 30)

    def predict(cell):
        scores = np.where(labels[:, None] == np.array(["a", "b"]), 0.9, 0.01)
        view = Prediction(np.array(["a", "b"]), scores, "p-value")
        details = FitDetails(calibration_rows=(("a", 25), ("b", 5)))
        views = Views({"p-value": view}, fit_metrics={"calibration_rows": 30.0}, fit_details=details)
        return dataclasses.replace(result_of(cell, {}, labels, train_rows=60), views=views)

    info = {"d": DatasetInfo(name="d", rows=60, attributes=3, classes=2)}
    run = make_run(
        make_config([entry("naive-bayes", {"conformal": "split", "conformal__mondrian": True})]),
        predict,
        info,
        ["r0"],
    )
    found = result_warnings(run)
    assert [one.code for one in found] == ["level-too-small"]
    assert "in 1 of 2 classes" in found[0].text and "b (5 calibration rows)" in found[0].text


def test_a_level_below_the_smallest_p_value_of_groups_of_each_method():
    """Methods with groups of other columns each have a warning."""
    labels = np.array(["a", "b"] * 30)

    def predict(cell):
        view = Prediction(np.array(["a", "b"]), np.full((60, 2), 0.5), "p-value")
        site = "site" in str(cell.params)
        groups = (
            {"groups": ("site = west",), "rows": (5,)} if site else {"groups": ("age = old",), "rows": (9,)}
        )
        views = Views({"p-value": view}, fit_details=FitDetails(other={DIVISIONS: [groups]}))
        return dataclasses.replace(result_of(cell, {}, labels, train_rows=60), views=views)

    info = {"d": DatasetInfo(name="d", rows=60, attributes=3, classes=2)}
    entries = [entry("tcm-nn", {"k": 1, "by": column}) for column in ("age", "site")]
    texts = " ".join(
        warned.text for warned in result_warnings(make_run(make_config(entries), predict, info, ["r0"]))
    )
    assert "age = old (9 training rows)" in texts and "site = west (5 training rows)" in texts


# ---- a whole run


def command(*arguments) -> SimpleNamespace:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    assert ended.value.code == 0, err.getvalue()
    return SimpleNamespace(out=out.getvalue(), err=err.getvalue())


def config_file(folder: Path, **others) -> Path:
    rows = rows_of()
    dataset = {"name": "d", "csv": write(folder / "d.csv", [*rows, *rows[:7]]), "label": "y"}
    given = {
        "datasets": [dataset],
        "methods": [{"name": "knn", "k": 500}],
        "protocol": {"kind": "holdout", "test-size": 0.5},
        "levels": [0.05],
    }
    (folder / "w.yaml").write_text(json.dumps(given | others))
    return folder / "w.yaml"


def test_each_warning_is_told_once_on_stderr_and_in_every_report(tmp_path):
    """Those on results, such as constant-predictions, are on stderr only if the report is not printed."""
    out = tmp_path / "out"
    ran = command("run", config_file(tmp_path), "--out", out, "--engine", "serial")
    notes = (out / ".run/notes.txt").read_text()
    for code, times in (("duplicate-rows", 1), ("k-too-large", 1), ("constant-predictions", 0)):
        assert ran.out.count(f"[{code}]") == notes.count(f"[{code}]") == 1
        assert ran.err.count(f"[{code}]") == times
    quiet = command("run", config_file(tmp_path), "--out", out, "--engine", "serial", "--quiet")
    assert quiet.err.count("[constant-predictions]") == 1 and not quiet.out
    (tmp_path / "d.csv").unlink()  # reports need no data
    again = command("report", out)
    assert (out / ".run/notes.txt").read_text() == notes
    assert all(again.out.count(f"[{code}]") == 1 for code in ("duplicate-rows", "k-too-large"))


def test_silenced_warnings_are_not_told(tmp_path):
    codes = ["duplicate-rows", "k-too-large", "constant-predictions"]
    config = config_file(tmp_path, silence=codes)
    ran = command("run", config, "--out", tmp_path / "out", "--engine", "serial")
    assert "warning:" not in ran.err + ran.out
    assert not any(f"[{code}]" in ran.err + ran.out for code in codes)
    with pytest.raises(ConfmlError, match="duplicate-rows"):  # the nearest known code
        load_settings(config, ["silence=[duplicate-row]"])


# ---- large data


def made(X: np.ndarray, y: np.ndarray) -> DataSet:
    names = tuple("abcd")
    return DataSet("made", X, y, names, X, names, np.zeros(4, bool), (None,) * 4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ordered", [False, True])
def test_the_first_rows_change_no_finding_of_the_audit(monkeypatch, seed, ordered):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 1500)
    y = np.sort(y) if ordered else y
    X = np.column_stack(
        [y * 7 % 5, y + rng.uniform(0, 0.9, 1500), rng.normal(size=1500), rng.integers(0, 4, 1500)]
    )
    data = made(X.astype(float), y)
    found = [one for one in audit(data) if one.code == "gives-label-away"]
    monkeypatch.setattr("confml.data.audit._FIRST", 10_000)
    assert found == [one for one in audit(data) if one.code == "gives-label-away"]
    assert found[0].columns == ("a", "b")


@pytest.mark.parametrize(
    "grid, chosen, text",
    [
        (
            [0.001, 0.002],
            [0.002, 0.002, 0.001],
            "C = 0.002 is the largest value of its grid, chosen on 2 of 3",
        ),
        ([0.1, 1.0, 10.0], [0.1, 0.1, 0.1], "C = 0.1 is the smallest value of its grid, chosen on 3 of 3"),
        ([0.1, 1.0, 10.0], [0.1, 1.0, 10.0], None),  # no end on most splits
        ([1, 3, 5], [1, 1, 1], None),  # no smaller k
        (["rbf", "linear"], ["rbf"] * 3, None),
    ],
)
def test_a_tuned_value_at_the_end_of_its_grid(grid, chosen, text):
    def predict(cell):
        scores = [{"params": {"C": value}, "mean": 0.9, "sd": 0.0, "folds": [0.9]} for value in grid]
        tuning = {"scores": scores, "chosen": {"C": chosen[int(cell.split[1])]}, "select_by": "accuracy"}
        view = Prediction(np.array(["a", "b"]), np.eye(2) * 0.8 + 0.1, "probability")
        return result_of(cell, {"probability": view}, np.array(["a", "b"]), tuning=tuning)

    info = {"d": DatasetInfo(name="d", rows=40, attributes=3, classes=2)}
    run = make_run(make_config([entry("svc", {})]), predict, info, ["r0", "r1", "r2"])
    texts = [one.text for one in result_warnings(run) if one.code == "end-of-grid"]
    assert [text in warning for warning in texts] == ([] if text is None else [True])
