"""A small finished run, whose files the fuzzers of the manifest and the store damage."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from confml.config import make_config
from confml.report.run.stored import open_run
from confml.runner.run import Execution, run

VALUES = {
    "name": "small",
    "datasets": [{"generate": "five-gaussians", "n": 40, "test-n": 20}],
    "methods": [{"name": "naive-bayes"}, {"name": "knn", "tune": {"k": [1, 3]}}],
    "protocol": {"kind": "holdout", "repeats": 1, "inner-folds": 2},
    "figures": [],
}


@functools.cache
def whole_run() -> Path:
    """The folder of the finished run, which is computed once and removed at the end of the process."""
    folder = Path(tempfile.mkdtemp(prefix="confml-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    resume(folder / "run")
    return folder / "run"


@functools.cache
def expected_metrics() -> str:
    """All metrics of the finished run as text."""
    return metrics(whole_run())


def copy_to(folder: Path) -> Path:
    """A new copy of the finished run in ``folder``."""
    copy = folder / "run"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(whole_run(), copy)
    return copy


def resume(folder: Path):
    """Run the config again, which computes the cells that are not stored whole; return the final state."""
    return run(make_config(VALUES), folder, Execution(1, engine="serial"))


def metrics(folder: Path) -> str:
    """All metrics of a run, and the tables that ``confml report`` writes without figures."""
    results = open_run(folder)
    return repr(results.metrics) + repr(results.summary)
