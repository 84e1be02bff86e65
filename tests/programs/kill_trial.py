"""``make kill-trial TRIALS=20``: a run that is killed at random times and resumed gives the same bytes.

`KillTrial` runs a small config once without a disturbance. Then it starts the config in a new folder, kills
it by SIGKILL after a random time, fills a file of its report with zeros, resumes it, and so on until it is
done; every CSV file but the timings must have the bytes of the undisturbed run. It continues with new folders
until there were enough kills.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def started(*arguments: str, output: int, new_session: bool) -> subprocess.Popen:
    """Start ``confml`` in a new interpreter."""
    command = [sys.executable, "-m", "confml", *arguments]
    return subprocess.Popen(command, stdout=output, stderr=output, start_new_session=new_session)


class Finding(AssertionError):
    """A killed run that could not be resumed, or that gave other bytes."""


class KillTrial:
    """Kills of one config in a folder, at times drawn with a seed."""

    def __init__(self, folder: Path, seed: int, config: str = CONFIG, start: Callable[..., Any] = started):
        self.folder, self.rng, self._started = folder, random.Random(seed), start
        self.config = folder / "config.yaml"
        self.config.write_text(config)
        started = time.monotonic()
        self._wait(self._start("undisturbed"), "undisturbed")
        self.seconds = time.monotonic() - started
        self.expected = csv_files(folder / "undisturbed")
        self.kills, self.runs = 0, 0

    def until(self, kills: int) -> None:
        """Kill and resume until there were so many kills; raise `Finding` for anything that is not right."""
        while self.kills < kills:
            self.runs += 1
            name = f"run-{self.runs}"
            while self.kills < kills and self._killed(name):
                self.kills += 1
            self._wait(self._start(name), name)
            self.compare(name)

    def compare(self, name: str) -> None:
        """Raise `Finding` where a finished run has other CSV or hidden files than the undisturbed one."""
        got = csv_files(self.folder / name)
        differing = sorted(one for one in {*got, *self.expected} if got.get(one) != self.expected.get(one))
        if differing:
            raise Finding(f"{name}, after {self.kills} kills in total, has other bytes in {differing}")
        left = _hidden(self.folder / name) - _hidden(self.folder / "undisturbed")
        if left:
            raise Finding(f"{name}, after {self.kills} kills in total, has left {sorted(left)}")

    def _killed(self, name: str) -> bool:
        """Start or resume a run and kill it after a random time; False where it was done before that."""
        process = self._start(name)
        try:
            process.wait(self.rng.uniform(0.0, self.seconds))
        except subprocess.TimeoutExpired:
            # The run and its workers at once, or the run alone, after which its workers end themselves.
            kill = os.killpg if self.rng.random() < 0.5 else os.kill
            kill(process.pid, signal.SIGKILL)
            process.wait()
            self._damage(name)
            return True
        self._check(process, name)
        return False

    def _damage(self, name: str) -> None:
        """Fill one file that the run can make again with zeros, as a crash of the machine does."""
        folder = self.folder / name
        files = [path for path in (folder / ".report", *sorted(folder.glob("*.csv"))) if path.is_file()]
        if files:
            path = self.rng.choice(files)
            path.write_bytes(bytes(path.stat().st_size))

    def _start(self, name: str) -> Any:
        arguments = ["run", str(self.config), "--out", str(self.folder / name), "--jobs", "2"]
        with open(self.folder / f"{name}.log", "ab") as log:
            return self._started(*arguments, output=log.fileno(), new_session=True)

    def _wait(self, process: Any, name: str) -> None:
        try:
            process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Finding(f"{name} did not end within {LONGEST} s, after {self.kills} kills") from None
        self._check(process, name)

    def _check(self, process: Any, name: str) -> None:
        log = (self.folder / f"{name}.log").read_text(errors="replace")
        if process.returncode or "Traceback" in log:
            raise Finding(f"{name} ended with exit code {process.returncode}: {log[-2000:]}")


def csv_files(folder: Path) -> dict[str, bytes]:
    """The content of every CSV file but the timings, by its path in the folder."""
    paths = [path for path in folder.rglob("*.csv") if path.name != "timings.csv"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _hidden(folder: Path) -> set[str]:
    """Names of workspaces and temporary files in a run's folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob(".*")}


def main(kills: int, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        trial = KillTrial(Path(folder), seed)
        print(f"undisturbed: {trial.seconds:.0f} s, {len(trial.expected)} CSV files", flush=True)
        try:
            trial.until(kills)
        except Finding as finding:
            print(f"{finding} (seed {seed})")
            return 1
    print(f"{trial.kills} kills in {trial.runs} runs: the bytes of all CSV files are the same (seed {seed})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, seed=int(time.time())))
