"""The class of the package smartsvm: its labels, the graph that all C share, and a missing package."""

import numpy as np
import pytest
from programs.reproduction import smartsvm_package
from programs.reproduction.smartsvm_package import PackageSVM


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    y = np.repeat(["b", "a", "d", "c"], 30)
    centres = {"a": (0, 0), "b": (3, 0), "c": (0, 3), "d": (3, 3)}
    return np.array([centres[label] for label in y]) + random.normal(size=(120, 2)), y


def test_labels_are_those_of_the_package_and_all_costs_share_a_graph(rows):
    package = pytest.importorskip("smartsvm", reason="needs make .venv/installed-bench")
    from sklearn.svm import LinearSVC

    X, y = rows
    smartsvm_package._graph.cache_clear()
    codes = np.unique(y, return_inverse=True)[1]
    for C in (0.01, 1.0, 100.0):
        direct = package.SmartSVM(LinearSVC, {"C": C, "random_state": 0}).fit(X, codes).predict(X)
        assert np.array_equal(PackageSVM(C).fit(X, y).predict(X), np.unique(y)[direct.astype(int)])
    assert smartsvm_package._graph.cache_info().misses == 1
    PackageSVM().fit(X[:100], y[:100])
    assert smartsvm_package._graph.cache_info().misses == 2
