"""Linear SVMs put together beside scikit-learn's LinearSVC, cold at each of 19 values of C.

2^-18 to 2^18 on nine tenths of letter (one inner fold), one thread. The machines are the same: squared hinge
loss, a bias that counts in |w|. Ours goes along C.
"""

from __future__ import annotations

import warnings

import numpy as np
from _pairs import Row, paired

from confml.data import load
from confml.methods.svm.ovo_svm import OvOSVM
from confml.methods.svm.ovr_svm import OvRSVM

CS = [2.0**power for power in range(-18, 19, 2)]


def _beside_linear_svc(name: str, method, others) -> Row:
    """The same problems at all values of C. others: how a `LinearSVC` gets all of them."""
    from sklearn.svm import LinearSVC

    data = load({"name": "letter"})
    rows = np.random.default_rng(1).permutation(len(data.X))[: 9 * len(data.X) // 10]
    X, y = (data.X[rows] - data.X[rows].min(axis=0)) / np.ptp(data.X[rows], axis=0), data.y[rows]

    def ours():
        for _ in method(tolerance=2e-4).evaluate_path(X, y, X[:1], [{"C": C} for C in CS]):
            pass

    def other():
        for C in CS:
            others(LinearSVC(C=C, dual="auto")).fit(X, y)

    method().fit(X[:2000], y[:2000])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        what = f"{name}, {len(CS)} values of C, letter, beside cold fits of LinearSVC"
        return paired(what, ours, other, 1, goal=1.0)


def bench_ovo() -> Row:
    from sklearn.multiclass import OneVsOneClassifier

    return _beside_linear_svc("OvO", OvOSVM, OneVsOneClassifier)


def bench_ovr() -> Row:
    return _beside_linear_svc("OvR", OvRSVM, lambda machine: machine)


BENCHMARKS = (bench_ovo, bench_ovr)
