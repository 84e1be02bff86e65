"""Checks of the results of methods: shapes, scores, labels and metrics."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from confml.errors import ConfmlError, printable
from confml.measures.prediction import Prediction
from confml.methods.base import Views

# Kinds with scores in [0, 1], and kinds with scores that sum to 1 in each row.
UNIT_KINDS = ("p-value", "probability", "vote", "envelope", "posterior", "exceedance")
SUM_KINDS = ("probability", "vote", "envelope", "posterior")
# In single precision with 1,000 classes the sum is within 1e-5 of 1.
SUM_TOLERANCE = 1e-5
UNIT_TOLERANCE = 1e-9


class InvalidResult(ConfmlError):
    """A method returned a result that violates its contract."""


def check_views(views: Any, method: str, rows: int, classes: np.ndarray) -> Views:
    """Check the views of ``rows`` test examples and return them; raise `InvalidResult` if they are wrong.

    classes: all labels of the data set.
    """
    if not isinstance(views, Views):
        raise _invalid(method, f"expected Views, got {type(views).__name__}")
    if not views:
        raise _invalid(method, "expected at least one view, got none")
    labels_of_data = set(np.asarray(classes).tolist())
    for name, view in views.items():
        if not isinstance(name, str) or not name.strip():
            raise _invalid(method, f"the name of a view must be text, got {name!r}")
        if not isinstance(view, Prediction):
            raise _invalid(method, f"view {name!r} must be a Prediction, got {type(view).__name__}")
        _check_view(method, name, view, rows, labels_of_data)
    views.fit_metrics = _checked_metrics(method, views.fit_metrics)
    return views


def _check_view(method: str, name: str, view: Prediction, rows: int, labels_of_data: set) -> None:
    if len(view) != rows:
        raise _invalid(method, f"view {name!r} has {len(view)} rows for {rows} test examples")
    classes, labels = view.classes, view.labels
    if classes.dtype.kind not in "biufU" or labels.dtype.kind not in "biufU":
        raise _invalid(method, f"view {name!r} has labels of type {labels.dtype}; return those of y")
    listed = classes.tolist()
    if any(not previous < following for previous, following in zip(listed, listed[1:], strict=False)):
        raise _invalid(method, f"classes of view {name!r} must be sorted, and each listed once")
    unknown = [label for label in listed if label not in labels_of_data]
    if unknown:
        raise _invalid(method, f"view {name!r} has class {unknown[0]!r}, which is not in the data set")
    unlisted = set(labels.tolist()) - set(listed)
    if unlisted:
        raise _invalid(method, f"view {name!r} predicts {min(unlisted)!r}, which is not one of its classes")
    _check_scores(method, name, view)
    for key, values in view.extra.items():
        if values.dtype.kind not in "biufU":
            raise _invalid(method, f"extra[{key!r}] of view {name!r} must hold numbers or text")


def _check_scores(method: str, name: str, view: Prediction) -> None:
    scores = view.scores
    low, high = scores.min(initial=0.0), scores.max(initial=0.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = ~np.isfinite(scores).all(axis=1)
        row = int(np.argmax(bad))
        wrong = scores[row][~np.isfinite(scores[row])][0]
        message = f"scores of view {name!r} must be finite: {bad.sum()} of {len(bad)} rows are not"
        raise _invalid(method, f"{message} ({wrong} in row {row})")
    if view.kind in UNIT_KINDS and not (low >= -UNIT_TOLERANCE and high <= 1 + UNIT_TOLERANCE):
        value = scores[(scores < -UNIT_TOLERANCE) | (scores > 1 + UNIT_TOLERANCE)][0]
        raise _invalid(method, f"scores of view {name!r} ({view.kind}) must be in [0, 1], got {value:g}")
    if view.kind in SUM_KINDS and len(scores):
        sums = scores.sum(axis=1)
        worst = int(np.abs(sums - 1).argmax())
        if abs(sums[worst] - 1) > SUM_TOLERANCE:
            message = f"scores of view {name!r} ({view.kind}) must sum to 1 in each row"
            raise _invalid(method, f"{message}, got {sums[worst]:g} in row {worst}")
    if view.kind == "posterior":
        sd = view.extra["sd"]
        if not np.isfinite(sd).all() or (sd < 0).any():
            raise _invalid(method, f"extra['sd'] of view {name!r} must be finite and at least 0")


def _checked_metrics(method: str, metrics: Any) -> dict[str, float]:
    if not isinstance(metrics, Mapping):
        raise _invalid(method, f"fit_metrics_ must be a dict, got {type(metrics).__name__}")
    for name, value in metrics.items():
        if not isinstance(name, str) or not isinstance(value, Real | np.bool_):
            raise _invalid(method, f"fit_metrics_ must map names to numbers, got {name!r}: {value!r}")
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in metrics.items()}


def check_points(method: str, results: int, points: int) -> None:
    """Raise `InvalidResult` unless a path gave one result for each point of its grid."""
    if results != points:
        raise _invalid(method, f"evaluate_path gave {results} results for {points} points of its grid")


def _invalid(method: str, message: str) -> InvalidResult:
    return InvalidResult(printable(f"{method} returned an invalid result: {message}", 500))
