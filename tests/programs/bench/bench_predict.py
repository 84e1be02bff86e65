"""Predictions of new rows: many of them beside the float32 products, and a few with a model file."""

from __future__ import annotations

import functools
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from _pairs import Row, paired, seconds_of
from skops.io import dump, dumps, get_untrusted_types, load

import confml
from confml.methods.tcm_nn import TCMNN

ROWS, FEATURES, BLOCK, FEW = 100_000, 30, 512, 10


@functools.cache
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(X, y, T): normal classes that overlap, standardised."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, ROWS)
    X, T = rng.normal(size=(2, ROWS, FEATURES))
    return X + 0.5 * y[:, None], y, T + 0.5 * rng.integers(0, 3, ROWS)[:, None]


def products(X: np.ndarray, T: np.ndarray) -> None:
    """The products of the new with the training rows, and of the training rows with each other."""
    X32, T32 = X.astype(np.float32), T.astype(np.float32)
    space = np.empty((BLOCK, len(X)), np.float32)
    for part in (X32, T32):
        for start in range(0, len(part), BLOCK):
            block = part[start : start + BLOCK]
            np.dot(block, X32.T, out=space[: len(block)])


def bench_many_rows() -> list[Row]:
    """Fit to 100,000 rows and predict as many new ones: at most twice the products, and 30 seconds."""
    X, y, T = rows()
    TCMNN().fit(X[:2000], y[:2000]).confident_predict(T[:100])
    ours = seconds_of(lambda: TCMNN().fit(X, y).confident_predict(T))
    other = seconds_of(lambda: products(X, T))
    size = f"TCM-NN k=1, {ROWS} new rows, {ROWS} x {FEATURES} training rows"
    return [
        (f"{size}, beside its float32 products", ours, other, other / ours, {"repeats": 1, "goal": 0.5}),
        (f"{size}, beside 30 s", ours, 30.0, 30.0 / ours, {"repeats": 1, "goal": 1.0}),
    ]


LOAD = """
import sys
import pandas as pd
from skops.io import get_untrusted_types, load
model = load(sys.argv[1], trusted=get_untrusted_types(file=sys.argv[1]))
scores = model.predict_proba(pd.read_csv(sys.argv[2]).to_numpy())
"""


def bench_model_file() -> list[Row]:
    """Write and read the model of a forest, and predict with its file, beside skops with the bare forest."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    frame = pd.DataFrame(rng.normal(size=(2000, 8)) + y[:, None]).add_prefix("x")
    with tempfile.TemporaryDirectory() as folder:
        ours, other, new, script = (Path(folder, name) for name in ("m.confml", "m.skops", "new.csv", "s.py"))
        frame[:FEW].to_csv(new, index=False)
        script.write_text(LOAD)
        method = "sklearn.ensemble.RandomForestClassifier"
        confml.predict(frame.assign(y=y), new, label="y", method=method, steps=[], seed=1, save=ours)
        model = confml.load_model(ours)
        forest = model.method.estimator_
        trusted = get_untrusted_types(data=dumps(forest))
        name = f"{len(forest.estimators_)} trees, beside skops with the bare forest"
        in_python = paired(
            f"model file of {name}",
            lambda: (confml.save_model(model, ours), confml.load_model(ours)),
            lambda: (dump(forest, other), load(other, trusted=trusted)),
            goal=0.67,
        )
        commands = [
            [sys.executable, "-m", "confml", "predict", str(ours), str(new), "--quiet"],
            [sys.executable, str(script), str(other), str(new)],
        ]
        spent = [[_seconds_of_process(command) for command in commands] for _ in range(4)]
    a, b = np.median(spent[1:], axis=0)  # the first ones write compiled modules
    notes = {"repeats": 3, "goal": 0.5}
    return [in_python, (f"{FEW} new rows with a model file of {name}, start-up included", a, b, b / a, notes)]


SCRIPT = """
import sys
import numpy as np, pandas as pd
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
train, new = pd.read_csv(sys.argv[1]), pd.read_csv(sys.argv[2])
model = make_pipeline(StandardScaler(), GaussianNB()).fit(train.drop(columns="y"), train.y)
scores, classes = model.predict_proba(new), model.classes_
out = pd.DataFrame({"line": np.arange(2, len(new) + 2), "prediction": classes[scores.argmax(axis=1)]})
out["confidence"] = scores.max(axis=1)
for column, label in enumerate(classes):
    out[f"prob[{label}]"] = scores[:, column]
order = np.argsort(-scores, axis=1, kind="stable")
sums = np.cumsum(np.take_along_axis(scores, order, axis=1), axis=1)
sets = range(2 ** len(classes))
names = np.array(["|".join(str(c) for j, c in enumerate(classes) if one >> j & 1) for one in sets])
for level in (0.05, 0.1):
    region = np.zeros(scores.shape, dtype=bool)
    size = 1 + np.sum(sums < 1 - level - 1e-12, axis=1)
    np.put_along_axis(region, order, np.arange(len(classes)) < size[:, None], axis=1)
    out[f"region@{level}"] = names[region @ (1 << np.arange(len(classes)))]
    out[f"reason@{level}"] = np.array(["atypical", "certain", "ambiguous"])[np.minimum(region.sum(axis=1), 2)]
out.to_csv(sys.argv[3], index=False)
"""
MANY = 1_000_000


def bench_csv_file() -> Row:
    """``confml predict`` from CSV to CSV beside a script of pandas and scikit-learn, start-up included."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        train, new, script, out = (
            Path(folder, name) for name in ("train.csv", "new.csv", "script.py", "out")
        )
        for path, rows in ((train, 2000), (new, MANY)):
            labels = rng.integers(0, 3, rows)
            frame = pd.DataFrame(np.round(rng.normal(size=(rows, 6)) + 0.8 * labels[:, None], 6)).add_prefix(
                "x"
            )
            (frame.assign(y=np.array(list("abc"))[labels]) if path == train else frame).to_csv(
                path, index=False
            )
        script.write_text(SCRIPT)
        fit = (
            "--train",
            str(train),
            "--label",
            "y",
            "--method",
            "naive-bayes",
            "--level",
            "0.05",
            "--level",
            "0.1",
        )
        ours = [sys.executable, "-m", "confml", "predict", *fit, str(new), "--out", f"{out}1.csv", "--quiet"]
        other = [sys.executable, str(script), str(train), str(new), f"{out}2.csv"]
        spent: dict[str, list[float]] = {"ours": [], "other": []}
        for _ in range(3):
            for name, command in (("ours", [*ours, "--force"]), ("other", other)):
                spent[name].append(_seconds_of_process(command))
    a, b = (float(np.median(one)) for one in spent.values())
    name = f"confml predict, naive-bayes, {MANY} rows of CSV, beside a script of pandas and scikit-learn"
    return name, a, b, b / a, {"repeats": 3, "goal": 1.0}


def _seconds_of_process(command: list[str]) -> float:
    """Processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


BENCHMARKS = (bench_many_rows, bench_model_file, bench_csv_file)
