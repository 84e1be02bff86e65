"""Engines: every item comes back once, whatever becomes of the workers."""

import os
import signal

import pytest

from confml.errors import ConfmlError
from confml.runner.engines import LokyEngine, SerialEngine, WorkerLost, make_engine


def work(item):
    """Squares a number; misbehaves on request."""
    kind, value = item
    if kind == "raise":
        raise RuntimeError(f"no {value}")
    if kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "die-once" and not os.path.exists(value):
        open(value, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return value if isinstance(value, str) else value * value


def run(engine, items):
    feed = iter(items)
    return dict(engine.run(lambda: next(feed, None), work))


@pytest.mark.parametrize("engine", [SerialEngine(), LokyEngine(2)], ids=["serial", "loky"])
def test_results_and_errors_come_back(engine):
    items = [("square", n) for n in range(6)] + [("raise", 7)]
    found = run(engine, items)
    assert [found["square", n] for n in range(6)] == [n * n for n in range(6)]
    assert isinstance(found["raise", 7], RuntimeError)


def test_a_killed_worker_costs_at_most_a_retry(tmp_path):
    items = [("square", n) for n in range(8)]
    items.insert(3, ("die-once", str(tmp_path / "mark")))
    found = run(LokyEngine(2), items)
    assert found["die-once", str(tmp_path / "mark")] == str(tmp_path / "mark")
    assert all(found["square", n] == n * n for n in range(8))


def test_a_task_that_kills_its_worker_is_found_and_the_rest_is_done():
    items = [("square", n) for n in range(8)]
    items.insert(2, ("die", 0))
    items.insert(5, ("die", 1))
    found = run(LokyEngine(2), items)
    assert isinstance(found["die", 0], WorkerLost) and isinstance(found["die", 1], WorkerLost)
    assert all(found["square", n] == n * n for n in range(8))


def test_items_that_become_ready_later_are_run():
    ready, found = [("square", 1)], []
    for item, result in LokyEngine(2).run(lambda: ready.pop() if ready else None, work):
        found.append(result)
        if len(found) < 4:
            ready.append(("square", item[1] + 1))
    assert found == [1, 4, 9, 16]


def test_dask_runs_tasks_and_survives_a_dead_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    from confml.runner.engines import DaskEngine

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(local_directory=str(tmp_path), silence_logs=50, **options) as cluster:
        items = [("square", n) for n in range(6)] + [
            ("raise", 7),
            ("die-once", str(tmp_path / "mark")),
            ("die", 0),
        ]
        found = run(DaskEngine(cluster.scheduler_address), items)
    assert [found["square", n] for n in range(6)] == [n * n for n in range(6)]
    assert isinstance(found["raise", 7], RuntimeError)
    assert found["die-once", str(tmp_path / "mark")] == str(tmp_path / "mark")
    assert isinstance(found["die", 0], WorkerLost)


def test_which_engine():
    assert isinstance(make_engine(None, 1), LokyEngine) and isinstance(make_engine(None, 2), LokyEngine)
    assert isinstance(make_engine("serial", 1), SerialEngine)
    with pytest.raises(ConfmlError, match="--jobs must be at least 1, got 0"):
        make_engine(None, 0)
    with pytest.raises(ConfmlError, match="go together"):
        make_engine("dask", 2)
    with pytest.raises(ConfmlError, match="unknown engine 'dusk'; there are serial, loky and dask"):
        make_engine("dusk", 2)
