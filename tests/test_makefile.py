"""Targets of the Makefile hand their variables to runs, and each is listed by ``make help``."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def commands(target, *variables):
    """The commands that make would execute, with a made environment that is up to date."""
    made = ["-o", ".venv/installed", "-o", ".venv/installed-dev"]
    command = ["make", "-n", "--no-print-directory", *made, target, *variables]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", ["run", "gallery"])
def test_runs_take_shard_engine_and_jobs(target):
    variables = ("SHARD=2/4", "ENGINE=tcp://host:1", "JOBS=3")
    text = commands(target, *variables).replace("\\\n", " ")
    runs = re.findall(r"confml run(?: +[^;]*)", text)
    options = ["--jobs 3", "--engine tcp://host:1", "--shard 2/4"]
    assert runs and all(option in run for run in runs for option in options)
    assert "confml compare" not in text
    assert "--shard" not in commands(target) and "--engine" not in commands(target)
