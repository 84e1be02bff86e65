"""Conformal p-values, martingales, alarms and certified thresholds beside crepes, online-cp and MAPIE."""

from __future__ import annotations

import warnings

import numpy as np
from _pairs import Row, Skipped, paired

from confml.measures.certified import certify, threshold_grid
from confml.measures.certified_paths import Path, certify_paths, most_accepting
from confml.measures.monitoring import log_martingale
from confml.methods.conformal.scores import counts_against

CALIBRATION, TEST, CLASSES = 5_000, 5_000, 26
STEPS = 5_000
DRAWS, JOINT_DRAWS = 2_000, 200  # of calibration parts
RISK, DELTA = 0.05, 0.05
PROCEDURES = {
    "confml": "ours",
    "MAPIE, fixed sequence": "fixed_sequence",
    "MAPIE, Bonferroni-Holm": "bonferroni_holm",
}


def _installed(package: str) -> None:
    import importlib.util

    if importlib.util.find_spec(package) is None:
        raise Skipped(f"{package} is not installed (pip install 'confml[bench]')")


def bench_split_p_values() -> Row:
    """p-values of all labels from calibration scores with ties, beside crepes; the same numbers."""
    _installed("crepes")
    from crepes import ConformalClassifier

    rng = np.random.default_rng(0)
    calibration, test = rng.random(CALIBRATION).round(3), rng.random((TEST, CLASSES)).round(3)
    model = ConformalClassifier()
    model.fit(calibration)
    found = {}

    def ours():
        placed = np.sort(calibration)
        p = np.empty(test.shape)
        for column in range(CLASSES):
            greater, equal = counts_against(placed, test[:, column], 1.0)
            p[:, column] = (greater + equal + 1) / (CALIBRATION + 1)
        found["ours"] = p

    def other():
        found["other"] = model.predict_p(test, smoothing=False)

    name = f"split conformal p-values, {CALIBRATION} + {TEST} rows, {CLASSES} classes, beside crepes"
    row = paired(name, ours, other, 3, goal=1.0)
    row[4]["largest_difference"] = float(np.abs(found["ours"] - found["other"]).max())
    return row


def bench_split_conformal() -> list[Row]:
    """Fit, calibration and p-values of all labels, beside MAPIE's regions at one level."""
    _installed("mapie")
    from mapie.classification import SplitConformalClassifier
    from sklearn.naive_bayes import GaussianNB

    from confml import Conformal

    rows = []
    for n in (20_000, 100_000, 1_000_000):
        rng = np.random.default_rng(0)
        y = rng.integers(10, size=2 * n)
        X = rng.normal(size=(2 * n, 9)) + y[:, None] * np.linspace(0.1, 0.5, 9)
        training, labels, test = X[:n], y[:n], X[n:]

        def ours(training=training, labels=labels, test=test):
            Conformal(GaussianNB(), random_state=1).fit(training, labels).predict_p_values(test)

        def other(training=training, labels=labels, test=test, proper=int(0.7 * n)):
            fitted = GaussianNB().fit(training[:proper], labels[:proper])
            model = SplitConformalClassifier(fitted, confidence_level=0.95, prefit=True)
            model.conformalize(training[proper:], labels[proper:]).predict_set(test)

        ours()
        rows.append(
            paired(f"split conformal, {n} + {n} rows, 10 classes, beside MAPIE", ours, other, goal=1 / 1.5)
        )
    return rows


def bench_cross_conformal() -> list[Row]:
    """Fits of five folds and p-values of all labels, beside MAPIE's regions at one level."""
    _installed("mapie")
    from mapie.classification import CrossConformalClassifier
    from sklearn.naive_bayes import GaussianNB

    from confml import Conformal

    rows = []
    for n in (20_000, 100_000):
        rng = np.random.default_rng(0)
        y = rng.integers(10, size=2 * n)
        X = rng.normal(size=(2 * n, 9)) + y[:, None] * np.linspace(0.1, 0.5, 9)

        def ours(X=X, y=y, n=n):
            Conformal(GaussianNB(), kind="cross", random_state=1).fit(X[:n], y[:n]).predict_p_values(X[n:])

        def other(X=X, y=y, n=n):
            model = CrossConformalClassifier(GaussianNB(), confidence_level=0.95, cv=5)
            model.fit_conformalize(X[:n], y[:n]).predict_set(X[n:])

        ours()
        name = f"cross-conformal, 5 folds, {n} + {n} rows, 10 classes, beside MAPIE"
        rows.append(paired(name, ours, other, 5, goal=1 / 1.3))
    return rows


def bench_simple_jumper() -> Row:
    """ln of the simple jumper martingale beside crepes, which overflows after many small p-values."""
    _installed("crepes")
    from crepes.martingales import SimpleJumper

    p = np.random.default_rng(1).random(STEPS)
    found = {}

    def ours():
        found["ours"] = log_martingale(p)

    def other():
        found["other"] = np.log(SimpleJumper(J=0.01).apply(p))

    row = paired(f"simple jumper, {STEPS} p-values, beside crepes", ours, other, 3)
    row[4]["largest_difference"] = float(np.abs(found["ours"] - found["other"]).max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = SimpleJumper(J=0.01).apply(np.full(4000, 1e-6))
    row[4]["crepes_after_4000_small_p"] = float(small[-1])
    return row


def _simulated(rng, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Confidences, and whether the predictions are right; the accepted rows have risk 0.1 (1 - t)^1.5."""
    confidence = rng.random(rows)
    return confidence, rng.random(rows) >= 0.25 * (1 - confidence) ** 1.5


def _of_simulated(t: float) -> tuple[float, float]:
    return 1 - t, 0.1 * (1 - t) ** 1.5


def _digits():
    """Out-of-fold confidences of naive Bayes on digits, a population to draw calibration parts from."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    X, y = load_digits(return_X_y=True)
    p = cross_val_predict(GaussianNB(var_smoothing=0.05), X, y, cv=5, method="predict_proba")
    confidence, correct = p.max(axis=1), p.argmax(axis=1) == y

    def draw(rng, rows):
        chosen = rng.integers(0, len(y), rows)
        return confidence[chosen], correct[chosen]

    def of_threshold(t):
        taken = confidence >= t
        return float(taken.mean()), float(1 - correct[taken].mean())

    return draw, of_threshold


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
    _installed("mapie")
    cases = [(f"{rows} simulated rows", rows, _simulated, _of_simulated) for rows in (500, 2000)]
    cases.append(("500 rows of digits, naive Bayes", 500, *_digits()))
    found = []
    for what, rows, draw, of_threshold in cases:
        coverage: dict[str, list[float]] = {"ours": [], "fixed_sequence": [], "bonferroni_holm": []}
        violated = dict.fromkeys(coverage, 0)
        for number in range(DRAWS):
            rng = np.random.default_rng([rows, number])
            confidence, correct = draw(rng, rows)
            grid = threshold_grid(draw(rng, rows)[0], rows, RISK, DELTA)
            points = {"ours": certify(confidence, correct, grid, RISK, DELTA).threshold}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for method in ("fixed_sequence", "bonferroni_holm"):
                    points[method] = _mapie(confidence, correct, grid, method)
            for name, point in points.items():
                share, risk = (0.0, 0.0) if point is None else of_threshold(point)
                coverage[name].append(share)
                violated[name] += risk > RISK
        found += _coverage_rows(f"certified coverage, {what}", coverage, violated)
    return found


def bench_joint_certificates() -> list[Row]:
    """The same for four methods certified together, from which the best one is chosen."""
    _installed("mapie")
    from mapie.risk_control import BinaryClassificationController

    methods, rows = 4, 2000
    coverage: dict[str, list[float]] = {"ours": [], "bonferroni_holm": []}
    violated = dict.fromkeys(coverage, 0)
    for number in range(JOINT_DRAWS):
        rng = np.random.default_rng([methods, number])
        # Four equal methods: the same chance of an error for each, and errors of their own.
        confidence = rng.random((rows, methods))
        correct = rng.random((rows, methods)) >= 0.25 * (1 - confidence) ** 1.5
        grids = [threshold_grid(rng.random(rows), rows, RISK, DELTA / methods) for _ in range(methods)]
        paths = [
            Path.of_errors(confidence[:, one], correct[:, one], grids[one], RISK) for one in range(methods)
        ]
        best = most_accepting(paths, certify_paths(paths, DELTA))
        points = {"ours": None if best is None else float(paths[best[0]].thresholds[best[1]])}
        # MAPIE's labels are one column, so each method has its rows, and its parameter says which they are.
        X = np.column_stack([np.repeat(np.arange(methods), rows), confidence.T.ravel()])
        params = np.array([(one, t) for one in range(methods) for t in grids[one]])
        controller = BinaryClassificationController(
            lambda X, one, t: ((X[:, 0] == one) & (X[:, 1] >= t)).astype(int),
            "precision",
            1 - RISK,
            confidence_level=1 - DELTA,
            list_predict_params=params,
            fwer_method="bonferroni_holm",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = controller.calibrate(X, correct.T.ravel().astype(int)).best_predict_param
        points["bonferroni_holm"] = None if found is None else float(found[1])
        for name, point in points.items():
            share, risk = (0.0, 0.0) if point is None else _of_simulated(point)
            coverage[name].append(share)
            violated[name] += risk > RISK
    return _coverage_rows(f"certified coverage, best of {methods} methods, {rows} rows", coverage, violated)


def _coverage_rows(what: str, coverage: dict[str, list[float]], violated: dict[str, int]) -> list[Row]:
    """Return a row for each procedure of MAPIE: mean coverages, and the rates of violations."""
    ours, draws = np.array(coverage["ours"]), len(coverage["ours"])
    rows = []
    for name in list(coverage)[1:]:
        others = np.array(coverage[name])
        notes = {
            "unit": "coverage",
            "goal": 1.0,
            "draws": draws,
            "standard_error_of_difference": float((ours - others).std(ddof=1) / draws**0.5),
            "lower_share": float(np.mean(ours < others)),
            "violations": violated["ours"] / draws,
            "violations_of_mapie": violated[name] / draws,
        }
        if not rows:  # one row of the documentation's table for all procedures
            notes["columns"] = {
                heading: f"{np.mean(coverage[key]):.3f} ({100 * violated[key] / draws:.1f} %)"
                if key in coverage
                else ""
                for heading, key in PROCEDURES.items()
            }
        a, b = float(ours.mean()), float(others.mean())
        rows.append((f"{what}, beside MAPIE {name}", a, b, a / b if b else float("inf"), notes))
    return rows


BENCHMARKS = (
    *(bench_split_p_values, bench_split_conformal, bench_cross_conformal, bench_simple_jumper),
    *(bench_certificates, bench_joint_certificates),
)
