"""The dask engine on a bare scheduler with worker processes: workers die, the scheduler dies."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import time

import pytest
from runner.items import results_of, work
from runner.runs import contents

from confml.config import load_config
from confml.report.run.stored import open_run
from confml.report.write import write_report
from confml.runner.engines import DaskEngine, WorkerLost
from confml.runner.environment import EnvironmentFault
from confml.runner.progress import Progress
from confml.runner.run import Execution
from confml.runner.run import run as run_config

distributed = pytest.importorskip("distributed")

BARE = ["--no-dashboard", "--host", "127.0.0.1"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The file of a scheduler with two worker processes, each watched and started again by its nanny."""
    folder = tmp_path_factory.mktemp("cluster")
    with started(folder, "--nworkers", "2", "--nthreads", "1") as (path, _):
        with distributed.Client(scheduler_file=path, set_as_default=False) as client:
            client.wait_for_workers(2)
            # A nanny gives up if its worker dies before it knows that the worker has started.
            while set(client.run(lambda dask_worker: dask_worker.status.name, nanny=True).values()) != {
                "running"
            }:
                time.sleep(0.05)
        yield path


@contextlib.contextmanager
def started(folder, *options):
    path = folder / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
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


def test_results_errors_and_deaths(cluster, tmp_path):
    """Two items kill every worker that runs them. They alone fail."""
    squares, mark = [("square", n) for n in range(12)], str(tmp_path / "mark")
    awkward = [("die", 0), ("raise", 7), ("die-once", mark), ("die", 1)]
    results = results_of(DaskEngine(cluster), [*squares[:2], *awkward, *squares[2:]])
    assert [results[square] for square in squares] == [n * n for n in range(12)]
    lost, raised, retried, other_lost = (results[item] for item in awkward)
    assert isinstance(lost, WorkerLost) and isinstance(other_lost, WorkerLost)
    assert isinstance(raised, RuntimeError) and retried == mark


def test_few_items_wait_at_the_scheduler(cluster):
    """The queue of a million cells is in the run, not in the scheduler."""
    engine, submitted, most = DaskEngine(cluster), 0, 0
    while engine.workers < 2:
        time.sleep(0.2)

    def next_item():
        nonlocal submitted
        submitted += 1
        return ("square", submitted) if submitted <= 50 else None

    for done, _ in enumerate(engine.run(next_item, work)):
        most = max(most, min(submitted, 50) - done)
    assert submitted > 50 and most <= 4


def test_threads_run_one_item_at_a_time_and_a_lost_scheduler_stops_the_run(tmp_path, caplog):
    """Both on one cluster, which takes seconds to start."""
    logging.getLogger("distributed.client").addHandler(caplog.handler)
    log = tmp_path / "log"
    with started(tmp_path, "--nworkers", "1", "--nthreads", "3") as (path, processes):
        results_of(DaskEngine(path), [("alone", str(log))] * 6)
        assert log.read_text() == "()" * 6
        engine = DaskEngine(path)
        with pytest.raises(EnvironmentFault, match="connection to the dask scheduler was lost.*again"):
            slow = [("slow", n) for n in range(400)]
            results_of(engine, slow, after=lambda n: n == 3 and processes[0].kill())
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
        self.scheduler, self.tasks = scheduler, 0

    def advance(self, tasks, cells):
        before, self.tasks = self.tasks, self.tasks + tasks
        if before < 10 <= self.tasks:
            with distributed.Client(scheduler_file=self.scheduler, set_as_default=False) as client:
                for process in client.run(os.getpid).values():
                    os.kill(process, signal.SIGKILL)


def test_a_run_on_a_cluster_whose_workers_are_killed_has_the_bytes_of_a_run_in_one_process(cluster, tmp_path):
    (tmp_path / "dask.yaml").write_text(CONFIG)
    config = load_config(tmp_path / "dask.yaml")
    killer = KillOnce(cluster)
    state = run_config(config, tmp_path / "dask-run", Execution(1, cluster), progress=killer)
    assert killer.tasks >= 10 and not state.failed and not state.left
    with distributed.Client(scheduler_file=cluster, set_as_default=False) as client:
        modules = client.run_on_scheduler(lambda: {*sys.modules})
        assert "confml.runner.dask_calls" in modules and "confml.runner.tasks" not in modules
        worker_modules = client.run(lambda: {*sys.modules}, nanny=True).values()
        assert all("confml.runner.tasks" in names for names in worker_modules)
    run_config(config, tmp_path / "serial", Execution(1, engine="serial"))
    for folder in ("dask-run", "serial"):
        write_report(open_run(tmp_path / folder), tmp_path / folder)
    assert contents(tmp_path / "dask-run") == contents(tmp_path / "serial")
