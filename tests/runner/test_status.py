"""``confml status`` of a run with parts that are running, done, killed and not started."""

import json
import os

import pytest
from click.testing import CliRunner

from confml.commands.status import status
from confml.config import load_config
from confml.runner.heartbeat import Heartbeat, running_parts
from confml.runner.progress import Progress
from confml.runner.run import Execution, run
from confml.runner.status import RunStatus
from confml.runner.store import Store
from confml.runner.workspace import Workspace

CONFIG = """
name: parts
datasets: [wine-sklearn]
methods: [{name: naive-bayes}]
protocol: {kind: holdout, repeats: 8}
figures: []
"""


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture()
def folder(tmp_path):
    """A run whose first part of two is done."""
    (tmp_path / "parts.yaml").write_text(CONFIG)
    config = load_config(tmp_path / "parts.yaml")
    run(config, tmp_path / "out", Execution(1, engine="serial", shard=(1, 2)))
    return tmp_path / "out"


def beat(folder, part, done, failed=0, cells=2, tasks=4, seconds=60.0):
    """A process that is at work on a part."""
    workspace, clock = Workspace.make(folder), Clock()
    heartbeat = Heartbeat(workspace.folder, part, "processes", 3, tasks, cells, clock)
    clock.now = seconds
    heartbeat.advance(2 * (done + failed), done, failed, 3)
    return workspace


def test_a_run_shows_its_progress_while_it_computes(tmp_path, monkeypatch):
    """As seen by another process at every step."""
    (tmp_path / "parts.yaml").write_text(CONFIG)
    monkeypatch.setattr("confml.runner.heartbeat.WRITE_SECONDS", 0.0)
    seen = []

    class Look(Progress):
        def advance(self, tasks, cells):
            seen.append(running_parts(tmp_path / "out"))

    config = load_config(tmp_path / "parts.yaml")
    run(config, tmp_path / "out", Execution(1, engine="serial"), progress=Look())
    assert len(seen) == 8 and all(len(parts) == 1 for parts in seen)
    steps = [parts[0].progress for parts in seen]
    assert [one.cells_done for one in steps] == [one.tasks_done for one in steps] == list(range(8))
    assert all((one.cells, one.tasks, one.workers, one.part) == (8, 8, 1, None) for one in steps)
    assert running_parts(tmp_path / "out") == []


def test_a_part_that_is_done_and_no_other(folder):
    found = RunStatus.of(Store(folder))
    left = len(found.state.left)
    assert 0 < left < 8 and found.parts == [] and found.unassigned == left
    assert found.rate is None and found.seconds_left is None
    text = CliRunner().invoke(status, [str(folder)]).output
    assert f"8 cells, {8 - left} done, 0 failed, {left} left\n" in text
    assert f"{left} cells are left for parts that are not running" in text


def test_rates_and_times_of_running_parts(folder):
    left = len(RunStatus.of(Store(folder)).state.left)
    first = beat(folder, "2/3", done=1, cells=left)
    found = RunStatus.of(Store(folder))
    assert found.rate == pytest.approx(1 / 60) and found.unassigned == 1
    assert found.seconds_left == pytest.approx(60 * left)  # of all cells, at the rate of one part
    second = beat(folder, "3/3", done=0, failed=0, cells=1, tasks=2)
    found = RunStatus.of(Store(folder))
    assert [part.progress.part for part in found.parts] == ["2/3", "3/3"] and found.unassigned == 0
    assert found.seconds_left is None  # the third part has not finished a task
    document = json.loads(CliRunner().invoke(status, [str(folder), "--json"]).output)
    assert document["cells_per_minute"] == pytest.approx(1.0) and document["unassigned"] == 0
    assert [(one["part"], one["cells_done"], one["workers"]) for one in document["running"]] == [
        ("2/3", 1, 3),
        ("3/3", 0, 3),
    ]
    text = CliRunner().invoke(status, [str(folder)]).output
    assert f"part 2/3 on {document['running'][0]['host']} (processes, 3 workers): 1/{left} cells" in text
    assert "2/4 tasks in 1 min 00 s, about 1 min 00 s left" in text
    first.remove()
    second.remove()


def test_a_killed_part_and_damaged_files_are_not_running(folder):
    workspace = beat(folder, "2/2", done=1)
    assert len(running_parts(folder)) == 1
    path = workspace.folder / "progress.json"
    whole = path.read_text()
    for damaged in (
        whole[:40],
        "[]",
        "{}",
        whole.replace("60.0", '"x"'),
        whole.replace(": 2,", ": true,"),
        whole.replace('"seconds_per_task": ', '"seconds_per_task": "x", "y": '),
    ):
        assert damaged != whole
        path.write_text(damaged)
        assert running_parts(folder) == []
    document = json.loads(whole)
    del document["seconds_per_task"]  # as an earlier version wrote it
    path.write_text(json.dumps(document))
    assert running_parts(folder)[0].progress.seconds_left is None
    path.write_text(whole)
    workspace._lease.release()  # as the system does at the end of a process
    assert running_parts(folder) == []


def test_a_part_that_is_silent_is_marked(folder):
    workspace = beat(folder, "2/2", done=1)
    lease = workspace.folder / "lease"
    os.utime(lease, (lease.stat().st_atime, lease.stat().st_mtime - 900))
    text = CliRunner().invoke(status, [str(folder)]).output
    assert "; not heard of for 15 min 0" in text
    workspace.remove()


def test_watch_ends_when_no_cell_is_left(folder, monkeypatch):
    config = load_config(folder.parent / "parts.yaml")

    def meanwhile(seconds):
        assert seconds == 0.5
        run(config, folder, Execution(1, engine="serial", shard=(2, 2)))

    monkeypatch.setattr("confml.commands.status.sleep", meanwhile)
    done = CliRunner().invoke(status, [str(folder), "--watch", "--every", "0.5", "--json"])
    assert done.exit_code == 0, repr(done.exception)
    first, last = map(json.loads, done.output.splitlines())
    assert (first["left"] > 0, last["left"], last["done"]) == (True, 0, 8)
