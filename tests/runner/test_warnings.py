"""Each warning of a run, its remedy, and runs without a warning."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from report.report_cases import entry, result_of, run_by_hand
from runner.runs import command, run_serial

from confml.config.warnings import WARNINGS
from confml.data.audit import audit
from confml.data.dataset import DataSet
from confml.data.identifiers import names_subjects
from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.details import FitDetails
from confml.methods.divisions import DIVISIONS
from confml.report.tables.notes import result_warnings
from confml.runner.plan import load_datasets, make_plan
from confml.runner.warnings import audits, run_warnings
from confml.runs import load_settings


def rows_of(n: int = 60, seed: int = 0, classes: str = "ab", column="w", value=lambda i, w: w) -> list[str]:
    """Return the lines of a file, with another last column or other values of it."""
    rng = np.random.default_rng(seed)
    lines = ["y,u,v,w" if column == "w" else f"y,u,v,w,{column}"]
    for i in range(n):
        label = classes[i % len(classes)]
        features = [f"{rng.normal() + classes.index(label):.4f}" for _ in range(3)]
        last = str(value(i, float(features[2])))
        lines.append(",".join([label, *(features[:2] if column == "w" else features), last]))
    return lines


ROWS, FOUR_CLASSES = rows_of(), rows_of(classes="abcd")
WIDE = rows_of(value=lambda i, w: 1000 * w)
NUMBERED = rows_of(column="number", value=lambda i, w: i)
PATIENTS = rows_of(column="patient", value=lambda i, w: 100 + 7 * (i % 13))
GROUPS = rows_of(column="subject", value=lambda i, w: f"g{i}")
COPIES, COPIES_OF_GROUPS = [*ROWS, *ROWS[1:8]], [*GROUPS, *GROUPS[1:8]]
COPIES_IN_OTHER_GROUPS = [*GROUPS, *(f"{line}-other" for line in GROUPS[1:8])]
STANDARD, SUBJECT = {"steps": ["standardise"]}, {"datasets": {"groups": "subject"}}
NEIGHBOURS = "sklearn.neighbors.KNeighborsClassifier"


def using(*entries, **keys):
    return {"methods": list(entries), **keys}


@pytest.mark.parametrize(
    ("rows", "changes", "code", "words"),
    [
        (ROWS, {}, None, ""),
        (ROWS, {"datasets": {"test": "t.csv"}, "protocol": "fixed-split"}, None, ""),
        (WIDE, {}, "unscaled-features", "'w' has 10 times the range .* and tcm-nn depends on the scale"),
        (WIDE, using("sklearn.svm.SVC"), "unscaled-features", r"steps: \[standardise\]"),
        (WIDE, STANDARD, None, ""),
        (WIDE, {"steps": ["min-max"]}, None, ""),
        (WIDE, using("naive-bayes", "sklearn.tree.DecisionTreeClassifier"), None, ""),
        (rows_of(value=lambda i, w: 3 * w), {}, None, ""),
        (NUMBERED, STANDARD, "identifier", r"id: \[number\]"),
        (NUMBERED, STANDARD | {"datasets": {"id": ["number"]}}, None, ""),
        (PATIENTS, STANDARD, "repeated-identifier", r"'patient' \(13 values\).*groups: patient"),
        (PATIENTS, STANDARD | {"datasets": {"groups": "patient"}}, None, ""),
        (COPIES, {}, "duplicate-rows", "7 rows of 67 .* copies of training rows are .* test rows.*groups:"),
        (COPIES_OF_GROUPS, SUBJECT, None, ""),  # copies of one group are never divided
        (COPIES_IN_OTHER_GROUPS, SUBJECT, "duplicate-rows", ""),
        (ROWS, {"levels": [0.95]}, "level-as-confidence", r"may miss 95 % of .*levels: \[0.05\]"),
        (ROWS, {"levels": [0.95, 0.05]}, "level-as-confidence", ""),
        (ROWS, {"levels": [0.05, 0.5]}, None, ""),
        (ROWS, using({"name": "knn", "k": 40}), "k-too-large", r"training set \(40 rows\).*choose k below"),
        (ROWS, using({"name": "knn", "sweep": {"k": [1, 50]}}), "k-too-large", "k = 50 of knn"),
        (ROWS, using({"name": "tcm-nn", "k": 5000}), "k-too-large", r"the training set \(40 rows\)"),
        (ROWS, using({"name": "tcm-nn", "k": 20}), "k-too-large", r"class a \(20 training rows\)"),
        (ROWS, using({"name": NEIGHBOURS, "n_neighbors": 40}), "k-too-large", f"k = 40 of {NEIGHBOURS}"),
        (FOUR_CLASSES, using("ovo-svm", thresholds=[0.5, 0.8]), "votes-below-threshold", "2/4 .* 0.8;"),
        (FOUR_CLASSES, using("ovo-svm", thresholds=[0.5]), None, ""),
        (ROWS, using("ovo-svm", thresholds=[0.8]), None, ""),
    ],
)
def test_warnings_before_a_run(tmp_path, monkeypatch, rows, changes, code, words):
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("\n".join(rows))
    Path("t.csv").write_text("\n".join(rows_of(30, seed=1)))
    values = {"methods": ["tcm-nn"], "protocol": {"kind": "k-fold", "folds": 3}, "levels": [0.1]} | changes
    dataset = {"name": "d", "csv": "d.csv", "label": "y"} | changes.get("datasets", {})
    config = load_settings(values | {"datasets": [dataset]})
    plan = make_plan(config, load_datasets(config))
    warnings = run_warnings(plan, audits(plan))
    assert [warning.code for warning in warnings] == ([] if code is None else [code])
    for warning in warnings:
        assert code in WARNINGS and warning.remedy and warning.text.endswith(f"[{code}]")
        assert re.search(words, warning.text)


def test_names_of_subjects():
    values = 100.0 + np.arange(60) % 13
    for name in ("patient", "PatientID", "store_id", "customer no", "batch"):
        assert names_subjects(name, values, False), name
    for name in ("age_group", "family_size", "user_rating", "width", "zip_code"):
        assert not names_subjects(name, values, False), name
    kinds = np.arange(1200) % 7.0
    assert names_subjects("PERSON", kinds[:300], True) and not names_subjects("PERSON", kinds, True)


@pytest.mark.parametrize("ordered", [False, True])
def test_features_of_many_rows_that_give_the_label_away(ordered):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    y = np.sort(y) if ordered else y
    random = rng.normal(size=2000), rng.integers(0, 4, 2000)
    X, names = np.column_stack([y * 7 % 5, y + rng.uniform(0, 0.9, 2000), *random]), tuple("abcd")
    data = DataSet("made", X, y, names, X, names, np.zeros(4, bool), (None,) * 4)
    (finding,) = [finding for finding in audit(data) if finding.code == "gives-label-away"]
    assert finding.columns == ("a", "b")


# ---- results

CLASSES = np.array(["a", "b"])
TCM_NN = (entry("tcm-nn", {"k": 1}),)
SPLIT = {"conformal": "split", "conformal__mondrian": True}
BY_AGE, BY_SITE = (entry("tcm-nn", {"k": 1, "by": column}) for column in ("age", "site"))


def warned(predicted, truth, methods=TCM_NN, facts=lambda cell: ({}, {}), splits=2):
    """Return the warnings on p-values of 0.9 and 0.01; ``facts(cell)`` gives the details and the result."""

    def predict(cell):
        details, values = facts(cell)
        scores = np.where(np.array(predicted)[:, None] == CLASSES, 0.9, 0.01)
        view = Prediction(CLASSES, scores, "p-value", extra=values.pop("extra", {}))
        return result_of(cell, view, truth, fit_details=FitDetails(**details), **values)

    return result_warnings(run_by_hand(methods, predict, splits=splits, rows=60))


@pytest.mark.parametrize(
    ("predicted", "truth", "is_constant"),
    [
        ("aaaaaa", "aaaabb", True),
        ("aaaaab", "aaaabb", False),
        ("aaaaaa", "aaaaaa", False),  # there is no other class
        ("aaaa", "aaab", False),  # only 8 rows
    ],
)
def test_constant_predictions_over_all_splits(predicted, truth, is_constant):
    warnings = warned([*predicted], [*truth])
    assert [warning.code for warning in warnings] == ["constant-predictions"] * is_constant
    sentence = "tcm-nn k=1 predicts class a for all 12 test rows"
    assert all(warning.sentence == sentence and warning.dataset == "d" for warning in warnings)


def of_groups(cell):
    name, rows = ("site = west", 5) if cell.params["by"] == "site" else ("age = old", 9)
    return {"other": {DIVISIONS: [{"groups": (name,), "rows": (rows,)}]}}, {}


def of_classes(cell):
    return {"calibration_rows": (("a", 25), ("b", 5))}, {"fit_metrics": {"calibration_rows": 30.0}}


def of_smoothed(cell):
    return {}, {"train_rows": 18, "extra": {"tau": np.full(60, 0.5)}}


@pytest.mark.parametrize(
    ("methods", "facts", "words"),
    [
        (TCM_NN, lambda cell: ({}, {"train_rows": 19}), []),
        (TCM_NN, lambda cell: ({}, {"train_rows": 18}), ["1/19"]),
        (TCM_NN, of_smoothed, []),
        ([entry("naive-bayes", SPLIT)], of_classes, ["in 1 of 2 classes .* b .5 calibration rows"]),
        # Methods with groups of other columns each have a warning.
        ([BY_AGE, BY_SITE], of_groups, ["age = old .9 training rows", "site = west .5 training rows"]),
    ],
)
def test_a_level_below_the_smallest_p_value(methods, facts, words):
    labels = ["a", "b"] * 30
    warnings = warned(labels, labels, methods, facts)
    assert [warning.code for warning in warnings] == ["level-too-small"] * len(words)
    assert all(re.search(*pair) for pair in zip(words, [warning.text for warning in warnings], strict=True))


@pytest.mark.parametrize(
    "grid, chosen, text",
    [
        ([0.001, 0.002], [0.002, 0.002, 0.001], "C = 0.002 is the largest value of its grid"),
        ([0.1, 1.0, 10.0], [0.1, 0.1, 0.1], "C = 0.1 is the smallest value of its grid, chosen on 3 of 3"),
        ([0.1, 1.0, 10.0], [0.1, 1.0, 10.0], None),  # no end on most splits
        ([1, 3, 5], [1, 1, 1], None),  # no smaller k
        (["rbf", "linear"], ["rbf"] * 3, None),
    ],
)
def test_a_tuned_value_at_the_end_of_its_grid(grid, chosen, text):
    def facts(cell):
        scores = [{"params": {"C": value}, "mean": 0.9, "sd": 0.0, "folds": [0.9]} for value in grid]
        selected = {"C": chosen[int(cell.split[1])]}
        return {}, {"tuning": {"scores": scores, "chosen": selected, "select_by": "accuracy"}}

    warnings = warned(["a", "b"], ["a", "b"], [entry("svc", {})], facts, splits=3)
    texts = [warning.text for warning in warnings if warning.code == "end-of-grid"]
    assert [text in warning for warning in texts] == ([] if text is None else [True])


# ---- a whole run

CODES = ("duplicate-rows", "k-too-large", "constant-predictions")


def write_config(folder: Path, **changes) -> Path:
    (folder / "d.csv").write_text("\n".join(COPIES))
    values = {
        "datasets": [{"name": "d", "csv": str(folder / "d.csv"), "label": "y"}],
        "methods": [{"name": "knn", "k": 500}],
        "protocol": {"kind": "holdout", "test-size": 0.5},
        "levels": [0.05],
    }
    (folder / "w.yaml").write_text(json.dumps(values | changes))
    return folder / "w.yaml"


def test_each_warning_is_printed_once_and_is_in_every_report(tmp_path):
    """Those on results, such as constant-predictions, are on stderr only if the report is not printed."""
    config, out = write_config(tmp_path), tmp_path / "out"
    ran = run_serial(config, out)
    notes, summary = (out / ".run/notes.txt").read_text(), (out / "summary.json").read_text()
    for code, times in zip(CODES, (1, 1, 0), strict=True):
        assert [text.count(f"[{code}]") for text in (ran.stdout, notes, summary)] == [1, 1, 1]
        assert ran.stderr.count(f"[{code}]") == times
    quiet = run_serial(config, out, "--quiet")
    assert quiet.stderr.count("[constant-predictions]") == 1 and not quiet.stdout
    (tmp_path / "d.csv").unlink()  # reports need no data
    again = command("report", out)
    assert (out / ".run/notes.txt").read_text() == notes
    assert all(again.stdout.count(f"[{code}]") == 1 for code in CODES)


def test_silenced_warnings_are_not_printed(tmp_path):
    config = write_config(tmp_path, silence=CODES)
    ran = run_serial(config, tmp_path / "out")
    assert not any(word in ran.stderr + ran.stdout for word in ("warning:", *(f"[{code}]" for code in CODES)))
    with pytest.raises(ConfmlError, match="duplicate-rows"):  # the nearest known code
        load_settings(config, ["silence=[duplicate-row]"])
