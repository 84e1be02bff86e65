"""The scripts of configs/cluster, each as its first lines say, with the results of a run in one process."""

import os
import subprocess
import sys
from pathlib import Path

import processes
import pytest

SCRIPTS = Path(__file__).parents[2] / "configs" / "cluster"
CONFIG = """
name: small
datasets: [wine-sklearn]
methods: [naive-bayes]
protocol: {kind: holdout, repeats: 4}
figures: []
"""
# `sbatch` of a cluster with one node that runs the tasks of an array one after another.
SBATCH = """#!{python}
import os, subprocess, sys
words = sys.argv[1:]
options = [words.pop(0) for _ in range(next(n for n, word in enumerate(words) if not word.startswith("-")))]
lines = [line.split()[1] for line in open(words[0]) if line.startswith("#SBATCH ")]
values = dict(option[2:].split("=", 1) for option in [*lines, *options])
first, last = map(int, values["array"].split("-"))
for task in range(first, last + 1):
    names = {{"ID": task, "MIN": first, "MAX": last, "COUNT": last - first + 1}}
    environment = {{**os.environ, "SLURM_CPUS_PER_TASK": values["cpus-per-task"]}}
    environment.update({{f"SLURM_ARRAY_TASK_{{name}}": str(value) for name, value in names.items()}})
    subprocess.run(["sh", *words], env=environment, check=True)
print("Submitted batch job 7")
"""
SSH = """#!/bin/sh
[ "$1" = -n ] && echo "$2" >>"$HOSTS_USED" && cd / && exec sh -c "$3"
"""


@pytest.fixture()
def place(tmp_path):
    """An empty folder with a config; `confml`, `dask` and stand-ins are on PATH."""
    (tmp_path / "bin").mkdir()
    programs = {
        "confml": processes.program_text(),
        "dask": f'#!/bin/sh\nexec {sys.executable} -m dask "$@"\n',
        "sbatch": SBATCH.format(python=sys.executable),
        "ssh": SSH,
    }
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "small.yaml").write_text(CONFIG)
    return tmp_path


def start(place, *command, **variables):
    environment = {
        **os.environ,
        "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        **variables,
    }
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def metrics(folder):
    return (folder / "metrics.csv").read_bytes()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    from confml import run

    folder = tmp_path_factory.mktemp("expected")
    (folder / "small.yaml").write_text(CONFIG)
    run(folder / "small.yaml", out=folder / "out", engine="serial")
    return metrics(folder / "out")


def test_plain_shell_on_several_hosts(place, expected):
    used = place / "hosts"
    variables = {"HOSTS": "node1 node2", "HOSTS_USED": str(used), "JOBS": "1"}
    start(place, "sh", SCRIPTS / "shell.sh", 2, "small.yaml", "--out", "the 'results'", **variables)
    assert metrics(place / "the 'results'") == expected
    assert sorted(used.read_text().split()) == ["node1", "node2"]


def test_slurm(place, expected):
    """Each task of the array computes its part, and the last one finds the others done."""
    start(
        place,
        "sbatch",
        "--array=1-2",
        "--cpus-per-task=1",
        SCRIPTS / "slurm.sh",
        "small.yaml",
        "--out",
        "out",
    )
    assert metrics(place / "out") == expected


def test_dask(place, expected):
    pytest.importorskip("distributed")
    start(place, "sh", SCRIPTS / "dask.sh", 1, "small.yaml", "--out", "out")
    assert metrics(place / "out") == expected
    assert not (place / "dask-scheduler.json").exists()
