"""The rows of a study of Bayes errors, and the files that hold them."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from confml.bayes_error.complexity import FORMULAS, cover_hart_bound
from confml.bayes_error.selection import best_transform_of_pairs
from confml.report.files import remove_earlier, write_csv, write_file
from confml.studies.bayes_error.figures import FIGURES, draw_study
from confml.studies.bayes_error.overall import (
    delta_rows,
    neighbour_rows,
    noise_rows,
    noise_score_rows,
    overall_rows,
    subsample_rows,
)
from confml.studies.bayes_error.selections import (
    selection_rows,
    transform_of_class_rows,
    transform_rows,
)
from confml.studies.bayes_error.study import Study

ESTIMATES = ("estimate", "estimate_tie_low", "estimate_tie_high")
BOUNDS = ("lower", "upper")
CROSSINGS = ("crossings", "crossings_tie_low", "crossings_tie_high")


def pair_rows(study: Study) -> list[dict[str, Any]]:
    """Return one row per pair of classes, hardest pair first.

    estimate: Bayes error divided by the smaller prior; estimate_tie_low, estimate_tie_high: lowest and
    highest estimate that other orders of equal distances can give, tree by tree (a tie band, not a confidence
    interval; the estimate lies in it); bayes_error: the estimate itself; lower, upper: bounds of the Bayes
    error; crossings: mean over the trees; crossings_tie_low, crossings_tie_high: their tie band.
    """
    rates, classes = study.assessment.errors.pairwise, study.classes.tolist()
    prior = _smaller_priors(study.rows[:, None], study.rows[None, :])
    first, second = np.triu_indices(len(classes), 1)
    order = np.lexsort((second, first, -rates.estimate[first, second]))
    found = []
    for a, b in zip(first[order].tolist(), second[order].tolist(), strict=True):
        row = {
            "class_a": classes[a],
            "class_b": classes[b],
            "rows_a": int(study.rows[a]),
            "rows_b": int(study.rows[b]),
            **_values(rates, prior, (a, b)),
        }
        if study.intervals is not None:
            row |= _interval(study.intervals.pairwise, (a, b))
        if study.p_values is not None:
            row["p_value"] = float(study.p_values[a, b])
        if study.test is not None:
            row["test_errors"] = int(study.test.confusion[a, b] + study.test.confusion[b, a])
        found.append(row)
    return found


def class_rows(study: Study) -> list[dict[str, Any]]:
    """Return one row per class against the rest, hardest class first; fields as in `pair_rows`."""
    rates = study.assessment.errors.one_vs_rest
    prior = _smaller_priors(study.rows, study.rows.sum() - study.rows)
    found = []
    for k in np.argsort(-rates.estimate, kind="stable").tolist():
        row = {
            "class": study.classes.tolist()[k],
            "rows": int(study.rows[k]),
            **_values(rates, prior, k),
        }
        if study.intervals is not None:
            row |= _interval(study.intervals.one_vs_rest, k)
        if study.test is not None:
            row["test_confusion_rate"] = float(study.test.confusion_rate[k])
            row["test_class_error"] = float(study.test.class_error[k])
        found.append(row)
    return found


def measure_rows(study: Study) -> list[dict[str, Any]]:
    """Return the complexity measures and the nearest-neighbour bounds with their definitions."""
    found = [
        {"measure": name, "value": one.value, "least": one.least, "most": one.most, "formula": FORMULAS[name]}
        for name, one in study.assessment.measures.items()
    ]
    near = study.assessment.neighbours
    error = {"value": near.error, "least": near.least, "most": near.most}
    return [
        *found,
        {
            "measure": "1-NN upper bound",
            **error,
            "formula": "leave-one-out error e of 1-NN; for many rows at least the Bayes error of all classes",
        },
        {
            "measure": "1-NN lower bound",
            "value": near.lower,
            "least": cover_hart_bound(near.least, len(study.classes)),
            "most": cover_hart_bound(near.most, len(study.classes)),
            "formula": "(K-1)/K (1 - sqrt(1 - K/(K-1) e)), at most the Bayes error (Cover and Hart 1967)",
        },
    ]


def transform_of_pair_rows(study: Study) -> list[dict[str, Any]]:
    """Return the best transform of each pair of classes, with its estimate."""
    if not study.ranked:
        return []
    best = best_transform_of_pairs(study.ranked)
    estimate = {one.name: one.errors.pairwise.estimate for one in study.ranked}
    classes = study.classes.tolist()
    return [
        {
            "class_a": classes[a],
            "class_b": classes[b],
            "transform": best[a, b],
            "estimate": float(estimate[best[a, b]][a, b]),
        }
        for a, b in zip(*np.triu_indices(len(classes), 1), strict=True)
    ]


def summary(study: Study) -> dict[str, Any]:
    """Return the main numbers and the settings of a study."""
    request, pairs = study.request, study.assessment.errors.pairwise.estimate
    upper = pairs[np.triu_indices(len(study.classes), 1)]
    return {
        "dataset": study.name,
        "rows": int(study.rows.sum()),
        "columns": study.columns,
        "classes": len(study.classes),
        "trees": request.trees,
        "count": request.count,
        "bias_corrected": request.correct_bias,
        "scale": request.scale,
        "seed": request.seed,
        "about": list(study.about),
        "mean_of_pairs": float(upper.mean()),
        "worst_pair": float(upper.max()),
        "true_bayes_error": study.true_error,
        "classifier": None
        if study.test is None
        else {"name": study.test.classifier, "test_error": study.test.error},
        "neighbours": request.neighbours,
        "noise_repeats": request.repeats if request.noise else None,
        "interval_level": request.intervals,
        "permutations": request.permutations,
        "criterion": request.criterion,
        "warnings": list(study.warnings),
    }


def study_document(study: Study) -> dict[str, Any]:
    """Return all results as plain data for JSON; undefined numbers (NaN) are null."""
    parts = {name.replace("-", "_"): rows for name, rows in _tables(study).items() if rows}
    return _plain({**summary(study), **parts})


def _tables(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table by the name of its file."""
    return {
        "pairs": pair_rows(study),
        "one-vs-rest": class_rows(study),
        "measures": measure_rows(study),
        "overall": overall_rows(study),
        "global-tree": delta_rows(study),
        "neighbours": neighbour_rows(study),
        "subsamples": subsample_rows(study),
        "noise": noise_rows(study),
        "noise-scores": noise_score_rows(study),
        "selection": selection_rows(study),
        "transforms": transform_rows(study),
        "transforms-of-pairs": transform_of_pair_rows(study),
        "transforms-of-classes": transform_of_class_rows(study),
    }


def write_study(study: Study, folder: Path) -> list[Path]:
    """Write CSV and JSON files and the figures below a folder, and return their paths.

    Stale files of an earlier study are removed.
    """
    tables = _tables(study)
    paths = [
        write_csv(folder / f"{name}.csv", list(rows[0]), [list(row.values()) for row in rows])
        for name, rows in tables.items()
        if rows
    ]
    text = json.dumps(study_document(study), indent=1, ensure_ascii=False)
    paths += [write_file(folder / "bayes-error.json", text + "\n"), *draw_study(study, folder)]
    remove_earlier(folder, [*(f"{name}.csv" for name in tables), *FIGURES], paths)
    return paths


def _values(rates, prior: np.ndarray, place) -> dict[str, float]:
    return {
        **{name: float(getattr(rates, name)[place]) for name in ESTIMATES},
        "bayes_error": float(rates.estimate[place] * prior[place]),
        **{name: float(getattr(rates, name)[place]) for name in (*BOUNDS, *CROSSINGS)},
    }


def _interval(interval, place) -> dict[str, float]:
    return {"interval_low": float(interval.low[place]), "interval_high": float(interval.high[place])}


def _smaller_priors(m: np.ndarray, n: np.ndarray) -> np.ndarray:
    return np.minimum(m, n) / (m + n)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
