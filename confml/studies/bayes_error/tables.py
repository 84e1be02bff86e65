"""The tables of a study of Bayes errors as rows, and its document."""

import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from confml.bayes_error.complexity import FORMULAS, cover_hart_bound
from confml.bayes_error.label_noise import ABOUT, BOUNDS, INTERVALS, MEASURED_LEVEL
from confml.bayes_error.selection import best_transform_of_pairs
from confml.report.files import write_csv, write_file
from confml.studies.bayes_error.study import Study

Rows = list[dict[str, Any]]
TABLES: dict[str, Callable[[Study], Rows]] = {}
"""The tables by the names of their files."""


def _table(name: str, columns: str = "") -> Callable[[Callable[[Study], Iterable]], Callable[[Study], Rows]]:
    """Return a decorator that registers the rows of a table. columns: names of the values of tuples."""

    def register(rows: Callable[[Study], Iterable]) -> Callable[[Study], Rows]:
        @functools.wraps(rows)
        def named(study: Study) -> Rows:
            return [dict(zip(columns.split(), row, strict=True)) if columns else row for row in rows(study)]

        TABLES[name] = named
        return named

    return register


_ESTIMATES = ("estimate", "estimate_tie_low", "estimate_tie_high")
_LIMITS = ("lower", "upper", "crossings", "crossings_tie_low", "crossings_tie_high")
_NAN = float("nan")


# ---- pairs of classes, and one class against the rest


@_table("pairs")
def pair_rows(study: Study) -> Rows:
    """Return one row per pair of classes, hardest pair first.

    estimate: Bayes error divided by the smaller prior; estimate_tie_low, estimate_tie_high: lowest and
    highest estimate that other orders of equal distances can give, tree by tree (a tie band, not a confidence
    interval; the estimate lies in it); bayes_error: the estimate itself; lower, upper: bounds of the Bayes
    error; crossings: mean over the trees; crossings_tie_low, crossings_tie_high: their tie band.
    """
    rates, classes = study.assessment.errors.pairwise, study.classes.tolist()
    prior = _smaller_priors(study.rows[:, None], study.rows[None, :])
    pairs = _pairs(classes)
    found = []
    for a, b in sorted(pairs, key=lambda pair: -rates.estimate[pair]):
        row = {"class_a": classes[a], "class_b": classes[b], "rows_a": study.rows[a], "rows_b": study.rows[b]}
        row |= _values(rates, prior, (a, b))
        if study.intervals is not None:
            row |= _interval(study.intervals.pairwise, (a, b))
        if study.p_values is not None:
            row["p_value"] = study.p_values[a, b]
        if study.test is not None:
            row["test_errors"] = study.test.confusion[a, b] + study.test.confusion[b, a]
        found.append(row)
    return found


@_table("one-vs-rest")
def class_rows(study: Study) -> Rows:
    """Return one row per class against the rest, hardest class first; fields as in `pair_rows`."""
    rates, classes = study.assessment.errors.one_vs_rest, study.classes.tolist()
    prior = _smaller_priors(study.rows, study.rows.sum() - study.rows)
    found = []
    for k in np.argsort(-rates.estimate, kind="stable"):
        row = {"class": classes[k], "rows": study.rows[k], **_values(rates, prior, k)}
        if study.intervals is not None:
            row |= _interval(study.intervals.one_vs_rest, k)
        if study.test is not None:
            row["test_confusion_rate"] = study.test.confusion_rate[k]
            row["test_class_error"] = study.test.class_error[k]
        found.append(row)
    return found


@_table("measures", "measure value least most formula")
def measure_rows(study: Study) -> Iterator[tuple]:
    """Yield the complexity measures and the nearest-neighbour bounds with their definitions."""
    near, count = study.assessment.neighbours, len(study.classes)
    lower = (near.lower, cover_hart_bound(near.least, count), cover_hart_bound(near.most, count))
    for name, one in study.assessment.measures.items():
        yield name, one.value, one.least, one.most, FORMULAS[name]
    about = "leave-one-out error e of 1-NN; for many rows at least the Bayes error of all classes"
    yield "1-NN upper bound", near.error, near.least, near.most, about
    about = "(K-1)/K (1 - sqrt(1 - K/(K-1) e)), at most the Bayes error (Cover and Hart 1967)"
    yield "1-NN lower bound", *lower, about


# ---- all classes


@_table(
    "overall",
    "estimator estimate interval_low interval_high lower upper interval_holds bounds_hold definition",
)
def overall_rows(study: Study) -> Iterator[tuple]:
    """Yield one row per estimator of the Bayes error of all classes.

    estimate; interval_low, interval_high: interval of the Bayes error; lower, upper: bounds of the Bayes
    error for infinitely many rows, without sampling error; interval_holds, bounds_hold: in which share of
    simulated data sets they contained the Bayes error (the 95 % interval); definition.
    """
    errors = study.assessment.errors
    tree, near, limit, soft = errors.global_tree, errors.neighbours, errors.limit, study.soft_labels
    rows: list[tuple] = [
        ("global-tree", tree.estimate, _NAN, _NAN, tree.lower, tree.upper, ABOUT["global-tree"])
    ]
    if near is not None:
        first = study.assessment.neighbours
        middle = min((first.error + first.lower) / 2, near.most)
        rows.append(("1-nn", middle, _NAN, _NAN, first.lower, first.error, ABOUT["1-nn"]))
        value, *bounds = near.bounds
        rows.append(("k-nn", value, *near.interval(study.request.level), *bounds, ABOUT["k-nn"]))
    if limit is not None:
        about = f"the same for {limit.k}-NN, extrapolated to infinitely many rows"
        rows.append(("k-nn-limit", limit.estimate, limit.low, limit.high, _NAN, _NAN, about))
    if soft is not None:
        lower, about = _NAN, "mean of 1 - largest probability (Ishida et al. 2023)"
        if soft.annotated:
            lower, about = soft.mean, "votes of annotators: mean of vote risk and error of the held-out one"
        rows.append(("soft-labels", soft.estimate, soft.low, soft.high, lower, soft.held_out, about))
    for name, *numbers, about in rows:
        kind = "annotators" if name == "soft-labels" and soft is not None and soft.annotated else name
        known = study.request.level == MEASURED_LEVEL and not np.isnan(numbers[1])
        holds = _shares(INTERVALS.get(kind)) if known else "", _shares(BOUNDS.get(kind))
        yield name, *map(float, numbers), *holds, about


def _shares(measured: tuple[float, float] | None) -> str:
    """Return the smallest and largest share as text, empty if nothing was measured."""
    return "" if measured is None else f"{100 * measured[0]:.0f}-{100 * measured[1]:.0f} %"


@_table("global-tree", "class_a class_b delta")
def delta_rows(study: Study) -> Iterator[tuple]:
    """Yield the share of the edges of the tree of all rows between each two classes, divided by 2."""
    delta, classes = study.assessment.errors.global_tree.delta, study.classes.tolist()
    yield from ((classes[a], classes[b], delta[a, b]) for a, b in _pairs(classes))


@_table("neighbours", "k error vote_risk lower estimate standard_error")
def neighbour_rows(study: Study) -> Iterator[tuple]:
    """Yield one row per k: leave-one-out error, vote risk, lower bound from the error, estimate and its
    standard error."""
    near = study.assessment.errors.neighbours
    if near is not None:
        columns = near.k, near.error, near.vote_risk, near.lower, near.estimate, near.standard_error
        yield from zip(*columns, strict=True)


@_table("subsamples", "k rows error vote_risk fitted")
def subsample_rows(study: Study) -> Iterator[tuple]:
    """Yield one row per size of the subsamples: error, vote risk and the fitted curve."""
    limit = study.assessment.errors.limit
    if limit is not None:
        for row in zip(limit.sizes, limit.error, limit.vote_risk, limit.curve, strict=True):
            yield limit.k, *row


@_table("noise", "estimator rate estimate deviation lower upper known_low known_high")
def noise_rows(study: Study) -> Iterator[tuple]:
    """Yield one row per estimator and noise rate: means over the draws, the standard deviation of the
    estimate, and the range in which the Bayes error must be."""
    series = study.noise
    if series is None:
        return
    for name, estimates in series.estimate.items():
        bounds = (values[name].mean(axis=1) for values in (series.lower, series.upper))
        columns = (series.rates, estimates.mean(axis=1), estimates.std(axis=1), *bounds)
        for row in zip(*columns, series.known_low, series.known_high, strict=True):
            yield name, *row


@_table("noise-scores", "estimator area area_lower area_upper definition")
def noise_score_rows(study: Study) -> list[tuple]:
    """Return one row per estimator, best first: the areas outside the known range of estimate, lower bound
    and upper bound; see `NoiseSeries.area`."""
    series = study.noise
    if series is None:
        return []
    areas = {
        name: [series.area(name, *of) for of in ((), ("lower",), ("upper",))] for name in series.estimate
    }
    return sorted(((name, *own, ABOUT[name]) for name, own in areas.items()), key=lambda row: row[1])


# ---- selected features and ranked transforms


@_table("selection", "step attribute criterion")
def selection_rows(study: Study) -> Iterator[tuple]:
    """Yield the selected features in order, with the criterion after each."""
    if study.selection is not None:
        chosen = zip(study.selection.attributes, study.selection.criterion, strict=True)
        for step, (number, criterion) in enumerate(chosen, 1):
            yield step, study.attributes[number], criterion


@_table("transforms", "transform columns mean_of_pairs worst_pair mean_of_classes worst_class")
def transform_rows(study: Study) -> Iterator[tuple]:
    """Yield the transforms, best first: mean and worst of the pairs, mean and worst of one-vs-rest."""
    for one in study.ranked or ():
        pairs = one.errors.pairwise.estimate[np.triu_indices(len(study.classes), 1)]
        rest = one.errors.one_vs_rest.estimate
        yield one.name, one.columns, pairs.mean(), pairs.max(), rest.mean(), rest.max()


@_table("transforms-of-pairs", "class_a class_b transform estimate")
def transform_of_pair_rows(study: Study) -> Iterator[tuple]:
    """Yield the best transform of each pair of classes, with its estimate."""
    if study.ranked:
        best, classes = best_transform_of_pairs(study.ranked), study.classes.tolist()
        estimate = {one.name: one.errors.pairwise.estimate for one in study.ranked}
        for a, b in _pairs(classes):
            yield classes[a], classes[b], best[a, b], estimate[best[a, b]][a, b]


@_table("transforms-of-classes", "class transform columns estimate bayes_error lower upper")
def transform_of_class_rows(study: Study) -> Iterator[tuple]:
    """Yield the one-vs-rest estimate, Bayes error and bounds of each class after each transform.

    The Bayes error is the middle of its bounds, whose priors are those of the ranked rows.
    """
    for place, label in enumerate(study.classes.tolist()):
        for one in study.ranked or ():
            rest = one.errors.one_vs_rest
            low, high = float(rest.lower[place]), float(rest.upper[place])
            yield label, one.name, one.columns, rest.estimate[place], (low + high) / 2, low, high


# ---- files


def study_document(study: Study) -> dict[str, Any]:
    """Return the settings and all results as plain data for JSON; undefined numbers (NaN) are null."""
    request, pairs = study.request, study.assessment.errors.pairwise.estimate
    upper = pairs[np.triu_indices(len(study.classes), 1)]
    test = study.test
    settings = {
        "dataset": study.name,
        "rows": study.rows.sum(),
        "columns": study.columns,
        "classes": len(study.classes),
        "trees": request.trees,
        "count": request.count,
        "bias_corrected": request.correct_bias,
        "scale": request.scale,
        "seed": request.seed,
        "about": list(study.about),
        "mean_of_pairs": upper.mean(),
        "worst_pair": upper.max(),
        "true_bayes_error": study.true_error,
        "classifier": None if test is None else {"name": test.classifier, "test_error": test.error},
        "neighbours": request.neighbours,
        "noise_repeats": request.repeats if request.noise else None,
        "interval_level": request.intervals,
        "permutations": request.permutations,
        "criterion": request.criterion,
        "warnings": list(study.warnings),
    }
    parts = {name.replace("-", "_"): rows_of(study) for name, rows_of in TABLES.items()}
    return plain({**settings, **{name: rows for name, rows in parts.items() if rows}})


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows with the same keys as a CSV file."""
    return write_csv(path, list(rows[0]), [list(row.values()) for row in rows])


def write_json(path: Path, document: dict[str, Any]) -> Path:
    """Write a document as JSON."""
    return write_file(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def plain(value: Any) -> Any:
    """Return a document for JSON: numbers of numpy as Python's, and numbers that are not finite as None."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _pairs(classes: Sequence) -> list[tuple[int, int]]:
    return list(zip(*(places.tolist() for places in np.triu_indices(len(classes), 1)), strict=True))


def _values(rates, prior: np.ndarray, place) -> dict[str, float]:
    return {
        **{name: getattr(rates, name)[place] for name in _ESTIMATES},
        "bayes_error": rates.estimate[place] * prior[place],
        **{name: getattr(rates, name)[place] for name in _LIMITS},
    }


def _interval(interval, place) -> dict[str, float]:
    return {"interval_low": interval.low[place], "interval_high": interval.high[place]}


def _smaller_priors(m: np.ndarray, n: np.ndarray) -> np.ndarray:
    return np.minimum(m, n) / (m + n)
