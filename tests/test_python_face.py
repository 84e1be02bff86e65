"""The public Python face as people use it: scripts, standard input, a notebook, threads.

Each way runs a small study in a new interpreter and a folder of its own. Nothing of confml is changed: runs
start their workers as they do for users.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300  # after which an interpreter is ended

# Definitions of a user's program.
USE = """
import json
import pathlib
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.datasets import load_wine

import confml

with open("started", "a") as file:  # by the program itself, once; workers must not execute it again
    file.write("started\\n")

CONFIG = {
    "name": "face",
    "datasets": ["iris"],
    "methods": [
        {"name": "tcm-nn", "sweep": {"k": [1, 2]}},
        {"name": "sklearn.naive_bayes.GaussianNB", "conformal": "split"},
    ],
    "protocol": {"kind": "holdout", "repeats": 2},
    "figures": [],
}


def metrics(folder):
    finished = confml.run(CONFIG, out=folder / "run", jobs=1)
    assert finished.failures.empty, finished.failures
    opened = confml.load_run(folder / "run")
    assert opened.metrics.equals(finished.metrics) and len(opened.metrics)
    return (folder / "run" / "metrics.csv").read_bytes().decode()


def predictions(folder):
    frame = load_wine(as_frame=True).frame
    path, copy = folder / "wine.confml", folder / "copy.confml"
    answers = confml.predict(frame[::2], frame[1::2], label="target", save=path)
    confml.save_model(confml.load_model(path), copy)
    assert confml.predict(copy, frame[1::2]).equals(answers), "the stored model predicts something else"
    return answers.to_csv()


def p_values(folder):
    X, y = load_wine(return_X_y=True)
    model = confml.TCMNN(k=2).fit(X[::2], y[::2])
    p_values = confml.confident_predict(model, X[1::2])["p-value"].scores
    assert np.array_equal(p_values, model.predict_p_values(X[1::2]))
    return repr(p_values.tolist())
"""

STUDY = """
results = {work.__name__: work(pathlib.Path(".")) for work in (metrics, predictions, p_values)}
pathlib.Path("results.json").write_text(json.dumps(results))
"""

# Two runs, predictions and fits at the same time; every thread must have the same results.
THREADS = """
meeting = threading.Barrier(6)


def at_the_same_time(work, folder):
    folder.mkdir(exist_ok=True)
    meeting.wait(60)
    return "".join({work(folder) for _ in range(20 if work is p_values else 1)})  # fits while runs last


with ThreadPoolExecutor(6) as pool:
    futures = {
        work.__name__: [pool.submit(at_the_same_time, work, pathlib.Path(name)) for name in "ab"]
        for work in (metrics, predictions, p_values)
    }
results = {}
for name, (first, second) in futures.items():
    results[name] = first.result()
    assert second.result() == results[name], "threads have different results"
pathlib.Path("results.json").write_text(json.dumps(results))
"""


def results_of(way, folder):
    """Run the study in a way, and return its results."""
    cells = USE, THREADS if way == "threads" else STUDY
    if way == "notebook":
        import nbclient
        import nbformat

        notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
        nbclient.NotebookClient(notebook, timeout=SECONDS).execute(cwd=str(folder), env=environment())
    elif way == "standard input":  # as in ``python < study.py``
        execute(folder, "-", "".join(cells))
    else:  # a script without a guard
        (folder / "study.py").write_text("".join(cells))
        execute(folder, "study.py")
    assert (folder / "started").read_text() == "started\n"
    results = json.loads((folder / "results.json").read_text())
    assert all(results.values())
    return results


def execute(folder, program, stdin=""):
    """Run a program in a new interpreter, which ends without an error or a traceback."""
    command, options = [sys.executable, program], {"cwd": folder, "env": environment(), "timeout": SECONDS}
    ended = subprocess.run(command, **options, input=stdin, capture_output=True, text=True)
    assert ended.returncode == 0 and "Traceback" not in ended.stderr, ended.stdout + ended.stderr


def environment():
    """Return the environment of an interpreter that imports this copy of confml."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "IPYTHONDIR": tempfile.gettempdir()}


@pytest.fixture(scope="module")
def script_results(tmp_path_factory):
    return results_of("script", tmp_path_factory.mktemp("script"))


@pytest.mark.parametrize("way", ["standard input", "notebook", "threads"])
def test_every_way_has_the_results_of_a_script(way, script_results, tmp_path):
    assert results_of(way, tmp_path) == script_results
