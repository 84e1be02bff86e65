"""Binary machines in threads: the same bytes for 1, 2 and 16."""

import threading

import numpy as np
import pytest

import confml
from confml import DAGSVM, GenSVM, OvOSVM, OvRSVM, SmartSVM
from confml.errors import ConfmlError


@pytest.fixture
def helpers(monkeypatch):
    """The names of all threads that are started."""
    names = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: names.append(self.name) or start(self))
    return names


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("kind", [OvOSVM, OvRSVM, SmartSVM])
def test_same_bytes_for_any_number_of_threads(kind, solver, helpers):
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
    assert helpers.count("confml-helper") > 2


@pytest.mark.parametrize("kind", [OvOSVM, OvRSVM, DAGSVM, SmartSVM])
def test_many_test_rows_are_divided_among_threads(kind, helpers):
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(5), 12)
    method = kind().fit(rng.normal(size=(60, 3)) + y[:, None], y)
    # Small integers make the products exact: one product of all rows then has the same bytes.
    method.weights_ = rng.integers(-3, 4, size=method.weights_.shape).astype(float)
    X = rng.integers(-2, 3, size=(140_001, 3)).astype(float)
    whole = method._views(method._values(X))
    for n in (1, 2, 16):
        with confml.threads(n):
            found = method.confident_predict(X)
        assert bool(helpers) == (n > 1)
        for name, view in whole.items():
            assert found[name].scores.tobytes() == view.scores.tobytes()
            assert found[name].labels.tobytes() == view.labels.tobytes()


def test_an_overflow_counts_the_rows_of_all_parts():
    y = np.repeat(np.arange(5), 4)
    method = OvOSVM().fit(np.c_[y, -y].astype(float), y)
    X = np.zeros((70_000, 2))
    X[[5, 40_000, 69_999]] = 1.7e308
    method.weights_ = np.full_like(method.weights_, 3.0)
    with confml.threads(2), pytest.raises(ConfmlError, match="3 of 70000 examples have scores"):
        method.confident_predict(X)


def test_paths_of_a_grid_are_fitted_in_threads(helpers):
    """The values of kappa and p of GenSVM: each has a path of its own over the ridge."""
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(3), 20)
    X = rng.normal(size=(60, 3)) + y[:, None] * [1.0, -1.0, 0.5]
    grid = [
        {"ridge": ridge, "kappa": kappa, "p": p}
        for ridge in (2.0**-6, 1.0)
        for kappa in (-0.9, 1.0)
        for p in (1.0, 1.5)
    ]
    found = []
    for n in (1, 2, 16):
        with confml.threads(n):
            path = list(GenSVM().evaluate_path(X, y, X, grid))
        assert [point for point, _ in path] == grid
        margins = [views["margin"] for _, views in path]
        found.append([(view.scores.tobytes(), view.labels.tobytes()) for view in margins])
        assert helpers.count("confml-helper") == {1: 0, 2: 1, 16: 4}[n]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("n", [1, 2])
def test_the_error_of_a_path_is_raised_at_its_first_point(n, monkeypatch):
    def fail(self, *arguments):
        if self.kappa == 1.0:
            raise ConfmlError("not solved")
        return fit_path(self, *arguments)

    fit_path = GenSVM._fit_path
    monkeypatch.setattr(GenSVM, "_fit_path", fail)
    y = np.repeat(np.arange(3), 5)
    X = np.c_[y, y % 2].astype(float)
    with confml.threads(n):
        path = GenSVM().evaluate_path(X, y, X, [{"kappa": 0.0}, {"kappa": 1.0}, {"kappa": 2.0}])
        assert next(path)[0] == {"kappa": 0.0}
        with pytest.raises(ConfmlError, match="not solved"):
            next(path)
