"""Label-conditional p-values predict well when a class has few examples."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from confml import TCMNN, Conformal


def with_stray_rows(stray: int):
    """Return 600 training rows of two classes and ``stray`` of a third, and 1,000 new rows of the two."""
    rng = np.random.default_rng(3)
    y, t = rng.integers(0, 2, 600), rng.integers(0, 2, 1000)
    X, T = rng.normal(size=(600, 4)), rng.normal(size=(1000, 4))
    X[:, 0] += 3.4 * y
    T[:, 0] += 3.4 * t
    X = np.vstack([X, rng.normal(size=(stray, 4)) + [20, 0, 0, 0]])
    return X, np.append(y, np.full(stray, 9)), T, t


@pytest.mark.parametrize(
    "method",
    [
        TCMNN(mondrian=True),
        Conformal(GaussianNB(), mondrian=True, random_state=1),
        Conformal(GaussianNB(), by="label", random_state=1),
    ],
    ids=["tcm-nn", "mondrian", "by label"],
)
def test_stray_rows_of_a_class_do_not_change_the_error(method):
    errors = []
    for stray in (0, 1, 3, 10):
        X, y, T, t = with_stray_rows(stray)
        view = method.fit(X, y).confident_predict(T)["p-value"]
        errors.append(np.mean(view.labels != t))
    assert np.ptp(errors) < 0.02
