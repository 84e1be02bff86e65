"""CSV files and model files, beside pandas, scikit-learn and skops."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from _pairs import Row, paired
from bench_runner import in_turns
from skops.io import dump, dumps, get_untrusted_types, load

import confml
from confml.data import load as load_data

ROWS, COLUMNS = 300_000, 10
NEW, CLASSES = 20_000, 500


def bench_csv_table() -> Row:
    """Read 300,000 rows of 10 columns: at most 2.5 times the time of pandas, which checks nothing."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((ROWS, COLUMNS - 1)).round(5)).add_prefix("x")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.csv")
        frame.assign(y=rng.choice(["a", "b", "c"], ROWS)).to_csv(path, index=False)
        name = f"CSV file of {ROWS} rows and {COLUMNS} columns, beside pandas.read_csv"
        return paired(
            name, lambda: load_data({"csv": path, "label": "y"}), lambda: pd.read_csv(path), goal=0.4
        )


def bench_model_file() -> Row:
    """Write and read the model of a forest, beside skops with the bare forest."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    frame = pd.DataFrame(rng.normal(size=(2000, 8)) + y[:, None]).add_prefix("x")
    with tempfile.TemporaryDirectory() as folder:
        ours, reference = Path(folder, "m.confml"), Path(folder, "m.skops")
        method = "sklearn.ensemble.RandomForestClassifier"
        confml.predict(frame.assign(y=y), frame[:10], label="y", method=method, steps=[], seed=1, save=ours)
        model = confml.load_model(ours)
        forest = model.method.estimator_
        trusted = get_untrusted_types(data=dumps(forest))
        return paired(
            f"model file of {len(forest.estimators_)} trees, beside skops with the bare forest",
            lambda: (confml.save_model(model, ours), confml.load_model(ours)),
            lambda: (dump(forest, reference), load(reference, trusted=trusted)),
            goal=0.67,
        )


SCRIPT = """
import sys
import numpy as np, pandas as pd
from sklearn.naive_bayes import GaussianNB
train, new = pd.read_csv(sys.argv[1]), pd.read_csv(sys.argv[2])
model = GaussianNB().fit(train.drop(columns="y"), train.y)
scores, classes = model.predict_proba(new), model.classes_
out = pd.DataFrame({"line": np.arange(2, len(new) + 2), "prediction": classes[scores.argmax(axis=1)]})
out["confidence"] = scores.max(axis=1)
out = pd.concat([out, pd.DataFrame(scores, columns=[f"prob[{label}]" for label in classes])], axis=1)
order = np.argsort(-scores, axis=1, kind="stable")
sums = np.cumsum(np.take_along_axis(scores, order, axis=1), axis=1)
names = classes.astype(str)
for level in (0.05, 0.1):
    sizes = 1 + np.sum(sums < 1 - level - 1e-12, axis=1)
    out[f"region@{level}"] = ["|".join(names[np.sort(row[:size])]) for row, size in zip(order, sizes)]
    out[f"reason@{level}"] = np.array(["atypical", "certain", "ambiguous"])[np.minimum(sizes, 2)]
out.to_csv(sys.argv[3], index=False)
"""


def write_classes(path: Path, rows: int, seed: int, labels: bool) -> None:
    """Write rows of Gaussian classes whose centres do not depend on the seed."""
    y = np.arange(rows) % CLASSES
    centres = np.random.default_rng(2).normal(size=(CLASSES, 6))
    X = np.random.default_rng(seed).normal(size=(rows, 6)) + centres[y]
    frame = pd.DataFrame(X.round(6)).add_prefix("x")
    (frame.assign(y=y) if labels else frame).to_csv(path, index=False)


def bench_predict() -> Row:
    """``confml predict`` with 500 classes, CSV to CSV: at most 1.5 times a script with the same columns."""
    with tempfile.TemporaryDirectory() as folder:
        train, new, script, out = (Path(folder, name) for name in ("train.csv", "new.csv", "script.py", "o"))
        write_classes(train, 10 * CLASSES, seed=1, labels=True)
        write_classes(new, NEW, seed=3, labels=False)
        script.write_text(SCRIPT)
        fit = ("--train", str(train), "--label", "y", "--method", "naive-bayes", "--level", "0.05")
        ours = ("-m", "confml", "predict", *fit, "--level", "0.1", str(new), "--out", f"{out}{{turn}}.csv")
        reference = (str(script), str(train), str(new), f"{out}.csv")
        what = f"confml predict, {NEW} rows, {CLASSES} classes, beside a script of pandas and scikit-learn"
        return in_turns(what, (*ours, "--quiet"), reference, goal=1 / 1.5)


BENCHMARKS = (bench_csv_table, bench_model_file, bench_predict)
