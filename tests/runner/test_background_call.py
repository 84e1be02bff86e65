"""Work of the main process while it waits for its workers."""

from __future__ import annotations

import pytest

from confml.config import make_config
from confml.runner.run import Execution, run


@pytest.mark.parametrize(("engine", "calls"), [("joblib", 1), ("serial", 0)])
def test_a_run_calls_it_where_tasks_run_in_other_processes(engine, calls, tmp_path):
    values = {
        "name": "a",
        "datasets": [{"generate": "five-gaussians", "n": 40, "test-n": 10}],
        "methods": [{"name": "knn", "k": 1}],
        "protocol": {"kind": "fixed-split"},
    }
    called = []
    state = run(
        make_config(values), tmp_path, Execution(1, engine=engine), meanwhile=lambda: called.append(engine)
    )
    assert len(state.done) == 1
    assert called == calls * [engine]
