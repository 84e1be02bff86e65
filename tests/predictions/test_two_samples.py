"""New rows without labels: two-sample tests and label shift."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import command

import confml
from confml.predictions.two_samples import two_samples


@pytest.fixture
def wines(needs_data, data_folder, tmp_path, monkeypatch):
    """White wines in two random parts, and red wines, with a label of two classes."""
    needs_data("winequality-white", "winequality-red")
    monkeypatch.chdir(tmp_path)
    for colour in ("white", "red"):
        frame = pd.read_csv(data_folder / "winequality" / f"winequality-{colour}.csv", sep=";")
        frame["good"] = np.where(frame.pop("quality") > 5, "yes", "no")
        frame = frame.drop_duplicates().sample(frac=1, random_state=1)
        if colour == "white":
            frame[:800].to_csv("train.csv", index=False)
            frame[800:1100].to_csv("white.csv", index=False)
        else:
            frame[:300].drop(columns="good").to_csv("red.csv", index=False)
    return tmp_path


FIT = ("--train", "train.csv", "--label", "good", "--level", "0.1")


def accuracy(text: str) -> float:
    """Accuracy of the classifier of the two samples in the text of its test."""
    return float(text.partition("accuracy ")[2].split()[0])


def test_red_wine_is_not_white_wine(wines):
    document = json.loads(command("predict", *FIT, "red.csv", "--drift", "--json").stdout)
    tests = {test["test"]: test for test in document["tests"]}
    assert tests["classifier"]["differs"] and tests["features"]["differs"]
    joint, features = (tests[name]["text"] for name in ("classifier", "features"))
    text = command("predict", *FIT, "red.csv", "--drift").stderr  # one verdict, from all tests together
    assert text.count("do not look exchangeable") == 1 == text.count(joint)
    assert "shows that new rows differ" not in text
    assert accuracy(joint) > 0.95 and "p-value" in joint and "'total sulfur dioxide'" in features
    checked = command("data", "check", "train.csv", "--label", "good", "--test", "white.csv", "--json")
    joint, features = json.loads(checked.stdout)["shift"]
    assert 0.4 < accuracy(joint) < 0.6 and "No single feature differs" in features


def test_p_values_of_equal_samples_are_valid():
    p, features = [], []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        rows = np.column_stack([rng.normal(size=160), rng.integers(0, 3, 160), rng.integers(0, 2, 160)])
        samples = two_samples(rows[:100], rows[100:], ["a", "b", "c"], np.array([False, True, True]), seed)
        p.append(samples.joint)
        features.append(min(p_value for _, p_value in samples.features))
        assert abs(samples.accuracy - 0.5) < 5 * 0.5 / np.sqrt(60)
    assert np.mean(np.array(p) <= 0.1) < 0.2 and np.mean(np.array(features) <= 0.1) < 0.2


def test_rare_categories_have_valid_p_values():
    rng, rare, names, coded = (
        np.random.default_rng(0),
        np.r_[0.9, np.full(50, 0.002)],
        ["a"],
        np.array([True]),
    )
    p = []
    for _ in range(100):
        rows = rng.choice(51, (525, 1), p=rare).astype(float)
        p.append(two_samples(rows[:500], rows[500:], names, coded).features[0][1])
    assert np.mean(np.array(p) <= 0.01) < 0.05  # 0.15 with the chi-squared distribution
    unknown = np.where(np.arange(25) < 5, -1.0, rows[500:, 0])[:, None]
    assert two_samples(rows[:500], unknown, names, coded).features[0][1] < 1e-4


def test_samples_that_cannot_be_tested():
    few, constant = np.zeros((5, 2)), np.zeros((60, 2))
    nominal = np.array([False, False])
    assert two_samples(few, constant, "ab", nominal) is None
    same = two_samples(constant, constant, "ab", nominal)
    assert same.joint == 1 and all(p == 1 for _, p in same.features)
    missing = two_samples(constant, np.full((60, 2), np.nan), "ab", nominal)
    assert all(p == 1 for _, p in missing.features) and missing.joint < 1e-6


def test_label_shift_of_new_rows(needs_data, data_folder, tmp_path):
    needs_data("pima")
    path = data_folder / "pima" / "pima-indians-diabetes.data"
    frame = pd.read_csv(path, header=None, names=[*"abcdefgh", "y"]).sample(frac=1, random_state=2)
    train, rest, model = frame[:400], frame[400:], tmp_path / "model.confml"
    new = pd.concat([rest[rest["y"] == 1], rest[rest["y"] == 0][:30]])
    settings = {"label": "y", "method": "naive-bayes", "conformal": "split", "levels": [0.1]}
    weighted = confml.predict(train, new, params={"conformal__shift": "label"}, save=model, **settings)
    assert "only in the frequencies of the 2 classes" in " ".join(weighted.guarantee)
    assert confml.predict(model, new, levels=[0.1]).to_csv() == weighted.to_csv()
    unweighted = confml.predict(train, new, **settings)
    assert coverage(weighted) > coverage(unweighted)  # most new rows are ill, and contained less often
    few = confml.predict(model, new[:30])
    assert any("estimated from only 30 rows" in warning for warning in few.warnings)


def coverage(answers) -> float:
    pairs = zip(answers["label"], answers["region@0.1"], strict=True)
    return float(np.mean([label in region for label, region in pairs]))
