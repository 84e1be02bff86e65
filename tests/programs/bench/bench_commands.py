"""Commands with start-up, beside a script of the same work or its imports: CPU seconds of all processes."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from _pairs import Row
from bench_runner import cpu_of

SCRIPT = """
import sys
import numpy as np, pandas as pd
from sklearn.naive_bayes import GaussianNB
train, new = pd.read_csv(sys.argv[1]), pd.read_csv(sys.argv[2])
model = GaussianNB().fit(train.drop(columns="y"), train.y)
scores = model.predict_proba(new)
out = pd.DataFrame(scores, columns=model.classes_)
out.insert(0, "prediction", model.classes_[scores.argmax(axis=1)])
out.to_csv(sys.argv[3], index=False)
"""


def _in_turns(name: str, ours: tuple[str, ...], other: tuple[str, ...], **notes) -> Row:
    """Return medians of three turns; ``{turn}`` in a command is the number of the turn."""
    spent: tuple[list[float], list[float]] = ([], [])
    for turn in range(3):
        for command, seconds in zip((ours, other), spent, strict=True):
            seconds.append(cpu_of(*(part.replace("{turn}", str(turn)) for part in command))[0])
    a, b = map(statistics.median, spent)
    return name, a, b, b / a, {"repeats": 3, **notes}


def bench_predict() -> Row:
    """``confml predict`` on 150 rows beside a script of pandas and scikit-learn."""
    from sklearn.datasets import load_iris

    frame = load_iris(as_frame=True).frame.rename(columns={"target": "y"})
    with tempfile.TemporaryDirectory() as name:
        train, new, script, out = (Path(name, file) for file in ("train.csv", "new.csv", "script.py", "out"))
        frame.to_csv(train, index=False)
        frame.drop(columns="y").to_csv(new, index=False)
        script.write_text(SCRIPT)
        fit = ("--train", str(train), "--label", "y", "--method", "naive-bayes")
        ours = ("-m", "confml", "predict", *fit, str(new), "--out", f"{out}1.csv", "--quiet", "--force")
        other = (str(script), str(train), str(new), f"{out}2.csv")
        what = "confml predict, 150 rows of CSV, beside a script of pandas and scikit-learn"
        return _in_turns(what, ours, other, goal=1.0)


def bench_methods() -> Row:
    """``confml methods`` beside the import of NumPy."""
    return _in_turns(
        "confml methods, beside the import of NumPy", ("-m", "confml", "methods"), ("-c", "import numpy")
    )


def bench_quick_start() -> Row:
    """The quick start with two jobs beside the imports that its report and its methods need."""
    imports = "import numba, sklearn.linear_model, matplotlib.figure, jinja2, pydantic"
    with tempfile.TemporaryDirectory() as folder:
        ours = ("-m", "confml", "run", "quickstart", "--out", f"{folder}/{{turn}}", "--quiet", "--jobs", "2")
        return _in_turns("quick start, beside its imports", ours, ("-c", imports))


BENCHMARKS = (bench_predict, bench_methods, bench_quick_start)
