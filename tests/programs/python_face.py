"""The public Python face as people use it: scripts, standard input, a notebook, threads.

`results_of` starts a new interpreter for one of `WAYS`, which runs `USE`, the text of a small study, in a
folder of its own. Nothing of confml is changed: runs start their workers as they do for users.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300  # after which an interpreter is ended

# Definitions of a user's program. `study` returns the texts of all results, which are compared.
USE = """
import pathlib

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


def one_run(folder):
    finished = confml.run(CONFIG, out=folder, jobs=1)
    assert finished.failures.empty, finished.failures
    opened = confml.load_run(folder)
    assert opened.metrics.equals(finished.metrics) and len(opened.metrics)
    return pathlib.Path(folder, "metrics.csv").read_bytes().decode()


def predictions(folder):
    frame = load_wine(as_frame=True).frame
    path = pathlib.Path(folder, "wine.confml")
    answers = confml.predict(frame[::2], frame[1::2], label="target", save=path)
    copy = pathlib.Path(folder, "copy.confml")
    confml.save_model(confml.load_model(path), copy)
    assert confml.predict(copy, frame[1::2]).equals(answers), "the stored model predicts something else"
    return answers.to_csv()


def p_values():
    X, y = load_wine(return_X_y=True)
    model = confml.TCMNN(k=2).fit(X[::2], y[::2])
    p_values = confml.confident_predict(model, X[1::2])["p-value"].scores
    assert np.array_equal(p_values, model.predict_p_values(X[1::2]))
    return repr(p_values.tolist())


def study(name):
    folder = pathlib.Path(name)
    return {"metrics": one_run(folder / "run"), "predictions": predictions(folder), "p-values": p_values()}
"""

KEEP = """
results = study(".")
"""

# Two runs, predictions and fits at the same time; every thread must have the same results.
THREADS = """
import threading
from concurrent.futures import ThreadPoolExecutor

meeting = threading.Barrier(5)


def at_the_same_time(work, *arguments):
    meeting.wait(60)
    return work(*arguments)


pathlib.Path("a").mkdir()
pathlib.Path("b").mkdir()
with ThreadPoolExecutor(5) as pool:
    futures = {
        "metrics": [pool.submit(at_the_same_time, one_run, folder) for folder in ("a/run", "b/run")],
        "predictions": [pool.submit(at_the_same_time, predictions, folder) for folder in ("a", "b")],
        "p-values": [pool.submit(at_the_same_time, lambda: "".join({p_values() for _ in range(20)}))],
    }
results = {}
for name, started in futures.items():
    results[name], *others = [future.result() for future in started]
    assert all(text == results[name] for text in others), "threads have different results"
"""

WRITE = """
import json

pathlib.Path("results.json").write_text(json.dumps(results))
"""


WAYS = ("script", "standard input", "notebook", "threads")


def results_of(way: str, folder: Path) -> dict[str, str]:
    """Run `USE` in one of `WAYS` in an empty folder, and return its results; AssertionError for a failure.

    A script has no guard. In threads, runs, predictions and fits are called at the same time.
    """
    cells = USE, THREADS if way == "threads" else KEEP, WRITE
    if way == "notebook":
        run_notebook(cells, folder)
    elif way == "standard input":  # as in ``python < study.py``
        execute(folder, "-", "".join(cells))
    else:
        (folder / "study.py").write_text("".join(cells))
        execute(folder, "study.py")
    started = (folder / "started").read_text().splitlines()
    assert started == ["started"], f"{way}: the program was executed {len(started)} times"
    results = json.loads((folder / "results.json").read_text())
    assert all(results.values()), f"{way}: empty results"
    return results


def run_notebook(cells: Sequence[str], folder: Path) -> None:
    """Run the cells of a notebook in a kernel of its own."""
    import nbclient
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    nbclient.NotebookClient(notebook, timeout=SECONDS).execute(cwd=str(folder), env=environment())


def execute(folder: Path, program: str, stdin: str = "") -> None:
    """Run a program in a new interpreter; AssertionError for an exit code or a traceback."""
    ended = subprocess.run(
        [sys.executable, program],
        cwd=folder,
        env=environment(),
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )
    assert ended.returncode == 0, f"the program ends with {ended.returncode}:\n{ended.stdout}"
    assert "Traceback" not in ended.stdout, f"the program prints a traceback:\n{ended.stdout}"


def environment() -> dict[str, str]:
    """Return the environment of an interpreter that imports this copy of confml."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "IPYTHONDIR": tempfile.gettempdir()}
