"""Conformal p-values, Venn-Abers and certified thresholds beside crepes, MAPIE and venn-abers."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from _pairs import Row, needs, paired, row
from sklearn.naive_bayes import GaussianNB

from confml import Conformal
from confml.measures.certified import certify, threshold_grid
from confml.methods.conformal.scores import counts_against
from confml.methods.venn_abers.venn_abers import VennAbersTable

CALIBRATION, TEST, CLASSES = 5_000, 5_000, 26
DRAWS = 2_000  # of calibration parts
RISK, DELTA = 0.05, 0.05


def bench_split_p_values() -> Row:
    """p-values of all labels from calibration scores with ties, beside crepes; the same numbers."""
    needs("crepes")
    from crepes import ConformalClassifier

    rng = np.random.default_rng(0)
    calibration, test = rng.random(CALIBRATION).round(3), rng.random((TEST, CLASSES)).round(3)
    model = ConformalClassifier()
    model.fit(calibration)

    def ours():
        ordered = np.sort(calibration)
        p_values = np.empty(test.shape)
        for column in range(CLASSES):
            greater, equal = counts_against(ordered, test[:, column], 1.0)
            p_values[:, column] = (greater + equal + 1) / (CALIBRATION + 1)
        return p_values

    def reference():
        return model.predict_p(test, smoothing=False)

    np.testing.assert_allclose(ours(), reference())
    name = f"split conformal p-values, {CALIBRATION} + {TEST} rows, {CLASSES} classes, beside crepes"
    return paired(name, ours, reference, goal=1.0)


def bench_split_conformal() -> list[Row]:
    """Fit, calibration and p-values of all labels, beside MAPIE's regions at one level."""
    needs("mapie")
    from mapie.classification import SplitConformalClassifier

    def reference(X, y, new):
        proper = int(0.7 * len(X))
        fitted = GaussianNB().fit(X[:proper], y[:proper])
        model = SplitConformalClassifier(fitted, confidence_level=0.95, prefit=True)
        model.conformalize(X[proper:], y[proper:]).predict_set(new)

    sizes = (20_000, 100_000, 1_000_000)
    return [_beside_mapie("split conformal", "split", reference, n, 3, goal=1 / 1.5) for n in sizes]


def bench_cross_conformal() -> list[Row]:
    """Fits of five folds and p-values of all labels, beside MAPIE's regions at one level."""
    needs("mapie")
    from mapie.classification import CrossConformalClassifier

    def reference(X, y, new):
        model = CrossConformalClassifier(GaussianNB(), confidence_level=0.95, cv=5)
        model.fit_conformalize(X, y).predict_set(new)

    what = "cross-conformal, 5 folds"
    return [_beside_mapie(what, "cross", reference, n, 5, goal=1 / 1.3) for n in (20_000, 100_000)]


def _beside_mapie(what: str, kind: str, reference: Callable, n: int, repeats: int, goal: float) -> Row:
    """Return the row of a training part and a test part of size n. other: MAPIE's (X, y, new)."""
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=2 * n)
    X = rng.normal(size=(2 * n, 9)) + y[:, None] * np.linspace(0.1, 0.5, 9)

    def ours():
        Conformal(GaussianNB(), kind=kind, random_state=1).fit(X[:n], y[:n]).predict_p_values(X[n:])

    ours()
    name = f"{what}, {n} + {n} rows, 10 classes, beside MAPIE"
    return paired(name, ours, lambda: reference(X[:n], y[:n], X[n:]), repeats, goal)


def bench_venn_abers() -> Row:
    """Tables and predictions of an inductive predictor: not slower than venn-abers, with the same numbers."""
    needs("venn_abers")
    from venn_abers import VennAbers

    rng = np.random.default_rng(0)
    labels = rng.random(50_000) < 0.4
    calibration = 1 / (1 + np.exp(-rng.normal(size=50_000) - 2 * labels + 1))
    test = 1 / (1 + np.exp(-rng.normal(size=20_000)))

    def ours():
        p1, rest = VennAbersTable.of(calibration, labels).probabilities(test)
        return np.stack([1 - rest, p1], axis=1)

    def reference():
        model = VennAbers()
        model.fit(np.stack([1 - calibration, calibration], axis=1), labels.astype(int))
        return model.predict_proba(np.stack([1 - test, test], axis=1))[1]

    np.testing.assert_allclose(ours(), reference(), atol=1e-9)
    return paired("inductive Venn-Abers, 50000 + 20000 rows, beside venn-abers", ours, reference, goal=1.0)


def _simulated(rng, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Confidences, and whether the predictions are right; the accepted rows have risk 0.1 (1 - t)^1.5."""
    confidence = rng.random(rows)
    return confidence, rng.random(rows) >= 0.25 * (1 - confidence) ** 1.5


def _mapie(confidence, correct, grid, method: str):
    """Return the threshold that MAPIE certifies for the precision 1 - `RISK`, or None."""
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        lambda scores: np.column_stack([1 - scores, scores]),
        "precision",
        1 - RISK,
        confidence_level=1 - DELTA,
        list_predict_params=np.sort(grid),
        fwer_method=method,
    )
    return controller.calibrate(confidence, correct.astype(int)).best_predict_param


def bench_certificates() -> list[Row]:
    """Coverage of the certified threshold beside MAPIE's from the same scores and grid, and violations.

    A violation: the risk of the accepted rows, known exactly, is above the limit. Both promise at most 5 %.
    """
    needs("mapie")
    result = []
    for rows in (500, 2000):
        thresholds: dict[str, list[float]] = {"confml": [], "fixed_sequence": [], "bonferroni_holm": []}
        for number in range(DRAWS):
            rng = np.random.default_rng([rows, number])
            confidence, correct = _simulated(rng, rows)
            grid = threshold_grid(_simulated(rng, rows)[0], rows, RISK, DELTA)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for name, of_name in thresholds.items():
                    if name == "confml":
                        threshold = certify(confidence, correct, grid, RISK, DELTA).threshold
                    else:
                        threshold = _mapie(confidence, correct, grid, name)
                    of_name.append(1.0 if threshold is None else threshold)
        table = pd.DataFrame(thresholds)  # the accepted rows have risk 0.1 (1 - t)^1.5
        coverage, violations = (1 - table).mean(), (0.1 * (1 - table) ** 1.5 > RISK).mean()
        texts = {name: f"{name} ({violations[name]:.1%} violated)" for name in table}
        for name in ("fixed_sequence", "bonferroni_holm"):
            what = f"certified coverage, {rows} simulated rows, {texts['confml']}, beside MAPIE {texts[name]}"
            result.append(row(what, coverage["confml"], coverage[name], unit="coverage", goal=1.0))
    return result


BENCHMARKS = (bench_split_p_values, bench_split_conformal, bench_cross_conformal, bench_venn_abers)
WHEN_ASKED = (bench_certificates,)
