"""Predictions of new rows: many of them beside the float32 products, and a few with a stored model."""

from __future__ import annotations

import functools
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from _pairs import Row, seconds_of

import confml
from confml.methods.tcm_nn import TCMNN

ROWS, FEATURES, BLOCK, FEW, LIMIT = 100_000, 30, 512, 10, 0.5


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
    TCMNN.compile_kernels()
    TCMNN().fit(X[:2000], y[:2000]).confident_predict(T[:100])
    ours = seconds_of(lambda: TCMNN().fit(X, y).confident_predict(T))
    other = seconds_of(lambda: products(X, T))
    size = f"TCM-NN k=1, {ROWS} new rows, {ROWS} x {FEATURES} training rows"
    return [
        (f"{size}, beside its float32 products", ours, other, other / ours, {"repeats": 1, "goal": 0.5}),
        (f"{size}, beside 30 s", ours, 30.0, 30.0 / ours, {"repeats": 1, "goal": 1.0}),
    ]


def bench_stored_model() -> Row:
    """``confml predict model.confml new.csv`` with 10 new rows, start-up included: at most 0.5 s."""
    X, y, T = rows()
    names = [f"x{column}" for column in range(FEATURES)]
    with tempfile.TemporaryDirectory() as folder:
        model, new = Path(folder, "model.confml"), Path(folder, "new.csv")
        pd.DataFrame(T[:FEW], columns=names).to_csv(new, index=False)
        confml.predict(pd.DataFrame(X, columns=names).assign(y=y), new, label="y", save=model)
        command = [sys.executable, "-m", "confml", "predict", str(model), str(new), "--quiet"]
        spent = []
        for _ in range(6):  # the first one writes compiled modules
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    ours = float(np.median(spent[1:]))
    name = f"{FEW} new rows with a stored TCM-NN of {ROWS} x {FEATURES} rows, with start-up, beside {LIMIT} s"
    return name, ours, LIMIT, LIMIT / ours, {"repeats": 5, "goal": 1.0}


BENCHMARKS = (bench_many_rows, bench_stored_model)
