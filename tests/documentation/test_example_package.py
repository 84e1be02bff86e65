"""The example package installs, confml finds its method, step and section, and the page shows its files."""

import csv
import os
import shutil
import subprocess
import sys

import processes
import pytest
from documentation.blocks import ROOT, blocks_of

SOURCE = ROOT / "docs" / "examples" / "plugin"
PAGE = ROOT / "docs" / "pages" / "howto" / "extend.md"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Install the package into a folder; return the environment variables of a process that finds it."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(SOURCE, folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    pip += ["--no-build-isolation", "--no-deps", "--target", str(folder / "packages"), str(folder / "source")]
    subprocess.run(pip, check=True, capture_output=True, text=True)
    paths = [str(folder / "packages"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def confml(environment, *arguments):
    done = processes.confml(*arguments, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_run_uses_method_step_and_section(environment, tmp_path):
    out = tmp_path / "run"
    shown = confml(environment, "run", SOURCE / "iris.yaml", "--out", out, "--jobs", "1")
    assert "nearest-mean power=2" in shown
    with (out / "tables/largest-confidence.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["view"] for row in rows) == ["margin"] * 4 + ["p-value"] * 2 + ["probability"] * 2
    assert all(0 < float(row["confidence"]) <= 1 for row in rows if row["view"] == "p-value")


def test_describe_names_the_package(environment):
    assert "(method, confml-example 1.0, version 1)" in confml(environment, "describe", "nearest-mean")
    assert "clip-range" in confml(environment, "describe")


def test_the_page_shows_the_files_of_the_package():
    shown = {block.title: block.text for block in blocks_of(PAGE.read_text(encoding="utf-8"))}
    for name in ("nearest_mean.py", "clip_range.py", "largest_confidence.py"):
        assert shown[name] == (SOURCE / "confml_example" / name).read_text(encoding="utf-8")
    project = (SOURCE / "pyproject.toml").read_text(encoding="utf-8")
    assert all(line in project for line in shown["pyproject.toml"].splitlines())
