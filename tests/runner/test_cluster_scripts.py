"""The scripts of configs/cluster, each as its first lines say, with the results of a run in one process."""

import os
import subprocess
import sys
from pathlib import Path

import processes
import pytest
from runner.runs import run_serial

SCRIPTS = Path(__file__).parents[2] / "configs" / "cluster"
CONFIG = """
name: small
datasets: [wine-sklearn]
methods: [naive-bayes]
protocol: {kind: holdout, repeats: 4}
figures: []
"""
SSH = """#!/bin/sh
[ "$1" = -n ] && echo "$2" >>"$HOSTS_USED" && cd / && exec sh -c "$3"
"""


@pytest.fixture
def start(tmp_path):
    """Run a script in a folder with a config; `confml`, `dask` and a stand-in of ssh are on PATH."""
    (tmp_path / "bin").mkdir()
    dask = f'#!/bin/sh\nexec {sys.executable} -m dask "$@"\n'
    for name, text in {"confml": processes.program_text(), "dask": dask, "ssh": SSH}.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "small.yaml").write_text(CONFIG)

    def start(script, *arguments, **variables):
        paths = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": ":".join(sys.path)}
        options = {"cwd": tmp_path, "env": {**os.environ, **paths, **variables}, "timeout": 300}
        command = ["sh", str(SCRIPTS / script), *arguments]
        done = subprocess.run(command, input="", capture_output=True, text=True, **options)
        assert done.returncode == 0, done.stdout + done.stderr

    return start


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    (folder / "small.yaml").write_text(CONFIG)
    run_serial(folder / "small.yaml", folder / "out")
    return (folder / "out" / "metrics.csv").read_bytes()


def test_plain_shell_on_several_hosts(tmp_path, start, expected):
    used = tmp_path / "hosts"
    variables = {"HOSTS": "node1 node2", "HOSTS_USED": str(used), "JOBS": "1"}
    start("shell.sh", "2", "small.yaml", "--out", "the 'results'", **variables)
    assert (tmp_path / "the 'results'" / "metrics.csv").read_bytes() == expected
    assert sorted(used.read_text().split()) == ["node1", "node2"]


def test_slurm(tmp_path, start, expected):
    """Each task of the array computes its part, and the last one finds the others done."""
    array = {"SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "2", "SLURM_ARRAY_TASK_COUNT": "2"}
    for task in ("1", "2"):
        start("slurm.sh", "small.yaml", "--out", "out", SLURM_ARRAY_TASK_ID=task, **array)
    assert (tmp_path / "out" / "metrics.csv").read_bytes() == expected


def test_dask(tmp_path, start, expected):
    pytest.importorskip("distributed")
    start("dask.sh", "1", "small.yaml", "--out", "out")
    assert (tmp_path / "out" / "metrics.csv").read_bytes() == expected
    assert not (tmp_path / "dask-scheduler.json").exists()
