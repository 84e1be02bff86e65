"""Binary machines in threads: the same bytes for 1, 2 and 16."""

import threading

import numpy as np
import pytest

import confml
from confml import OvOSVM, OvRSVM, SmartSVM


@pytest.mark.parametrize("solver", ["primal", "dual", "newton"])
@pytest.mark.parametrize("kind", [OvOSVM, OvRSVM, SmartSVM])
def test_same_bytes_for_any_number_of_threads(kind, solver, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 30)
    X = rng.normal(size=(150, 4)) + y[:, None] * [1.0, -1.0, 0.5, 0.0]
    helpers = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: helpers.append(self.name) or start(self))
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
