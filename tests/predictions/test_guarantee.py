"""The guarantee that `confml.predict` states, and its tests of exchangeability."""

import json
import re
import types

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal
from sklearn.preprocessing import StandardScaler

import confml
from confml import TCMNN
from confml.config import make_config
from confml.config.schema import StepSpec
from confml.errors import ConfigError
from confml.measures import Case, Context
from confml.measures.prediction import Prediction
from confml.predictions.batch import Output
from confml.predictions.exchangeability import outside_probability
from confml.report.answers.promises import promised
from confml.report.tables.notes import step_notes


def sentences(train, new, **options) -> str:
    """All sentences on a fit and its new rows, and its tests."""
    messages: list[str] = []
    answers = confml.predict(train, new, label="y", say=messages.append, **options)
    return " ".join([*messages, *(test["text"] for test in answers.tests)])


def two_classes(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    return pd.DataFrame({"a": rng.normal(size=rows) + 3 * y, "b": rng.normal(size=rows), "y": y})


def zipf(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 41)
    y = rng.choice(40, rows, p=weights / weights.sum())
    return pd.DataFrame(
        {"a": rng.normal(size=rows) + 3 * (y % 7), "b": rng.normal(size=rows) + 3 * (y // 7), "y": y}
    )


def test_a_probability_below_1_is_not_called_100_percent():
    text = sentences(two_classes(60, 0), two_classes(9, 1), levels=(1e-6, 0.2), steps=[])
    assert "at least 99.9999 % at level 1e-06, 80 % at level 0.2" in text


@pytest.mark.parametrize(
    ("method", "k", "words"),
    [("tcm-nn", 2, "its smallest class (2 rows)"), ("knn", 8, "the training set (8 rows)"), ("knn", 7, None)],
)
def test_too_many_neighbours_are_noted(method, k, words):
    train = two_classes(8, 0).assign(y=[0, 0, *[1] * 6])
    answers = confml.predict(train, train, label="y", method=method, params={"k": k}, levels=(0.2,))
    text = " ".join(answers.warnings)
    assert ("is not smaller than" in text) == (words is not None) and (words or "") in text


# ---- classes without training rows


@pytest.mark.parametrize("options", [{}, {"mondrian": True}, {"method": "naive-bayes", "conformal": "split"}])
def test_the_guarantee_is_for_labels_of_the_training_classes(options):
    train, new = zipf(60, 0), zipf(2000, 1)
    text = sentences(train, new, levels=(0.05, 0.2), **options)
    counts = train["y"].value_counts()
    s, classes = int((counts == 1).sum()), len(counts)
    assert f"the label is one of the {classes} training classes." in text
    assert f"{s} of 60 training rows are the only ones of their class. About {s}/60 =" in text
    assert f"at most {s + 1}/61 in expectation" in text
    absent = ~new["y"].isin(set(train["y"]))
    assert f"{absent.sum()} rows have a class that is absent from the training rows" in text
    of_seen = float(re.search(r"coverage of the other rows ([0-9.]+) % at 0.05", text).group(1))
    overall = float(re.search(r"coverage ([0-9.]+) % at 0.05", text).group(1))
    assert of_seen >= 94 and overall < 90  # the absent classes are not part of the guarantee
    assert "do not look exchangeable" not in text


# ---- the costly class


def loans(rows: int, seed: int) -> pd.DataFrame:
    """12 % "yes", which overlap with "no"."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(rows) < 0.12, "yes", "no")
    return pd.DataFrame({"a": rng.normal(size=rows) + 1.2 * (y == "yes"), "b": rng.normal(size=rows), "y": y})


def test_a_class_that_regions_contain_too_rarely_is_named():
    train, new = loans(1000, 0), loans(600, 1)
    options = {"label": "y", "method": "naive-bayes", "conformal": "split", "levels": [0.05, 0.1]}
    messages: list[str] = []
    answers = confml.predict(train, new, say=messages.append, **options)
    contains = [label in region for label, region in zip(new["y"], answers["region@0.05"], strict=True)]
    of_class = np.array(contains)[new["y"] == "yes"].mean()
    assert of_class < 0.8
    (sentence,) = [text for text in messages if text.startswith("Class ")]
    assert f"Class yes: the regions cover {100 * of_class:.3g} %" in sentence and "too low" in sentence
    assert any("--mondrian guarantees" in text and "19 calibration rows" in text for text in messages)
    confml.predict(train, new, say=messages.append, mondrian=True, **options)
    confml.predict(train, new, say=messages.append, **options | {"conformal": None})
    assert sum(text.startswith("Class ") for text in messages) == 1


# ---- selected parameters and fitted steps


CONFIG = {
    "datasets": [{"name": "train", "csv": "train.csv", "label": "y"}],
    "methods": [{"name": "tcm-nn", "tune": {"k": [1, 3, 5]}}],
    "steps": [],
    "protocol": "k-fold",
}


@pytest.fixture
def frames(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tuned.json").write_text(json.dumps(CONFIG))
    frames = two_classes(60, 0), two_classes(20, 1)
    for name, frame in zip(("train", "new"), frames, strict=True):
        frame.to_csv(f"{name}.csv", index=False)
    return frames


def guarantee_of(*arguments) -> str:
    answers = json.loads(command("predict", "tuned.json", "new.csv", *arguments, "--json").stdout)
    return " ".join(answers["guarantee"])


def test_a_selected_parameter_makes_the_bound_approximate(frames):
    assert "is approximate, because k is selected with the labels of the training rows." in guarantee_of()
    guarantee = guarantee_of("--set", "steps=[standardise]")
    assert "labels of the training rows, and standardise is fitted to the training rows" in guarantee
    assert "is approximate" not in guarantee_of("--param", "k=3")


def test_the_selection_part_is_not_counted_by_p_values(frames):
    train, new = frames
    options = ("--selection-part", 0.3, "--set", "steps=[standardise]", "--save", "m.confml")
    guarantee = guarantee_of(*options)
    assert "is approximate" not in guarantee and "fitted to 42 rows" in guarantee
    model = confml.load_model("m.confml")
    assert model.facts.selection_rows == 18 and model.facts.fitted_rows == model.facts.counted_rows == 42
    # Literally: the 42 rows, scaled by the means of the 18 others.
    counted = sorted({int(line) - 2 for line in model.neighbours.lines.tolist()})
    scaler = StandardScaler().fit(train.drop(index=counted)[["a", "b"]].to_numpy())
    X, X_new = (scaler.transform(frame[["a", "b"]].to_numpy()) for frame in (train.loc[counted], new))
    method = TCMNN(k=model.facts.params["k"]).fit(X, train.loc[counted, "y"].to_numpy())
    answers = confml.predict(model, new)[["p[0]", "p[1]"]].to_numpy()
    assert answers == pytest.approx(method.predict_p_values(X_new), abs=1e-12)


def test_selection_parts_that_do_not_fit(frames):
    fit = ("predict", "--train", "train.csv", "--label", "y", "new.csv", "--selection-part")
    error = refusal(*fit, "0.3", "--method", "knn", "--conformal", "split")
    assert "cannot be combined with a method that has a calibration part" in str(error)
    assert "leaves 1 of 60" in str(refusal(*fit, "0.01"))
    with pytest.raises(ConfigError, match="selection_part must be above 0 and below 1"):
        confml.predict(*frames, label="y", selection_part=2)


def test_a_run_says_that_the_bound_is_approximate():
    methods = [*CONFIG["methods"], {"name": "knn", "tune": {"k": [1, 3]}}]

    def notes(*steps):
        values = {"name": "run", "datasets": ["iris"], "methods": methods, "steps": steps}
        return step_notes(make_config(values | {"protocol": "k-fold"}))

    (note,) = notes()
    assert note.startswith("tcm-nn: the bound of its p-values is approximate, because k is selected")
    (note,) = notes("standardise")
    assert "because k is selected with the labels of the training rows, and standardise is fitted" in note
    note, *_ = notes("standardise", "tomek-links")
    assert note.startswith("tcm-nn: ") and "standardise" not in note


# ---- exchangeability


def test_a_choice_of_methods_has_an_exact_bound():
    train, new = two_classes(120, 1), two_classes(60, 2)
    options = {"method": "naive-bayes", "conformal": "split"}
    text = sentences(train, new, **options, params={"conformal__best_of": ["knn"]})
    assert "approximate" not in text and "Markov's inequality" in text and "beta-binomial" not in text


@pytest.mark.parametrize("options", [{"method": "naive-bayes", "conformal": "split"}, {"mondrian": True}])
def test_changed_labels_contradict_exchangeability(options):
    train, new = two_classes(300, 0), two_classes(400, 1)
    assert "None of 3 tests shows that new rows differ" in sentences(train, new, levels=[0.1], **options)
    new["y"] = np.where(np.random.default_rng(2).random(400) < 0.3, 1 - new["y"], new["y"])
    text = sentences(train, new, levels=[0.1], **options)
    assert "None of 3 tests" not in text and "do not look exchangeable with the training rows" in text
    text = sentences(train, new.drop(columns="y"), levels=[0.1], **options)
    assert "without labels a change of the labels is not detected" in text


@pytest.mark.parametrize("method", ["tcm-nn", "naive-bayes"])
def test_features_outside_the_training_range_are_named(method):
    train, new = two_classes(100, 0), two_classes(50, 1)
    new["b"] += 20
    text = sentences(train, new.drop(columns="y"), method=method)
    assert "50 of 50 rows (100 %) are outside the training range of a feature (at most 3.96 %" in text
    assert "'b' (50)" in text and "The new rows do not look exchangeable" in text


@pytest.mark.parametrize(("n", "m", "outside"), [(5, 20, 1), (10, 15, 3), (1, 9, 1), (30, 60, 0)])
def test_the_probability_of_values_above_all_others(n, m, outside):
    rng = np.random.default_rng(0)
    values = rng.random((20_000, m + n))
    above = (values[:, m:] > values[:, :m].max(axis=1, keepdims=True)).sum(axis=1)
    p = outside_probability(outside, n, m)
    assert np.mean(above >= outside) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 20_000) + 1e-12)


@pytest.mark.parametrize(
    "steps", [["standardise"], ["tomek-links"], ["standardise", "select-attributes"], []]
)
@pytest.mark.parametrize("conformal", [None, "split"])
def test_predictions_and_runs_have_the_same_promise(steps, conformal):
    """The regions of a run and those of new rows have a bound, an approximate one or none, for one reason."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).assign(y=np.arange(60) % 2)
    method = "tcm-nn" if conformal is None else "knn"
    new = frame[:5].drop(columns="y")
    answers = confml.predict(frame, new, label="y", method=method, steps=steps, conformal=conformal)
    text = " ".join(answers.guarantee)
    params = {} if conformal is None else {"conformal": conformal}
    prediction = Prediction(np.arange(2), np.array([[0.5, 0.2]]), "p-value")
    case = Case(prediction, np.zeros(1, int), context=Context(60, {0: 30, 1: 30}, params))
    reasons = promised(case, types.SimpleNamespace(steps=[StepSpec(name=name) for name in steps], noise=None))
    assert ("no coverage is guaranteed, because" in text) == (reasons is None)
    assert ("is approximate, because " in text) == ("with probability about" in text) == bool(reasons)
    assert all(reason in text for reason in reasons or [])


def test_levels_that_are_equal_after_rounding_are_one_level():
    assert Output((0.1, 1 - 0.9, 0.05)).levels == (0.1, 0.05)
    values = {"name": "a", "datasets": ["iris"], "methods": ["tcm-nn"], "protocol": {"kind": "holdout"}}
    with pytest.raises(ConfigError, match="is listed twice"):
        confml.run(values | {"levels": [0.1, 1 - 0.9]})
