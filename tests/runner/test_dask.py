"""The dask engine on a bare scheduler with worker processes: workers die, the scheduler dies."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import time

import pytest

from confml.config import load_config
from confml.runner.engines import DaskEngine, WorkerLost
from confml.runner.environment import EnvironmentFault
from confml.runner.progress import Progress
from confml.runner.run import Execution
from confml.runner.run import run as run_config

distributed = pytest.importorskip("distributed")

BARE = ["--no-dashboard", "--host", "127.0.0.1"]


def work(item):
    """Squares a number; misbehaves on request."""
    kind, value = item
    if kind == "raise":
        raise RuntimeError(f"no {value}")
    if kind == "die" or kind == "die-once" and not os.path.exists(value):
        if kind == "die-once":
            open(value, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "slow":
        time.sleep(0.05)
    if kind == "alone":
        with open(value, "a") as log:
            log.write("(")
            log.flush()
            time.sleep(0.05)
            log.write(")")
        return len(value)
    return value if isinstance(value, str) else value * value


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The file of a scheduler with two worker processes, each watched and started again by its nanny."""
    folder = tmp_path_factory.mktemp("cluster")
    with started(folder, "--nworkers", "2", "--nthreads", "1") as (path, _):
        yield path


@contextlib.contextmanager
def started(folder, *options):
    path = folder / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])}
    # As configs/cluster/dask.sh: a new interpreter for each worker that is killed takes seconds.
    environment["DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD"] = "fork"
    ready = ["--preload-nanny", "confml.runner.dask_calls"]
    dask = [sys.executable, "-m", "dask"]
    where = ["--scheduler-file", str(path)]
    commands = [
        [*dask, "scheduler", "--port", "0", *where, *BARE],
        [*dask, "worker", *where, *BARE, *ready, "--local-directory", str(folder / "dask"), *options],
    ]
    with open(folder / "dask.log", "w") as log:
        processes = [
            subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
            for command in commands
        ]
    try:
        limit = time.monotonic() + 120
        while not path.exists() and time.monotonic() < limit:
            time.sleep(0.1)
        yield str(path), processes
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def run(engine, items, after=lambda number: None):
    feed, found = iter(items), {}
    for item, result in engine.run(lambda: next(feed, None), work):
        found[item] = result
        after(len(found))
    return found


def test_results_errors_and_deaths(cluster, tmp_path):
    """Two items kill every worker that runs them. They alone fail."""
    mark = str(tmp_path / "mark")
    items = [("square", n) for n in range(12)]
    items[2:2] = [("die", 0), ("raise", 7), ("die-once", mark), ("die", 1)]
    found = run(DaskEngine(cluster), items)
    assert [found["square", n] for n in range(12)] == [n * n for n in range(12)]
    assert isinstance(found["raise", 7], RuntimeError) and found["die-once", mark] == mark
    for number in (0, 1):
        assert isinstance(found["die", number], WorkerLost)


def test_few_items_wait_at_the_scheduler(cluster):
    """The queue of a million cells is in the run, not in the scheduler."""
    engine, taken, most = DaskEngine(cluster), 0, 0
    while engine.workers < 2:
        time.sleep(0.2)

    def next_item():
        nonlocal taken
        taken += 1
        return ("square", taken) if taken <= 50 else None

    for done, _ in enumerate(engine.run(next_item, work)):
        most = max(most, min(taken, 50) - done)
    assert taken > 50 and most <= 4


def test_a_worker_with_several_threads_runs_one_item_at_a_time_and_a_lost_scheduler_stops_the_run(
    tmp_path, caplog
):
    """Both on one cluster, which takes seconds to start."""
    logging.getLogger("distributed.client").addHandler(caplog.handler)
    log = tmp_path / "log"
    with started(tmp_path, "--nworkers", "1", "--nthreads", "3") as (path, processes):
        feed = iter([("alone", str(log))] * 6)
        assert len(list(DaskEngine(path).run(lambda: next(feed, None), work))) == 6
        assert log.read_text() == "()" * 6
        engine = DaskEngine(path)
        with pytest.raises(EnvironmentFault, match="connection to the dask scheduler was lost.*again"):
            run(engine, [("slow", n) for n in range(400)], lambda n: n == 3 and processes[0].kill())
    assert not caplog.text


CONFIG = """
name: dask
datasets: [wine-sklearn]
methods: [naive-bayes, {name: knn, tune: {k: [1, 3]}}]
protocol: {kind: holdout, repeats: 12, inner-folds: 3}
figures: []
"""


class KillOnce(Progress):
    """Kills all workers of a cluster after some tasks."""

    def __init__(self, scheduler):
        super().__init__()
        self._scheduler, self._tasks, self._killed = scheduler, 0, False

    def advance(self, tasks, cells):
        self._tasks += tasks
        if self._tasks >= 10 and not self._killed:
            self._killed = True
            with distributed.Client(scheduler_file=self._scheduler, set_as_default=False) as client:
                for process in client.run(os.getpid).values():
                    os.kill(process, signal.SIGKILL)


def test_a_run_on_a_cluster_whose_workers_are_killed_has_the_bytes_of_a_run_in_one_process(cluster, tmp_path):
    from confml.report.run.stored import open_run
    from confml.report.write import write_report

    (tmp_path / "dask.yaml").write_text(CONFIG)
    config = load_config(tmp_path / "dask.yaml")
    killer = KillOnce(cluster)
    state = run_config(config, tmp_path / "dask-run", Execution(1, cluster), progress=killer)
    assert killer._killed and not state.failed and not state.left
    with distributed.Client(scheduler_file=cluster, set_as_default=False) as client:
        modules = client.run_on_scheduler(lambda: {*sys.modules})
        assert "confml.runner.dask_calls" in modules and "confml.runner.tasks" not in modules
        worker_modules = client.run(lambda: {*sys.modules}, nanny=True).values()
        assert all("confml.runner.tasks" in found for found in worker_modules)
    run_config(config, tmp_path / "serial", Execution(1, engine="serial"))
    files = []
    for folder in ("dask-run", "serial"):
        write_report(open_run(tmp_path / folder), tmp_path / folder)
        files.append({path.name: path.read_bytes() for path in (tmp_path / folder).rglob("*.csv")})
        files[-1].pop("timings.csv")
    assert files[0].keys() == files[1].keys() and files[0] == files[1]
