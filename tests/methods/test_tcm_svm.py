"""TCM-SVM against its literal definition, on exchangeable data, and where it would take too long."""

import numpy as np
import pytest
from sklearn.svm import SVC
from trials import blobs

from confml.errors import ConfmlError
from confml.methods.registry import build


@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize("c, kernel", [(2, "rbf"), (3, "rbf"), (3, "linear")])
def test_p_values_are_their_definition(c, kernel, mondrian):
    X, y = blobs(1, 25, c)
    X_test, _ = blobs(2, 5, c)
    method = build("tcm-svm", {"C": 2.0, "kernel": kernel, "mondrian": mondrian}).fit(X, y)
    view = method.confident_predict(X_test)["p-value"]
    smoothed = method.set_params(smoothed=True, random_state=2).confident_predict(X_test)["p-value"]
    parts = (smoothed.extra[name] for name in ("n_greater", "tau", "n_equal"))
    p, (greater, tau, equal) = view.scores, parts
    np.testing.assert_allclose(smoothed.scores * (greater + equal), p * (greater + tau[:, None] * equal))
    for row, x in enumerate(X_test):
        for label in range(c):
            bag, labels = np.vstack([X, x]), [*y.tolist(), label]
            f = np.empty((26, c))
            for side in range(c):
                machine = SVC(C=2.0, kernel=kernel, tol=1e-6).fit(bag, np.equal(labels, side))
                f[:, side] = machine.decision_function(bag) / (2 if c == 2 else 1)
            alpha = np.array([max(np.delete(f[i], j)) - f[i, j] for i, j in enumerate(labels)]).round(4)
            counted = alpha[np.equal(labels, label)] if mondrian else alpha
            # Another order of the classes may move a value by the solver's tolerance, across a rounding.
            low, high = (np.mean(counted >= alpha[-1] + shift) for shift in (1e-3, -1e-3))
            assert low <= p[row, label] + 1 / len(counted) and p[row, label] <= high


def test_large_sets_are_refused_with_the_cost():
    rng = np.random.default_rng(0)
    method = build("tcm-svm").fit(rng.random((7000, 2)), np.arange(7000) % 10)
    with pytest.raises(ConfmlError, match="40,000 machines on 7,001 examples each, about .* minutes"):
        method.confident_predict(rng.random((2000, 2)))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_values_that_overflow_are_an_error_of_the_data(kernel):
    X, y = blobs(1, 20, 2)
    far = np.full((1, 2), np.finfo(float).max)
    with pytest.raises(ConfmlError, match="not finite"):
        build("tcm-svm", {"kernel": kernel}).fit(X, y).predict_p_values(far)
