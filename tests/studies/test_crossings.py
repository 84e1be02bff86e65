"""Crossings of accuracy-rejection curves, on curves that are drawn by hand, and on a small run."""

import csv

import numpy as np
import pytest
import yaml

from confml.config import load_config
from confml.measures.rejection import RejectionCurve
from confml.runner.run import Execution, run
from confml.studies.reproduction.crossings import compare_curves, write_crossings


def curve(errors, always=0):
    steps = np.arange(len(errors))
    return RejectionCurve(1.0 - steps[1:] / len(errors), steps, np.asarray(errors), always)


@pytest.mark.parametrize(
    ("first", "second", "crossings", "shares"),
    [
        ([0, 0, 1, 1, 2], [0, 1, 1, 2, 2], 0, (2, 3, 0)),  # they meet and part on the same side
        ([0, 0, 1, 2, 2], [0, 1, 1, 1, 2], 1, (1, 3, 1)),
        ([0, 1, 1, 2, 2, 3], [0, 0, 1, 1, 2, 2], 0, (0, 3, 3)),
        ([0, 1, 1, 1, 2, 3], [0, 0, 1, 2, 2, 2], 2, (1, 3, 2)),
    ],
)
def test_crossings_and_shares(first, second, crossings, shares):
    found = compare_curves(curve(first), curve(second))
    assert found[0] == crossings
    assert np.allclose(np.array(found[1:]) * len(first), shares)
    assert compare_curves(curve(second), curve(first))[0] == crossings


def test_rates_that_no_threshold_attains_are_left_out():
    first, second = [0, 1, 1, 1, 2], [0, 0, 1, 2, 2]
    assert compare_curves(curve(first), curve(second)) == (1, 0.2, 0.6, 0.2)
    assert compare_curves(curve(first, 2), curve(second, 1)) == (0, 1 / 3, 2 / 3, 0)


def test_pairs_of_methods_over_their_common_splits(tmp_path):
    def folder(name, methods, repeats):
        config = {
            "name": name,
            "datasets": ["wine-sklearn"],
            "methods": methods,
            "protocol": {"kind": "holdout", "repeats": repeats, "test-size": 0.5},
        }
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        run(load_config(str(path)), tmp_path / name, Execution(1))
        return tmp_path / name

    runs = [
        folder(
            "a",
            [{"name": "naive-bayes"}, {"name": "naive-bayes", "numeric": "bins", "label": "bins, MAP"}],
            2,
        ),
        folder("b", [{"name": "naive-bayes", "numeric": "bells", "label": "bells"}], 1),
    ]
    with write_crossings(runs, tmp_path).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["first"], row["second"], row["splits"]) for row in rows] == [("naive-bayes", "bells", "1")]
    assert sum(float(rows[0][name]) for name in ("first_better", "equal", "second_better")) == pytest.approx(
        1
    )
