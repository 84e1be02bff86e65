"""``make kill-trial TRIALS=20``: a run that is killed at random times and resumed gives the same bytes.

`KillTrial` runs a small config once without a disturbance. Then it starts the config in a new folder,
disturbs it after a random time (`DISTURBANCES`), fills a file of its report with zeros, resumes it, and so on
until it is done; every CSV file but the timings must have the bytes of the undisturbed run. No process may be
left ten seconds after a run was stopped. It continues with new folders until there were enough kills.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

CONFIG = """\
name: killed
datasets:
  - {generate: five-gaussians, n: 120, test-n: 60}
  - {generate: two-gaussians, n: 80}
steps: [standardise]
methods:
  - {name: tcm-nn, sweep: {k: [1, 3]}}
  - {name: knn, tune: {k: [1, 3, 5]}}
  - {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 60, sweep: {max_depth: [1, 2, 3]}}
protocol: {kind: holdout, test-size: 0.3, repeats: 4, inner-folds: 3}
figures: []
seed: 3
"""
LONGEST = 600  # seconds of one start of the run
SECONDS_TO_END = 10  # of all processes of a run that was stopped
# SIGKILL of the run with its workers, of the run alone, of one of its processes, and of one of two shards
# that run at the same time; SIGTERM; Ctrl-C twice.
DISTURBANCES = ("group", "run", "worker", "shard", "terminate", "interrupt")


def start_interpreter(*arguments: str, output: int, new_session: bool) -> subprocess.Popen:
    """Start ``confml`` in a new interpreter."""
    command = [sys.executable, "-m", "confml", *arguments]
    return subprocess.Popen(command, stdout=output, stderr=output, start_new_session=new_session)


class Finding(AssertionError):
    """A killed run that could not be resumed, or that gave other bytes."""


class KillTrial:
    """Kills of one config in a folder, at times drawn with a seed."""

    def __init__(self, folder: Path, seed: int, config: str = CONFIG, start: Callable = start_interpreter):
        self.folder, self.rng, self._start_confml = folder, random.Random(seed), start
        self.kills = self.runs = self.starts = 0
        self.disturbances: Counter[str] = Counter()
        (folder / "config.yaml").write_text(config)
        begun = time.monotonic()
        self.wait(self.start("undisturbed"), "undisturbed")
        self.seconds = time.monotonic() - begun
        self.expected = files_of(folder / "undisturbed")

    def until(self, kills: int) -> None:
        """Kill and resume until there were so many kills; raise `Finding` for any difference or error."""
        while self.kills < kills:
            self.runs += 1
            name = f"run-{self.runs}"
            while self.kills < kills and self._killed(name):
                self.kills += 1
            self.wait(self.start(name), name)
            self.compare(name)

    def compare(self, name: str) -> None:
        """Raise `Finding` if a finished run has other CSV or hidden files than the undisturbed one."""
        files = files_of(self.folder / name)
        paths = sorted({*files, *self.expected})
        differing = [path for path in paths if files.get(path) != self.expected.get(path)]
        if differing:
            raise Finding(f"{name}, after {self.kills} kills in total, has other bytes in {differing}")

    def _killed(self, name: str) -> bool:
        """Start or resume a run and disturb it after a random time; False if it was done before that."""
        kind = self.rng.choice(DISTURBANCES)
        process = self.start(name, *(["--shard", "1/2"] if kind == "shard" else []))
        second_shard = self.start(name, "--shard", "2/2") if kind == "shard" else None
        try:
            process.wait(self.rng.uniform(0.0, self.seconds))
            self._check(process, name)
            return False
        except subprocess.TimeoutExpired:
            self.disturbances[kind] += 1
            self._disturb(process, kind, name)
            self._damage(name)
            return True
        finally:
            if second_shard is not None:
                self.wait(second_shard, name)

    def _disturb(self, process: Any, kind: str, name: str) -> None:
        children = psutil.Process(process.pid).children(recursive=True)
        if kind == "worker":
            # Python prints tracebacks of its own if its resource tracker was killed.
            workers = [child for child in children if "resource_tracker" not in str(child.cmdline())]
            with contextlib.suppress(psutil.NoSuchProcess, IndexError):
                self.rng.choice(workers).kill()
            self.wait(process, name)
            return
        signals = {"terminate": [signal.SIGTERM], "interrupt": [signal.SIGINT] * 2}
        for number in signals.get(kind, [signal.SIGKILL]):
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if kind == "group" else os.kill)(process.pid, number)
        process.wait(LONGEST)
        patience = max(SECONDS_TO_END, self.seconds)  # a server may be importing on a busy machine
        if left := psutil.wait_procs(children, patience)[1]:
            raise Finding(f"{name}: processes are left {patience:.0f} s after {kind}: {left}")

    def _damage(self, name: str) -> None:
        """Fill one file that the run can make again with zeros, as a crash of the machine does."""
        folder = self.folder / name
        if files := [*folder.glob(".run/report-files"), *sorted(folder.rglob("*.csv"))]:
            path = self.rng.choice(files)
            path.write_bytes(bytes(path.stat().st_size))

    def start(self, name: str, *options: str) -> Any:
        """Start or resume a run; each start has a log, as workers of a killed run may write a last word."""
        out = str(self.folder / name)
        arguments = ["run", str(self.folder / "config.yaml"), "--out", out, "--jobs", "2", *options]
        self.starts += 1
        path = self.folder / f"start-{self.starts}.log"
        with path.open("wb") as log:
            process = self._start_confml(*arguments, output=log.fileno(), new_session=True)
        process.log = path
        return process

    def wait(self, process: Any, name: str) -> None:
        """Wait for the end of a run; raise `Finding` if it does not end, or ends with an error."""
        try:
            process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Finding(f"{name} did not end within {LONGEST} s, after {self.kills} kills") from None
        self._check(process, name)

    def _check(self, process: Any, name: str) -> None:
        log = process.log.read_text(errors="replace")
        if process.returncode or "Traceback" in log:
            raise Finding(f"{name} ended with exit code {process.returncode}: {log[-2000:]}")


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of every CSV file but the timings, and the names of hidden files, by path."""
    paths = [path for path in folder.rglob("*.csv") if path.name != "timings.csv"]
    contents = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    return contents | {str(path.relative_to(folder)): b"" for path in folder.rglob(".*")}


def main(kills: int, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        trial = KillTrial(Path(folder), seed)
        print(f"undisturbed: {trial.seconds:.0f} s, {len(trial.expected)} files", flush=True)
        try:
            trial.until(kills)
        except Finding as finding:
            print(f"{finding} (seed {seed})")
            return 1
    print(", ".join(f"{kind}: {number}" for kind, number in sorted(trial.disturbances.items())))
    print(f"{trial.kills} kills in {trial.runs} runs: the bytes of all CSV files are the same (seed {seed})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), seed=int(time.time())))
