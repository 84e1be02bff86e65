"""Attributes selected by the Bayes error."""

from __future__ import annotations

import numpy as np
import pytest

from confml.bayes_error.selection import sample_by_class, select_attributes
from confml.steps.registry import build_step


def test_the_step_keeps_what_the_selection_takes():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, size=120)
    X = rng.normal(size=(120, 5))
    X[:, 3] += 4 * y
    X[:, 1] += 3 * (y == 1)
    step = build_step("select-by-bayes-error", {"attributes": 2, "trees": 1}).fit(X, y)
    expected = select_attributes(X, y, 2, trees=1)
    assert step.kept_columns_.tolist() == sorted(expected.attributes.tolist()) and 3 in step.kept_columns_
    assert step.transform(X[:4]).tolist() == X[:4, step.kept_columns_].tolist()
    assert step.fit_metrics_ == {
        "kept_attributes": 2.0,
        "removed_attributes": 3.0,
        "criterion": expected.criterion[-1],
    }
    one = build_step("select-by-bayes-error", {"attributes": 9}).fit(X, y)
    assert one.kept_columns_.tolist() == [0, 1, 2, 3, 4] and "criterion" not in one.fit_metrics_
    same = [
        build_step("select-by-bayes-error", {"attributes": 1, "rows": 60}).fit(X, y, np.random.default_rng(1))
        for _ in range(2)
    ]
    assert same[0].kept_columns_.tolist() == same[1].kept_columns_.tolist() == [3]


def test_the_step_reads_codes_as_categories():
    """Codes 0, 1, 2 in an order that says nothing: as 0/1 columns they tell the class, as numbers less."""
    y = np.tile([0, 1, 0], 30)
    X = np.column_stack([np.tile([0.0, 1.0, 2.0], 30), np.random.default_rng(0).normal(size=90)])
    step = build_step("select-by-bayes-error", {"attributes": 1})
    step.nominal = np.array([True, False])
    assert step.fit(X, y).kept_columns_.tolist() == [0]
    order = sample_by_class(y, None, np.random.default_rng(0))  # the three codes are equally far apart
    dummies = (X[order][:, [0]] == [0, 1, 2]).astype(float)
    assert step.criterion_ == pytest.approx(
        select_attributes(dummies, y[order], 1, groups=[[0, 1, 2]]).criterion[0]
    )


def test_rows_sorted_by_class_do_not_decide_ties_in_the_step():
    """A useless attribute of two values: the tree joins equal rows to the first of them, so with the larger
    class first only rows of the smaller one cross, always; in random order either may come first."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [150, 50])
    X = np.column_stack([rng.integers(0, 2, size=200), np.zeros(200)])
    as_given = select_attributes(X, y, 1).criterion[0]
    step = build_step("select-by-bayes-error", {"attributes": 1})
    found = [step.fit(X, y, np.random.default_rng(seed)).criterion_ for seed in range(12)]
    assert min(found) < 0.95 and max(found) > as_given + 0.05
    assert step.breaks_exchangeability  # it looks at the labels of the training examples
