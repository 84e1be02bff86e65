"""Metrics of one case, each computed from its definition by itself: the literal version of `metrics_of`."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import kstest
from sklearn.metrics import adjusted_rand_score, f1_score

from confml.measures import Case
from confml.measures.p_values import has_counts
from confml.measures.rejection import curve_of, sureness

NAN = math.nan
SHARES = ("probability", "posterior", "vote", "envelope")


def ratio(part, whole) -> float:
    return float(part) / float(whole) if whole else NAN


def mean(values) -> float:
    return math.fsum(values) / len(values) if values else NAN


def true_columns(case: Case) -> np.ndarray:
    classes = case.prediction.classes.tolist()
    return np.array([classes.index(y) if y in classes else -1 for y in case.truth.tolist()], dtype=int)


def covered_rows(case: Case, level: float) -> np.ndarray:
    """Whether the region of each row has its true label."""
    region = case.prediction.region(level)
    return np.array([j >= 0 and region[row, j] for row, j in enumerate(true_columns(case))], dtype=bool)


def point(case: Case) -> Iterator[tuple]:
    n, right = len(case.truth), int(np.sum(case.prediction.labels == case.truth))
    yield "error", None, ratio(n - right, n)
    yield "accuracy", None, ratio(right, n)
    yield "ari", None, adjusted_rand_score(case.truth, case.prediction.labels) if n else NAN


def regions(case: Case) -> Iterator[tuple]:
    for level in case.levels if case.prediction.has_regions else ():
        covered, n = covered_rows(case, level), len(case.truth)
        sizes = case.prediction.region(level).sum(axis=1)
        single = sizes == 1
        yield "coverage", level, ratio(covered.sum(), n)
        yield "mean_region_size", level, ratio(sizes.sum(), n)
        yield "one_class", level, ratio(single.sum(), n)
        yield "two_or_more", level, ratio((sizes > 1).sum(), n)
        yield "no_class", level, ratio((sizes == 0).sum(), n)
        yield "correct_of_one_class", level, ratio((covered & single).sum(), single.sum())


def aurc(curve) -> float:
    """Mean of the risks among the first 1, 2, ... n predictions, with expected errors within ties."""
    errors = np.interp(np.arange(1, curve.n + 1), curve.accepted, curve.errors)
    return float(np.mean(errors / np.arange(1, curve.n + 1))) if curve.n else NAN


def auroc(curve) -> float:
    """Probability that a correct prediction is more confident than a wrong one, ties half."""
    wrong = curve.errors[-1]
    right = curve.n - wrong
    rights = np.diff(curve.accepted - curve.errors)
    wrongs_after = wrong - 0.5 * (curve.errors[1:] + curve.errors[:-1])
    return ratio(np.sum(rights * wrongs_after), right * wrong)


def selective(case: Case) -> Iterator[tuple]:
    curve = None if np.isnan(case.prediction.certainty).any() else curve_of(case.prediction, case.truth)
    yield "augrc", None, NAN if curve is None else curve.augrc()
    yield "aurc", None, NAN if curve is None else aurc(curve)
    yield "auroc_correct", None, NAN if curve is None else auroc(curve)
    for threshold in case.thresholds:
        shares = sureness(case.prediction.accepted(threshold), case.prediction.labels == case.truth)
        yield "sure_correct", threshold, shares.correct
        yield "sure_incorrect", threshold, shares.incorrect
        yield "unsure", threshold, shares.unsure
        yield "expected_loss", threshold, 2.0 * shares.incorrect - shares.correct


def validity(case: Case) -> Iterator[tuple]:
    if case.prediction.kind != "p-value":
        return
    is_defined = has_counts(case.prediction) and len(case.truth)
    yield "ks_statistic", None, float(kstest(case.smoothed, "uniform").statistic) if is_defined else NAN
    for level in case.levels:
        covered = pd.Series(covered_rows(case, level))
        yield "worst_class_coverage", level, float(covered.groupby(case.truth).mean().min())


def efficiency(case: Case) -> Iterator[tuple]:
    if case.prediction.kind != "p-value":
        return
    p, n = case.prediction.scores, len(case.truth)
    false = np.where(np.arange(p.shape[1]) != true_columns(case)[:, None], p, 0.0)
    columns = {
        "sum_of_p": p.sum(axis=1),
        "unconfidence": np.sort(p, axis=1)[:, -2] if p.shape[1] > 1 else np.zeros(n),
        "fuzziness": p.sum(axis=1) - p.max(axis=1),
        "observed_unconfidence": false.max(axis=1),
        "observed_fuzziness": false.sum(axis=1),
    }
    for name, values in columns.items():
        yield name, None, mean(values.tolist())


def novelty(case: Case) -> Iterator[tuple]:
    absent = true_columns(case) < 0
    if not absent.any():
        return
    credibility = case.prediction.credibility
    values = case.prediction.confidence if credibility is None else credibility
    pairs = [(x > y) + (x == y) / 2 for x in values[~absent] for y in values[absent]]
    yield "unseen_separation", None, mean(pairs)
    if credibility is None:
        return
    for level in case.levels:
        empty = credibility <= level
        yield "unseen_no_class", level, ratio((empty & absent).sum(), absent.sum())
        yield "known_no_class", level, ratio((empty & ~absent).sum(), (~absent).sum())


def confusion(case: Case) -> Iterator[tuple]:
    labels = case.truth, case.prediction.labels
    yield "f1_macro", None, f1_score(*labels, average="macro") if len(case.truth) else NAN


def bins_of(values: np.ndarray, outcomes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, mean values and mean outcomes of 15 bins of equal mass that do not divide equal values."""
    order = np.argsort(values, kind="stable")
    ranked = values[order].tolist()
    n, bins = len(ranked), {}
    start = 0
    while start < n:
        end = start + ranked[start:].count(ranked[start])
        bins.setdefault(15 * (start + end) // (2 * n), []).extend(order[start:end].tolist())
        start = end
    counts = np.array([len(rows) for rows in bins.values()])
    # `reduceat` adds numbers in their order.
    means = np.array([np.add.reduceat(values[rows], [0])[0] for rows in bins.values()]) / counts
    return counts, means, np.array([outcomes[rows].sum() for rows in bins.values()]) / counts


def calibration(case: Case) -> Iterator[tuple]:
    names = ("log_loss", "brier", "ece")
    p, columns, n = case.prediction.scores, true_columns(case), len(case.truth)
    if case.prediction.kind not in SHARES:
        return
    if n == 0 or np.isnan(p).any():
        yield from ((name, None, NAN) for name in names)
        return
    p_true = np.array([p[row, j] if j >= 0 else 0.0 for row, j in enumerate(columns)])
    is_positive = p_true > 0
    losses = 0.0 - np.log(p_true[is_positive])
    yield "log_loss", None, float(losses.mean()) if is_positive.all() else math.inf
    yield "brier", None, float(((p**2).sum(axis=1) + np.where(columns >= 0, 1 - 2 * p_true, 1.0)).mean())
    counts, values, outcomes = bins_of(p.max(axis=1), case.prediction.labels == case.truth)
    yield "ece", None, float(np.sum(counts * np.abs(values - outcomes)) / n)


MEASURES = (point, regions, selective, validity, efficiency, novelty, confusion, calibration)


def rows_of(case: Case) -> list[tuple[str, float | None, float]]:
    """Every metric of a case that is no online pass, in the order of ``metrics.csv``."""
    return [row for measure in MEASURES for row in measure(case)]
