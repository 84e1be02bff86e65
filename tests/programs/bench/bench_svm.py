"""Linear SVMs put together beside scikit-learn's LinearSVC, cold at each of 19 values of C.

2^-18 to 2^18 on nine tenths of letter (one inner fold), one thread. The machines are the same: squared hinge
loss, a bias that counts in |w|. Ours goes along C.
"""

from __future__ import annotations

import functools
import warnings

import numpy as np
from _pairs import Row, paired
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC

from confml.data import load
from confml.methods.svm.ovo_svm import OvOSVM
from confml.methods.svm.ovr_svm import OvRSVM

CS = [2.0**power for power in range(-18, 19, 2)]


def bench_linear_svms() -> list[Row]:
    data = load({"name": "letter"})
    rows = np.random.default_rng(1).permutation(len(data.X))[: 9 * len(data.X) // 10]
    X, y = (data.X[rows] - data.X[rows].min(axis=0)) / np.ptp(data.X[rows], axis=0), data.y[rows]

    def ours(method):
        for _ in method(tolerance=2e-4).evaluate_path(X, y, X[:1], [{"C": C} for C in CS]):
            pass

    def reference(whole):
        for C in CS:
            whole(LinearSVC(C=C, dual="auto")).fit(X, y)

    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, method, whole in (
            ("OvO", OvOSVM, OneVsOneClassifier),
            ("OvR", OvRSVM, lambda machine: machine),
        ):
            method().fit(X[:2000], y[:2000])
            what = f"{name}, {len(CS)} values of C, letter, beside cold fits of LinearSVC"
            pair = functools.partial(ours, method), functools.partial(reference, whole)
            rows.append(paired(what, *pair, 1, goal=1.0))
    return rows


BENCHMARKS = (bench_linear_svms,)
