"""``confml bayes-error-estimators``."""

from __future__ import annotations

import csv
import json

import pytest
from commands.bayes_error_cases import refused, run

from confml.bayes_error.label_noise import ABOUT
from confml.commands.bayes_error_estimators import bayes_error_estimators


def test_comparison_of_estimators(tmp_path):
    out, _ = run(
        "--problems", "near,mixture", "--features", "2,3", "--rows", "60,200", "--trials", 2, "-j", 1,
        "--out", tmp_path, command=bayes_error_estimators,
    )  # fmt: skip
    best = list(csv.DictReader((tmp_path / "best.csv").open(encoding="utf-8")))
    assert [(row["problem"], row["features"], row["rows"]) for row in best] == [
        *(("near", d, n) for d in "23" for n in ("60", "200")),
        *(("mixture", "2", n) for n in ("60", "200")),
    ]
    points = list(csv.DictReader((tmp_path / "estimators.csv").open(encoding="utf-8")))
    for row in best:
        here = {
            point["estimator"]: point
            for point in points
            if (point["problem"], point["features"], point["rows"])
            == (row["problem"], row["features"], row["rows"])
        }
        assert ("k-nn-limit" in here) == (row["rows"] == "200")
        tried = {name: float(here[name]["rmse"]) for name in ABOUT if name in here}
        assert row["best"] == min(tried, key=tried.get) and float(row[row["best"]]) == min(tried.values())
        assert float(here["soft-labels"]["rmse"]) < 0.1
        for point in here.values():
            assert float(point["bias"]) == pytest.approx(float(point["mean"]) - float(point["truth"]))
    assert (tmp_path / "figures" / "estimators.svg").stat().st_size > 5000 and "near: two Gaussians" in out
    again = json.loads(
        run(
            "--problems", "near", "--features", 3, "--rows", 60, "--trials", 2, "-j", 2, "--json", "-q",
            command=bayes_error_estimators,
        )[0]
    )  # fmt: skip
    alone = {point["estimator"]: point["mean"] for point in again["points"]}
    here = [
        point
        for point in points
        if (point["problem"], point["features"], point["rows"]) == ("near", "3", "60")
    ]
    assert alone == {point["estimator"]: float(point["mean"]) for point in here}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--problems", "nar"], "did you mean 'near'"),
        (["--features", "2.5"], "comma-separated whole numbers"),
        (["--rows", "5"], "10 rows"),
        (["--problems", "mixture", "--features", "3"], "mixture has 2 features"),
    ],
)
def test_comparisons_that_cannot_be(arguments, words):
    assert words in str(refused(*arguments, command=bayes_error_estimators))
