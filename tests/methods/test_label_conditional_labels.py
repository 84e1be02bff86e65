"""Label-conditional p-values predict well when a class has few examples."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from confml import TCMNN, Conformal


def error(method, stray: int) -> float:
    """Return the error on new rows of two classes, after training with ``stray`` rows of a third."""
    rng = np.random.default_rng(0)
    y, t = rng.integers(0, 2, 600), rng.integers(0, 2, 1000)
    X, T = rng.normal(size=(600, 4)), rng.normal(size=(1000, 4))
    X[:, 0] += 3.4 * y
    T[:, 0] += 3.4 * t
    X = np.vstack([X, rng.normal(size=(stray, 4)) + [20, 0, 0, 0]])
    labels = method.fit(X, np.append(y, np.full(stray, 9))).confident_predict(T)["p-value"].labels
    return float(np.mean(labels != t))


@pytest.mark.parametrize("stray", [1, 3, 10])
@pytest.mark.parametrize(
    "method",
    [
        lambda: TCMNN(mondrian=True),
        lambda: Conformal(GaussianNB(), mondrian=True, random_state=1),
        lambda: Conformal(GaussianNB(), by="label", random_state=1),
    ],
    ids=["tcm-nn", "mondrian", "by label"],
)
def test_stray_rows_of_a_class_do_not_change_the_error(method, stray):
    assert error(method(), stray) == pytest.approx(error(method(), 0), abs=0.02)
