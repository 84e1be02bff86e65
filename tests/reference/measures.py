"""Metrics of one case, each computed from its definition by itself: the literal version of `metrics_of`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

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


def matrix(case: Case) -> np.ndarray:
    labels = np.unique(np.concatenate([case.truth, case.prediction.labels])).tolist()
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for true, predicted in zip(case.truth.tolist(), case.prediction.labels.tolist(), strict=True):
        counts[labels.index(true), labels.index(predicted)] += 1
    return counts


def coverage_of_labels(case: Case, level: float) -> dict:
    """Covered and counted rows of each true label."""
    region, columns = case.prediction.region(level), true_columns(case)
    found = {}
    for row, (y, j) in enumerate(zip(case.truth.tolist(), columns.tolist(), strict=True)):
        covered, rows = found.get(y, (0, 0))
        found[y] = covered + int(j >= 0 and region[row, j]), rows + 1
    return found


def point(case: Case) -> Iterator[tuple]:
    n, right = len(case.truth), int(np.sum(case.prediction.labels == case.truth))
    yield "error", None, ratio(n - right, n)
    yield "accuracy", None, ratio(right, n)
    counts = matrix(case).tolist()
    squares = [sum(count * count for count in row) for row in counts]
    together = sum(squares)
    by_row = sum(sum(row) ** 2 for row in counts)
    by_column = sum(sum(column) ** 2 for column in zip(*counts, strict=True))
    both, of_labels, of_truth = together - n, by_column - together, by_row - together
    neither = n * n - of_labels - of_truth - together
    if n == 0:
        yield "ari", None, NAN
    elif of_labels == of_truth == 0:
        yield "ari", None, 1.0
    else:
        below = (both + of_truth) * (of_truth + neither) + (both + of_labels) * (of_labels + neither)
        yield "ari", None, 2.0 * (both * neither - of_truth * of_labels) / below


def regions(case: Case) -> Iterator[tuple]:
    for level in case.levels if case.prediction.has_regions else ():
        region, columns, n = case.prediction.region(level), true_columns(case), len(case.truth)
        sizes = region.sum(axis=1)
        covered = np.array([j >= 0 and region[row, j] for row, j in enumerate(columns)], dtype=bool)
        one = sizes == 1
        yield "coverage", level, ratio(covered.sum(), n)
        yield "mean_region_size", level, ratio(sizes.sum(), n)
        yield "one_class", level, ratio(one.sum(), n)
        yield "two_or_more", level, ratio((sizes > 1).sum(), n)
        yield "no_class", level, ratio((sizes == 0).sum(), n)
        yield "correct_of_one_class", level, ratio((covered & one).sum(), one.sum())


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
        found = sureness(case.prediction.accepted(threshold), case.prediction.labels == case.truth)
        yield "sure_correct", threshold, found.correct
        yield "sure_incorrect", threshold, found.incorrect
        yield "unsure", threshold, found.unsure
        yield "expected_loss", threshold, 2.0 * found.incorrect - found.correct


def validity(case: Case) -> Iterator[tuple]:
    if case.prediction.kind != "p-value":
        return
    distance, n = NAN, len(case.truth)
    if has_counts(case.prediction) and n:
        p, steps = np.sort(case.smoothed), np.arange(n + 1) / n
        distance = float(max(np.max(steps[1:] - p), np.max(p - steps[:-1])))
    yield "ks_statistic", None, distance
    for level in case.levels:
        shares = [covered / rows for covered, rows in coverage_of_labels(case, level).values()]
        yield "worst_class_coverage", level, min(shares, default=NAN)


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
    pairs = [(known > other) + (known == other) / 2 for known in values[~absent] for other in values[absent]]
    yield "unseen_separation", None, mean(pairs)
    if credibility is None:
        return
    for level in case.levels:
        empty = credibility <= level
        yield "unseen_no_class", level, ratio((empty & absent).sum(), absent.sum())
        yield "known_no_class", level, ratio((empty & ~absent).sum(), (~absent).sum())


def classes_ratio(part: np.ndarray, whole: np.ndarray) -> float:
    values = np.array([a / b if b else 0.0 for a, b in zip(part.tolist(), whole.tolist(), strict=True)])
    return float(values.mean()) if len(values) else NAN


def confusion(case: Case) -> Iterator[tuple]:
    counts = matrix(case)
    rows, predicted, correct = counts.sum(axis=1), counts.sum(axis=0), np.diagonal(counts)
    yield "f1_macro", None, classes_ratio(2 * correct, rows + predicted)


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
    own = np.array([p[row, j] if j >= 0 else 0.0 for row, j in enumerate(columns)])
    there = own > 0
    losses = 0.0 - np.log(own[there])
    yield "log_loss", None, float(losses.mean()) if there.all() else math.inf
    yield "brier", None, float(((p**2).sum(axis=1) + np.where(columns >= 0, 1 - 2 * own, 1.0)).mean())
    counts, values, outcomes = bins_of(p.max(axis=1), case.prediction.labels == case.truth)
    yield "ece", None, float(np.sum(counts * np.abs(values - outcomes)) / n)


MEASURES = (point, regions, selective, validity, efficiency, novelty, confusion, calibration)


def rows_of(case: Case) -> list[tuple[str, float | None, float]]:
    """Every metric of a case that is no online pass, in the order of ``metrics.csv``."""
    return [row for measure in MEASURES for row in measure(case)]
