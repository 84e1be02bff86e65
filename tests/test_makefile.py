"""Targets of the Makefile hand their variables to the reproduction, and each is listed by ``make help``."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from confml.studies.reproduction.targets import VARIABLES, targets

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def commands(target, *variables):
    """The commands that make would execute, with a made environment that is up to date."""
    made = ["-o", ".venv/installed", "-o", ".venv/installed-dev"]
    command = ["make", "-n", "--no-print-directory", *made, target, *variables]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("target", targets())
def test_a_target_takes_the_variables_of_the_reproduction(target):
    python = ".venv/bin/python -m confml.studies.reproduction"
    assert commands(target).split() == [*python.split(), target]
    given = [f"{name}=a/{place}" for place, name in enumerate(VARIABLES)]
    assert commands(target, *given).split() == [*python.split(), target, *(f"'{one}'" for one in given)]


@pytest.mark.parametrize("target", ["run", "gallery"])
def test_runs_take_shard_engine_and_jobs(target):
    given = ("SHARD=2/4", "ENGINE=dask", "SCHEDULER=tcp://host:1", "JOBS=3")
    text = commands(target, *given).replace("\\\n", " ")
    runs = re.findall(r"confml run(?: +[^;]*)", text)
    options = ["--jobs 3", "--engine dask", "--scheduler tcp://host:1", "--shard 2/4"]
    assert runs and all(option in run for run in runs for option in options)
    assert "confml compare" not in text
    assert "--shard" not in commands(target) and "--engine" not in commands(target)


def test_help_lists_every_target():
    listed = re.findall(r"^  ([a-z0-9-]+)  +(\S.*)$", commands_run("help"), re.MULTILINE)
    makefile = re.findall(r"^([a-z][a-z0-9-]*):.*  ## (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    abouts = {name: entry["about"] for name, entry in targets().items()}
    assert dict(listed) == {**dict(makefile), **abouts}


def commands_run(target):
    return subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
