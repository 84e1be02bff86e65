"""Label-conditional p-values predict well when a class has few examples."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from confml import TCMNN, Conformal


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
    rng = np.random.default_rng(3)
    y, t = rng.integers(0, 2, 600), rng.integers(0, 2, 1000)
    X, T = (rng.normal(size=(len(codes), 4)) + 3.4 * np.outer(codes, [1, 0, 0, 0]) for codes in (y, t))
    errors = []
    for stray in (0, 1, 3, 10):
        rows = np.vstack([X, rng.normal(size=(stray, 4)) + [20, 0, 0, 0]])
        view = method.fit(rows, np.append(y, np.full(stray, 9))).confident_predict(T)["p-value"]
        errors.append(np.mean(view.labels != t))
    assert np.ptp(errors) < 0.02
