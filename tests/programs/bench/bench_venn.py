"""Venn-Abers beside the package venn-abers, and the time of a million rows."""

from __future__ import annotations

import functools

import numpy as np
from _pairs import Row, Skipped, paired

from confml.methods.venn_abers.venn_abers import VennAbersTable

CALIBRATION, TEST = 50_000, 20_000
MILLION = 1_000_000


@functools.cache
def scores() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibration scores, labels, and test scores of a classifier with two classes."""
    rng = np.random.default_rng(0)
    labels = rng.random(CALIBRATION) < 0.4
    calibration = 1 / (1 + np.exp(-rng.normal(size=CALIBRATION) - 2 * labels + 1))
    return calibration, labels, 1 / (1 + np.exp(-rng.normal(size=TEST)))


def bench_venn_abers() -> Row:
    """Tables and predictions of an inductive predictor: not slower than venn-abers, with the same numbers."""
    try:
        from venn_abers import VennAbers
    except ImportError:
        raise Skipped("venn-abers is not installed (pip install 'confml[bench]')") from None
    calibration, labels, test = scores()
    found = {}

    def ours():
        p1, rest = VennAbersTable.of(calibration, labels).probabilities(test)
        found["ours"] = np.stack([1 - rest, p1], axis=1)

    def other():
        model = VennAbers()
        model.fit(np.stack([1 - calibration, calibration], axis=1), labels.astype(int))
        found["other"] = model.predict_proba(np.stack([1 - test, test], axis=1))[1]

    VennAbersTable.of(calibration[:9], labels[:9])
    name = f"inductive Venn-Abers, {CALIBRATION} + {TEST} rows, beside venn-abers"
    row = paired(name, ours, other, 3, goal=1.0)
    row[4]["largest_difference"] = float(np.abs(found["ours"] - found["other"]).max())
    return row


def bench_million() -> Row:
    """A million scores, and as many new ones, beside two sorts and one pass of NumPy."""
    rng = np.random.default_rng(0)
    labels = rng.random(MILLION) < 0.4
    calibration = 1 / (1 + np.exp(-rng.normal(size=MILLION) - 2 * labels + 1))
    test = 1 / (1 + np.exp(-rng.normal(size=MILLION)))

    def ours():
        VennAbersTable.of(calibration, labels).probabilities(test)

    def other():
        order, places = np.argsort(calibration, kind="stable"), np.argsort(test)
        sums = np.cumsum(labels[order])
        sums[np.searchsorted(calibration[order], test[places]) - 1]

    ours()
    name = f"inductive Venn-Abers, {MILLION} + {MILLION} rows, beside its sorts and one pass"
    return paired(name, ours, other, 5, goal=1 / 1.5)


BENCHMARKS = (bench_venn_abers, bench_million)
