"""Binary machines in threads: the same bytes for 1, 2 and 16."""

import numpy as np
import pytest

import confml
from confml import OvOSVM, OvRSVM, SmartSVM
from confml.errors import ConfmlError


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("kind", [OvOSVM, OvRSVM, SmartSVM])
def test_same_bytes_for_any_number_of_threads(kind, solver):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 30)
    X = rng.normal(size=(150, 4)) + y[:, None] * [1.0, -1.0, 0.5, 0.0]
    found = []
    for n in (1, 2, 16):
        with confml.threads(n):
            method = kind(solver=solver, random_state=3)
            path = list(method.evaluate_path(X, y, X, [{"C": 0.1}, {"C": 10.0}]))
        found.append([
            (name, view.scores.tobytes(), view.labels.tobytes())
            for _, views in path
            for name, view in views.items()
        ])  # fmt: skip
    assert found[0] == found[1] == found[2]


def test_an_overflow_counts_the_rows_of_all_parts():
    y = np.repeat(np.arange(5), 4)
    method = OvOSVM().fit(np.c_[y, -y].astype(float), y)
    X = np.zeros((70_000, 2))
    X[[5, 40_000, 69_999]] = 1.7e308
    method.weights_ = np.full_like(method.weights_, 3.0)
    with confml.threads(2), pytest.raises(ConfmlError, match="3 of 70000 examples have scores"):
        method.confident_predict(X)
