"""GenSVM: its objective, its gradient, and its minimum against iterative majorisation."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import gen_svm as naive
from trials import clouds, more_of

from confml.methods.svm.gen_svm import GenSVM

KAPPAS, POWERS, WEIGHTS = (-0.9, 0.5, 5.0), (1.0, 1.5, 2.0), ("unit", "group")


def rows_of(rows=60, classes=4, d=3, seed=0):
    """Overlapping classes, features in [0, 1]."""
    X, y, _ = clouds(rows, classes, d, seed)
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


# Points of the paper's grid, with each kappa, p and weights among the first four.
CASES = list(itertools.product(KAPPAS, POWERS, WEIGHTS))


@pytest.mark.parametrize("number", [2, 7, 12, 17, *more_of(range(18))])
def test_the_objective_is_no_higher_than_that_of_majorisation(number):
    kappa, p, weights = CASES[number]
    X, y = rows_of(rows=18, classes=3, d=2, seed=number)
    ridge = 2.0 ** (7 * number % 37 - 18)  # the paper's are from 2^-18 to 2^18
    model = GenSVM(ridge=ridge, kappa=kappa, p=p, weights=weights).fit(X, y)
    _, objectives = naive.majorise(X, y, ridge, kappa, p, weights, steps=1200)
    assert (np.diff(objectives[:50]) <= 1e-12).all(), "majorisation never goes up"
    ours = naive.objective(model.coefficients_, X, y, ridge, kappa, p, weights)
    assert ours == pytest.approx(model.objective_, rel=1e-9)
    assert ours <= objectives.min() * (1 + 1e-6)


def test_an_example_belongs_to_the_nearest_corner():
    X, y = rows_of()
    model = GenSVM(ridge=2.0**-8).fit(X, y)
    view = model.confident_predict(X)["margin"]
    Z = X @ model.coefficients_[1:] + model.coefficients_[0]
    away = np.linalg.norm(Z[:, None] - model.corners_, axis=2)
    assert_array_equal(view.labels, away.argmin(axis=1))
    # q between the two nearest is half the difference of their squared distances
    two = np.sort(away**2, axis=1)[:, :2]
    assert_allclose(view.confidence, (two[:, 1] - two[:, 0]) / 2, atol=1e-12)
