"""`Action`: one command, copy or stored table of a target; it is executed by calling it."""

import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from confml.errors import ConfmlError
from confml.studies.reproduction.by_parameter import write_by_parameter
from confml.studies.reproduction.crossings import write_crossings
from confml.studies.reproduction.matching import write_matching
from confml.studies.reproduction.runs import keep_runs, write_provenance


class Action(Protocol):
    """An action; calling it returns an exit code. words: the action as a command, for reading."""

    def __call__(self) -> int: ...

    def words(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Command:
    """A command of confml. fails: whether failed cells (exit code 1) are accepted."""

    arguments: tuple[str, ...]
    fails: bool = False
    one_thread: bool = False

    def words(self) -> Sequence[str]:
        return ("confml", *self.arguments)

    def __call__(self) -> int:
        environment = {**os.environ, **({"OMP_NUM_THREADS": "1"} if self.one_thread else {})}
        # The names of runs may be patterns, which a shell would expand.
        words = [name for word in self.arguments for name in _expanded(word)]
        code = subprocess.run([sys.executable, "-m", "confml", *words], env=environment).returncode
        return 0 if self.fails and code == 1 else code


@dataclass(frozen=True)
class Keep:
    """Versions, machine, seed and time of runs, in a folder of ``results/reference``, with their numbers.

    runs: folders or patterns. command: what computes them. metrics: those that are kept, for each value of
    the parameter ``by`` if it is given. figures: whether figures are kept. matching: whether
    ``matching.csv`` of bayes-knn is written. crossings: the same for ``crossings.csv``.
    """

    folder: Path
    runs: tuple[str, ...]
    command: str
    metrics: tuple[str, ...] = ()
    by: str | None = None
    figures: bool = False
    matching: bool = False
    crossings: bool = False

    def words(self) -> Sequence[str]:
        words = ["keep", str(self.folder), *self.runs]
        words += ["--metrics", ",".join(self.metrics)] if self.metrics else []
        words += ["--by", self.by] if self.by else []
        words += [f"--{name}" for name in ("figures", "matching", "crossings") if getattr(self, name)]
        return [*words, "--command", self.command]

    def __call__(self) -> int:
        runs = [Path(name) for pattern in self.runs for name in _expanded(pattern)]
        paths = []
        if self.by:
            paths += [write_by_parameter(runs, self.folder, metric, self.by) for metric in self.metrics]
        elif self.metrics:
            paths += keep_runs(runs, self.metrics, self.folder, self.figures)
        if self.matching:
            paths.append(write_matching(runs, self.folder))
        if self.crossings:
            paths.append(write_crossings(runs, self.folder))
        paths.append(write_provenance(runs, self.folder, self.command))
        print("\n".join(map(str, paths)), file=sys.stderr)
        return 0


@dataclass(frozen=True)
class Copy:
    """Files that match a pattern, copied to a file, or into a folder if ``to`` has no suffix."""

    source: str
    to: Path

    def words(self) -> Sequence[str]:
        return ("cp", self.source, str(self.to))

    def __call__(self) -> int:
        found = sorted(glob.glob(self.source))
        if not found:
            raise ConfmlError("no such file", where=self.source)
        for name in found:
            to = self.to if self.to.suffix else self.to / Path(name).name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(name, to)
        return 0


@dataclass(frozen=True)
class Listing:
    """Names of files that match patterns, printed."""

    patterns: tuple[str, ...]

    def words(self) -> Sequence[str]:
        return ("ls", *self.patterns)

    def __call__(self) -> int:
        print("\n".join(name for pattern in self.patterns for name in sorted(glob.glob(pattern))))
        return 0


def _expanded(pattern: str) -> Iterator[str]:
    """Yield the paths below ``results/`` that match a pattern, and any other text as it is."""
    found = sorted(glob.glob(pattern)) if pattern.startswith("results") and "*" in pattern else []
    yield from found or [pattern]
