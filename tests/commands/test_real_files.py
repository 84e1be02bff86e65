"""Ten jobs of a new user with real files: plain tables without a card, and the documented commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

import confml
from confml.cli import cli
from confml.data import load
from confml.errors import ConfmlError

pytestmark = pytest.mark.real_data


def run(*arguments, fails: str | None = None):
    result = CliRunner().invoke(cli, [str(one) for one in arguments])
    words = f"{result.stdout}\n{result.stderr}\n{result.exception or ''}"
    if fails is None:
        assert result.exit_code == 0, words
    else:
        assert result.exit_code and fails in words and "Traceback" not in words, words
    return result


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write a data set as ``train.csv`` and ``new.csv`` (with labels) of the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, rows: int, **columns: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        try:
            frame = load({"name": name}).to_frame()
        except ConfmlError as error:
            pytest.skip(str(error))
        frame = frame.rename(columns=columns).sample(n=min(rows, len(frame)), random_state=3)
        train, new = frame[: 2 * len(frame) // 3], frame[2 * len(frame) // 3 :]
        train.to_csv("train.csv", index=False)
        new.to_csv("new.csv", index=False)
        return train, new

    return write


def answers(path="o.csv") -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False)


def within_band(covered: float, level: float, rows: int) -> bool:
    return covered >= 1 - level - 3 * np.sqrt(level * (1 - level) / rows) - 0.02


def test_categories_and_costs(files):
    """Job 1: a config for a file of categories; costs choose between regions and decisions."""
    train, new = files("nursery", 900, label="advice")
    train = train[train["advice"] != "very_recom"]
    train.to_csv("train.csv", index=False)
    run("init", "train.csv", "--label", "advice", fails="(--nominal COLUMN)")  # 1, 2, 3 and more
    run("init", "train.csv", "--label", "advice", "--nominal", "children", "--out", "c.yaml")
    config = yaml.safe_load(Path("c.yaml").read_text())
    assert set(config["datasets"][0]["nominal"]) == set(train) - {"advice"}
    classes = sorted(set(train["advice"]))
    costs = {true: {guess: 1 for guess in classes if guess != true} for true in classes}
    Path("costs.yaml").write_text(yaml.safe_dump({"matrix": costs, "abstain": 0.3}))
    given = ("--train", "train.csv", "--label", "advice", "--nominal", "children", "--conformal", "split")
    given += ("--method", "naive-bayes")
    result = run("predict", *given, "--level", 0.1, "--costs", "costs.yaml", "new.csv", "--out", "o.csv")
    rows = answers()
    assert set(rows["decision"]) <= {*classes, "abstain"} and (rows["expected_cost"] <= 0.3).all()
    certain = rows["reason@0.1"] == "certain"
    assert certain.any() and (rows.loc[certain, "region@0.1"] == rows.loc[certain, "prediction"]).all()
    assert "mean cost of the decisions" in result.stderr


def test_many_numeric_columns(files):
    """Job 2: 60 numeric columns: audit, fit, coverage within its band."""
    _, new = files("sonar", 208, label="object")
    checked = json.loads(run("data", "check", "train.csv", "--label", "object", "--json").stdout)
    assert len(checked["features"]) == 60 and not checked["categorical"]
    run("predict", "--train", "train.csv", "--label", "object", "new.csv", "--level", 0.1, "--out", "o.csv")
    pairs = zip(answers()["region@0.1"], new["object"], strict=True)
    assert within_band(np.mean([label in region.split("|") for region, label in pairs]), 0.1, len(new))


def test_six_small_classes(files):
    """Job 3: six classes, some of them rare: named by the audit, and by a guarantee per class."""
    train, _ = files("flare", 180, label="class")
    checked = run("data", "check", "train.csv", "--label", "class").stdout
    smallest = train["class"].value_counts().iloc[-1]
    assert "rare-classes: " in checked and f"at least {1 / (smallest + 1):.2g}" in checked
    result = run(
        "predict", "--train", "train.csv", "--label", "class", "--mondrian", "new.csv", "--out", "o.csv"
    )
    assert (
        "for each class" in result.stderr
        and "is below the smallest possible p-value for class" in result.stderr
    )
    assert len(answers().filter(regex=r"^p\[").columns) == train["class"].nunique()


def test_own_classifier(files):
    """Job 9: a class of an own module: named in the config, permitted by name, scored as the others."""
    files("yeast", 500, label="site")
    Path("centroids.py").write_text(
        "from sklearn.neighbors import NearestCentroid\n\n\nclass Centroids(NearestCentroid):\n    pass\n"
    )
    sys.path.insert(0, "")
    try:
        run("init", "train.csv", "--label", "site", "--out", "c.yaml")
        config = yaml.safe_load(Path("c.yaml").read_text())
        config["methods"] = [
            {"name": "centroids.Centroids", "conformal": "split", "label": "own"}, {"name": "knn", "k": 5}
        ]  # fmt: skip
        config["protocol"] = {"kind": "k-fold", "folds": 3}
        Path("c.yaml").write_text(yaml.safe_dump(config))
        run("run", "c.yaml", "-j", 1, fails="--allow-import centroids")
        run("run", "c.yaml", "-j", 1, "--allow-import", "centroids", "--out", "r", "--quiet")
    finally:
        sys.path.remove("")
        sys.modules.pop("centroids", None)
    table = confml.load_run("r").table()
    assert list(dict.fromkeys(table["method"])) == ["own", "knn k=5", "majority-class"]


def test_numbers_as_people_write_them(files):
    """Job 10: thousands, percent and currency signs are read; a decimal comma and no header are named."""
    train, _ = files("page-blocks", 900, label="kind")
    written = train.assign(
        area=[f"{value:,.0f}" for value in train["area"] * 1000],
        p_black=[f"{100 * value:.1f} %" for value in train["p_black"]],
        blackpix=[f"${value:,.2f}" for value in train["blackpix"]],
    )
    written.to_csv("money.csv", index=False)
    checked = json.loads(run("data", "check", "money.csv", "--label", "kind", "--json").stdout)
    assert not checked["categorical"] and sum("are read as numbers" in one for one in checked["notes"]) == 3
    train.to_csv("comma.csv", index=False, sep=";", decimal=",")
    run("data", "check", "comma.csv", "--label", "kind", fails="--decimal ,")
    assert 'decimal: ","' in run("init", "comma.csv", "--label", "kind", "--out", "-").stdout
    train.to_csv("plain.csv", index=False, header=False)
    run("data", "check", "plain.csv", "--label", "kind", fails="--no-header")
    run("data", "check", "plain.csv", "--label", f"column-{train.shape[1]}", "--no-header")
