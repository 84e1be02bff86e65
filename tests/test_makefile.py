"""Targets of the Makefile that run configs hand SHARD, ENGINE and JOBS to every run."""

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
    command = ["make", "-n", *made, target, *variables]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def targets():
    makefile = (ROOT / "Makefile").read_text()
    named = re.findall(r"^([a-z][a-z0-9-]*):.*  ## ", makefile, flags=re.MULTILINE)
    return [
        name for name in named if name == "run" or name.startswith(("table-", "figure-", "runs-", "gallery"))
    ]


@pytest.mark.parametrize("target", targets())
def test_runs_take_shard_engine_and_jobs(target):
    if target == "table-bayes-error":  # no run of cells
        assert "exit 2" in commands(target, "SHARD=2/4")
        return
    if target == "figure-bayes-error":  # studies, see below
        return
    text = commands(target, "SHARD=2/4", "ENGINE=dask", "SCHEDULER=tcp://host:1", "JOBS=3").replace(
        "\\\n", " "
    )
    runs = re.findall(r"confml run(?: +[^;]*)", text)
    options = ["--jobs 3", "--engine dask", "--scheduler tcp://host:1", "--shard 2/4"]
    assert runs and all(option in run for run in runs for option in options)
    assert "confml report" not in text and "confml compare" not in text
    plain = commands(target)
    assert "--shard" not in plain and "--engine" not in plain


def test_parts_of_the_bayes_error_figures_are_those_of_the_whole():
    def studies(*variables):
        return re.findall(r"confml bayes-error\S* .*?--out (\S+)", commands("figure-bayes-error", *variables))

    parts = [studies(f"SHARD={part}/3") for part in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(studies()) and len(studies()) == 7
    assert studies("SHARD=9/9") == [] and "reproduction" not in commands("figure-bayes-error", "SHARD=9/9")
    command = ["make", "-o", ".venv/installed", "figure-bayes-error", "SHARD=auto"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 2 and "SHARD is a part such as 1/2, got 'auto'" in refused.stderr
