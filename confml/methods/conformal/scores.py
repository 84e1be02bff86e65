"""Nonconformity scores: how strange each label would be for an example, by what a classifier says of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.neighbours.scaling import SafeScale

SCORES = ("lac", "aps", "raps", "margin", "knn-ratio")
OF_SHARES = ("lac", "aps", "raps")
RANDOMISED = ("aps", "raps")
SHARES = ("probability", "posterior", "vote", "envelope")  # kinds whose scores are shares of 1, best first
ROUNDING = 1e-12  # relative difference up to which two scores are equal
_PAIRS = 4_000_000  # distances held at a time


def lac_scores(shares: np.ndarray) -> np.ndarray:
    """(n, c) 1 - the label's share (least ambiguous sets: Sadinle, Lei, Wasserman 2019)."""
    return 1.0 - shares


def aps_scores(
    shares: np.ndarray, u: np.ndarray | None = None, penalty: float = 0.0, k_reg: int = 0
) -> np.ndarray:
    """(n, c) the shares of all labels before this one, and its own times u.

    Labels go by falling share, earlier columns first among equals. u: (n,) uniform numbers, one an example;
    None for 1. Source: Romano, Sesia, Candes 2020 (APS). With a ``penalty`` for each place behind the
    ``k_reg``-th it is RAPS: Angelopoulos, Bates, Malik, Jordan 2021.
    """
    order = np.argsort(-shares, axis=1, kind="stable")
    ranked = np.take_along_axis(shares, order, axis=1)
    before = np.zeros_like(ranked)
    np.cumsum(ranked[:, :-1], axis=1, out=before[:, 1:])
    own = ranked if u is None else u[:, None] * ranked
    places = np.arange(1, shares.shape[1] + 1)
    scores = np.empty_like(ranked)
    np.put_along_axis(scores, order, before + own + penalty * np.maximum(places - k_reg, 0), axis=1)
    return scores


def margin_scores(values: np.ndarray) -> np.ndarray:
    """(n, c) the largest value of another label less this one's; with one class, less its value."""
    if values.shape[1] == 1:
        return -values
    two = np.partition(values, -2, axis=1)[:, -2:]
    best = values == two[:, 1:]
    # Where several share the largest value, another one has it too, which is then the second as well.
    return np.where(best, two[:, :1], two[:, 1:]) - values


def knn_ratio_scores(X: np.ndarray, codes: np.ndarray, c: int, X_test: np.ndarray, k: int) -> np.ndarray:
    """(n, c) the k nearest distances to examples of the label over those to other labels, summed.

    X (m, d), codes (m,) < c: the examples to measure from. Neighbours that a class lacks are at +inf, which
    makes the ratio +inf; x/0 = +inf, 0/0 = 1: as in TCM-NN, whose inductive form this is.
    """
    from scipy.spatial.distance import cdist

    scale = SafeScale.of(X)  # ratios of distances do not depend on it
    X, X_test = scale.apply(X), scale.apply(X_test)
    scores = np.empty((len(X_test), c))
    size = max(1, _PAIRS // max(len(X), 1))
    for start in range(0, len(X_test), size):
        distances = cdist(X_test[start : start + size], X)
        for label in range(c):
            same = _sum_of_nearest(distances[:, codes == label], k)
            other = _sum_of_nearest(distances[:, codes != label], k)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = same / other
            ratio[(same == 0) & (other == 0)] = 1.0
            ratio[np.isinf(same)] = np.inf
            scores[start : start + size, label] = ratio
    return scores


def _sum_of_nearest(distances: np.ndarray, k: int) -> np.ndarray:
    """(n,) sum of each row's k smallest, in ascending order; +inf where there are fewer."""
    if distances.shape[1] < k:
        return np.full(len(distances), np.inf)
    return np.sort(np.partition(distances, k - 1, axis=1)[:, :k], axis=1).sum(axis=1)


def values_for(views: Mapping[str, Prediction], score: str | None, name: str) -> tuple[str, Prediction]:
    """(score, the view that it is computed from); by default lac where there are shares, else margin.

    Votes of machines with margins are no match for these: a winner's share of them is nearly always the same.
    Raises ConfmlError where the classifier has no such view.
    """
    shares = next((view for kind in SHARES for view in views.values() if view.kind == kind), None)
    margins = next((view for view in views.values() if view.kind == "margin"), None)
    if score is None:
        voted = shares is not None and shares.kind == "vote" and margins is not None
        score = "margin" if shares is None or voted else "lac"
    if score in OF_SHARES and shares is None:
        raise ConfmlError(
            f"nonconformity {score} needs probabilities, and {name} has none",
            hint="use nonconformity margin",
        )
    view = shares if score in OF_SHARES or margins is None else margins
    if view is None:
        raise ConfmlError(f"{name} is already conformal: it has p-values of its own")
    return score, view


def on_all_classes(view: Prediction, classes: np.ndarray) -> np.ndarray:
    """(n, c) scores of a view on all ``classes``: a class that it does not know has the least there is."""
    least = -np.inf if view.kind == "margin" else 0.0
    values = np.full((len(view), len(classes)), least)
    values[:, np.searchsorted(classes, view.classes)] = view.scores
    return values


def usual_size(name: str, calibration: np.ndarray) -> float:
    """Return the size that rounding errors of a score are relative to, besides the size of the score itself.

    Scores of probabilities are differences of numbers up to 1. A margin near 0 is a difference of numbers as
    large as other margins: the median size of the ``calibration`` scores (m,). A ratio has none.
    """
    if name in OF_SHARES:
        return 1.0
    finite = np.abs(calibration[np.isfinite(calibration)])
    return float(np.median(finite)) if name == "margin" and len(finite) else 0.0


def counts_against(calibration: np.ndarray, scores: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (n,) how many sorted ``calibration`` scores (m,) exceed, and how many equal, ``scores`` (n,).

    Scores are equal up to rounding errors (`ROUNDING`, relative to the score or to ``size``): the same matrix
    product has other last digits in a batch of another size. Without a tolerance, examples with the same
    features have unequal scores, and a p-value depends on the other test examples. The tolerance can only
    raise p-values that are not smoothed, so their bounds hold.
    """
    near = ROUNDING * np.maximum(np.abs(scores), size)
    near[np.isinf(near)] = 0.0
    up_to = np.searchsorted(calibration, scores + near, side="right")
    below = np.searchsorted(calibration, scores - near, side="left")
    return len(calibration) - up_to, up_to - below
