"""``make many-cells``: a study of 100,002 cells on real data, with kills and on a simulated cluster.

Each part computes the study in a different folder. All CSV files but the timings must have the same bytes:

- ``undisturbed``: two jobs of joblib;
- ``killed``: the same, ended by SIGKILL at `KILLS` random times and resumed;
- ``dask``: a scheduler and `WORKERS` worker processes, of which a random one is killed every few seconds;
- ``shards``: a job array of `SHARDS` shards, `AT_A_TIME` at a time. Each is killed with probability 1/2 at a
  random time and submitted again. ``confml report`` writes the tables after the last one.

``many-cells.json`` in the folder has the findings; parts that it has are not computed again. Times are CPU
seconds of all processes, with the work that was lost by kills.
"""

import argparse
import contextlib
import ctypes
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

import yaml

DATASETS = ("iris", "wine-sklearn")
METHODS = (
    {"name": "tcm-nn", "sweep": {"k": [1, 3]}},
    {"name": "knn", "sweep": {"k": [1, 3, 5]}},
    "naive-bayes",
    {"name": "knn", "k": 7, "conformal": "split"},
)
CELLS_OF_REPEAT = 7 * len(DATASETS)
KILLS, WORKERS, SHARDS, AT_A_TIME = 5, 16, 64, 4
DASK_KILL_SECONDS = 20.0
PARTS = ("undisturbed", "killed", "dask", "shards")
PR_SET_CHILD_SUBREAPER = 36


class Study:
    """One study in a folder; the methods named in `PARTS` return what they counted.

    awaits_orphans: whether this process inherits workers that outlive their parents. Their time counts too.
    """

    awaits_orphans = False

    def __init__(self, folder: Path, cells: int, seed: int = 0):
        self.folder, self.rng = folder.resolve(), random.Random(seed)
        self.folder.mkdir(parents=True, exist_ok=True)
        repeats = -(-cells // CELLS_OF_REPEAT)
        self.cells = repeats * CELLS_OF_REPEAT
        self.config = self.folder / "many-cells.yaml"
        study: dict[str, Any] = {
            "name": "many-cells",
            "datasets": list(DATASETS),
            "methods": list(METHODS),
            "protocol": {"kind": "holdout", "repeats": repeats, "test-size": 0.3, "stratify": True},
            "levels": [0.05, 0.2],
            "thresholds": [0.8, 0.95],
            "figures": [],
            "seed": 1,
        }
        self.config.write_text(yaml.safe_dump(study))
        self._kept = self.folder / "many-cells.json"
        self.found: dict[str, Any] = json.loads(self._kept.read_text()) if self._kept.exists() else {}

    def measure(self, part: str) -> dict[str, Any]:
        """Compute a part, compare its files with those of the undisturbed one, and keep the findings."""
        if part not in self.found:
            shutil.rmtree(self.folder / part, ignore_errors=True)
            before, started = _cpu_of_children(), time.monotonic()
            counted = getattr(self, part)()
            if self.awaits_orphans:
                _await_orphans()
            found = {"cells": self.cells, "cpu": round(_cpu_of_children() - before, 1)}
            found |= {"wall": round(time.monotonic() - started, 1), **counted}
            self.found[part] = found | {"files": digests(self.folder / part)}
            self._kept.write_text(json.dumps(self.found, indent=1) + "\n")
        return self.found[part]

    def differing(self, part: str) -> list[str]:
        """Return the CSV files that are not those of the undisturbed part."""
        got, expected = (self.found[one]["files"] for one in (part, "undisturbed"))
        return sorted(name for name in {*got, *expected} if got.get(name) != expected.get(name))

    def undisturbed(self) -> dict[str, Any]:
        self._finish(self._run("undisturbed", "--jobs", "2"))
        return {"peak_mb": round(_peak_mb_of_children())}

    def killed(self) -> dict[str, Any]:
        longest, kills = 0.5 * self.found["undisturbed"]["wall"], 0
        while kills < KILLS:
            process = self._run("killed", "--jobs", "2")
            try:
                process.wait(self.rng.uniform(0.2, 1.0) * longest)
            except subprocess.TimeoutExpired:
                kills += 1
                kill = os.killpg if self.rng.random() < 0.5 else os.kill  # with its workers, or alone
                kill(process.pid, signal.SIGKILL)
                process.wait()
                continue
            self._finish(process)
            break
        self._finish(self._run("killed", "--jobs", "2"))
        return {"kills": kills}

    def dask(self) -> dict[str, Any]:
        import psutil

        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        options = ("--scheduler-file", str(file), "--no-dashboard", "--host", "127.0.0.1")
        many = (
            "--nworkers",
            str(WORKERS),
            "--nthreads",
            "1",
            "--local-directory",
            str(self.folder / "local"),
        )
        scheduler = self._start("dask", "scheduler", "--port", "0", *options)
        workers = self._start("dask", "worker", *options, *many)
        deaths = 0
        try:
            while not file.exists():
                time.sleep(0.2)
            run = self._run("dask", "--engine", str(file))
            while True:
                try:
                    run.wait(self.rng.uniform(0.5, 1.5) * DASK_KILL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    busy = [one for one in psutil.Process(workers.pid).children() if _is_worker(one)]
                    if busy and any((self.folder / "dask").glob(".confml-*.work")):  # cells are computed
                        self.rng.choice(busy).kill()
                        deaths += 1
            own = psutil.Process(scheduler.pid).cpu_times()
        finally:
            for process in (workers, scheduler):
                process.terminate()
                process.wait()
        self._finish(run)
        return {"deaths": deaths, "scheduler_cpu": round(own.user + own.system, 1)}

    def shards(self) -> dict[str, Any]:
        waiting = [(number, self.rng.random() < 0.5) for number in range(1, SHARDS + 1)]
        running: list[tuple[subprocess.Popen, int, float | None]] = []
        longest = AT_A_TIME * self.found["undisturbed"]["wall"] / SHARDS
        deaths = 0
        while waiting or running:
            while waiting and len(running) < AT_A_TIME:
                number, dies = waiting.pop(0)
                process = self._run("shards", "--jobs", "1", "--shard", f"{number}/{SHARDS}")
                moment = time.monotonic() + self.rng.uniform(0.0, longest) if dies else None
                running.append((process, number, moment))
            time.sleep(0.1)
            for one in list(running):
                process, number, moment = one
                if process.poll() is not None:
                    self._finish(process)
                    running.remove(one)
                elif moment is not None and time.monotonic() > moment:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    deaths += 1
                    running.remove(one)
                    waiting.append((number, False))
        self._finish(self._start("confml", "report", str(self.folder / "shards"), "--quiet"))
        return {"deaths": deaths}

    def _run(self, part: str, *options: str) -> subprocess.Popen:
        out = str(self.folder / part)
        return self._start("confml", "run", str(self.config), "--out", out, "--quiet", *options)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen:
        with open(self.folder / "log", "ab") as log:
            command = [sys.executable, "-m", module, *arguments]
            return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def _finish(self, process: subprocess.Popen) -> None:
        if process.wait():
            text = (self.folder / "log").read_text(errors="replace")[-2000:]
            raise SystemExit(f"a run ended with exit code {process.returncode}: {text}")


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every CSV file but the timings, by its path in the folder."""
    paths = sorted(path for path in folder.rglob("*.csv") if path.name != "timings.csv")
    found = {}
    for path in paths:
        with open(path, "rb") as file:
            found[str(path.relative_to(folder))] = _digest(file)
    return found


def _digest(file: BinaryIO) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _is_worker(process: Any) -> bool:
    """Return whether a child of dask's nannies is a worker, not a resource tracker or fork server."""
    with contextlib.suppress(Exception):
        return "spawn_main" in " ".join(process.cmdline())
    return False


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peak_mb_of_children() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def _await_orphans() -> None:
    """Wait for workers that end after their parent; their time counts only then."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("results/many-cells"))
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args(arguments)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    study, differ = Study(options.folder, options.cells), False
    study.awaits_orphans = sys.platform == "linux"
    for part in ("undisturbed", options.only) if options.only else PARTS:
        found = {name: value for name, value in study.measure(part).items() if name != "files"}
        others = study.differing(part)
        differ |= bool(others)
        same = (
            f"other bytes in {others}" if others else f"same bytes in {len(study.found[part]['files'])} files"
        )
        print(f"{part}: {json.dumps(found)}, {same}", flush=True)
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
