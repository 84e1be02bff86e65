"""Nonconformity scores of the labels of an example, computed from the predictions of a classifier."""

from collections.abc import Mapping

import numpy as np

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction

SCORES = ("lac", "aps", "raps", "margin")
OF_SHARES = ("lac", "aps", "raps")
ROUNDING = 1e-12  # relative difference up to which two scores are equal
# Kinds with scores from 0 to 1, preferred first; all but exceedances sum to 1.
SHARES = ("probability", "posterior", "vote", "envelope", "exceedance")
SUM_TO_ONE = SHARES[:-1]
_SIZE_OF_PENALTIES = 1e-3
RAPS = 0.01, 1  # penalty for each rank, and the number of ranks without it


def lac_scores(shares: np.ndarray) -> np.ndarray:
    """Return minus the probability of each label (n, c) (LAC: Sadinle, Lei, Wasserman 2019).

    The authors' score is 1 minus the probability, which has the same order. It is 1 for all probabilities
    below 1e-16, which these scores keep apart.
    """
    return np.negative(shares, order="C")


def aps_scores(
    shares: np.ndarray, u: np.ndarray | None = None, penalty: float = 0.0, k_reg: int = 0
) -> np.ndarray:
    """Return the total probability of all likelier labels plus u times the label's own, minus 1 (n, c).

    Ties go to earlier columns. u: (n,) uniform random numbers, one per example; None for 1. Source: Romano,
    Sesia, Candes 2020 (APS). With a ``penalty`` for each rank after the ``k_reg``-th it is RAPS:
    Angelopoulos, Bates, Malik, Jordan 2021. Minus 1 leaves the order, and the scores are computed from the
    less likely labels, whose total has all its digits where the likelier ones have 1 together.
    """
    order = np.argsort(-shares, axis=1, kind="stable")
    ranked = np.take_along_axis(shares, order, axis=1)
    rest = np.zeros_like(ranked)
    rest[:, :-1] = np.cumsum(ranked[:, :0:-1], axis=1)[:, ::-1]
    if u is not None:
        rest += (1.0 - u[:, None]) * ranked
    ranks = np.arange(1, shares.shape[1] + 1)
    scores = np.empty_like(ranked)
    np.put_along_axis(scores, order, penalty * np.maximum(ranks - k_reg, 0) - rest, axis=1)
    return scores


def margin_scores(values: np.ndarray) -> np.ndarray:
    """Return the largest value of another label minus the own one (n, c); with one class, minus the own."""
    if values.shape[1] == 1:
        return -values
    two = np.partition(values, -2, axis=1)[:, -2:]
    best = values == two[:, 1:]
    # If several labels have the largest value, the second largest value is equal to it.
    return np.where(best, two[:, :1], two[:, 1:]) - values


def margin_scores_of_shares(shares: np.ndarray) -> np.ndarray:
    """Return log((1 + s) / (1 - s)) for the `margin_scores` s of probabilities that sum to 1 (n, c).

    It has the order of s, and all digits where s is close to -1 or 1: 1 - s is the total of the labels that
    are not the likeliest one, plus the own probability.
    """
    rows = np.arange(len(shares))
    best = shares.argmax(axis=1)
    lesser = shares.copy()
    lesser[rows, best] = 0.0
    rest = lesser.sum(axis=1)
    below, above = rest[:, None] + shares, 1.0 + shares[rows, best][:, None] - shares
    second = lesser.max(axis=1)
    below[rows, best], above[rows, best] = 1.0 + shares[rows, best] - second, rest + second
    with np.errstate(divide="ignore"):
        return np.log(above) - np.log(below)


def label_scores(score: str, values: np.ndarray, kind: str, u: np.ndarray) -> np.ndarray:
    """Return the score named ``score`` of each label (n, c), from ``values`` (n, c) of a view of ``kind``."""
    if score == "lac":
        return lac_scores(values)
    if score == "margin":
        return margin_scores_of_shares(values) if kind in SUM_TO_ONE else margin_scores(values)
    return aps_scores(values, u, *(RAPS if score == "raps" else ()))


def values_for(views: Mapping[str, Prediction], score: str | None, name: str) -> tuple[str, Prediction]:
    """Return the score and the view from which it is computed.

    The default is lac if there are probabilities, else margin. Margins are preferred to votes, because the
    vote share of the winner is nearly constant. Raises ConfmlError if the classifier has no such view.
    """
    shares = next((view for kind in SHARES for view in views.values() if view.kind == kind), None)
    margins = next((view for view in views.values() if view.kind == "margin"), None)
    if score is None:
        voted = shares is not None and shares.kind == "vote" and margins is not None
        score = "margin" if shares is None or voted else "lac"
    if score in OF_SHARES and shares is None:
        message = f"nonconformity {score} needs probabilities, and {name} has none"
        raise ConfmlError(message, hint="use nonconformity margin")
    view = shares if score in OF_SHARES or margins is None else margins
    if view is None:
        raise ConfmlError(f"{name} is already conformal: it computes p-values")
    return score, view


def posterior_view(views: Mapping[str, Prediction], view: str | None, name: str) -> Mapping[str, Prediction]:
    """Return one of several views of a posterior: ``view``, by default reject; others as they are.

    The scores of ``posterior`` are the confidences Phi((mean - 1/2) / sd) of all labels. Raises ConfmlError
    for a view that the classifier ``name`` does not have.
    """
    view = "reject" if view is None and "reject" in views else view
    if view is None:
        return views
    if view not in views:
        hint = "remove view, or give the method samples: bootstrap"
        raise ConfmlError(f"{name} has no view {view}, it has {', '.join(views)}", hint=hint)
    base = views[view]
    if base.kind != "posterior":
        return {view: base}
    from scipy.special import ndtr

    above = base.scores - base.posterior_threshold
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(base.extra["sd"] > 0, ndtr(above / base.extra["sd"]), 0.5 + 0.5 * np.sign(above))
    return {view: Prediction(base.classes, shares, "exceedance", base.labels)}


def on_all_classes(view: Prediction, classes: np.ndarray) -> np.ndarray:
    """Return the scores of a view on all ``classes`` (n, c).

    A class that the view does not have gets the smallest possible score. Other classes of the view are left
    out.
    """
    if np.array_equal(view.classes, classes):
        return view.scores
    least = -np.inf if view.kind == "margin" else 0.0
    values = np.full((len(view), len(classes)), least)
    shared = np.isin(view.classes, classes)
    values[:, np.searchsorted(classes, view.classes[shared])] = view.scores[:, shared]
    return values


def usual_size(name: str, calibration: np.ndarray) -> float:
    """Return the size that rounding errors of a score are relative to, besides the size of the score itself.

    A margin near 0 is a difference of numbers as large as other margins: the median size of the
    ``calibration`` scores (m,). A score of raps is a difference of a probability and a penalty.
    Probabilities, sums of them and ratios have none: small ones are known to as many digits as others.
    """
    if name == "raps":
        return _SIZE_OF_PENALTIES
    finite = np.abs(calibration[np.isfinite(calibration)])
    return float(np.median(finite)) if name == "margin" and len(finite) else 0.0


def rounding_errors(scores: np.ndarray, size: float) -> np.ndarray:
    """Return the difference (n,) up to which other scores equal ``scores`` (n,); see `usual_size`."""
    near = ROUNDING * np.maximum(np.abs(scores), size)
    near[np.isinf(near)] = 0.0
    return near


def counts_against(
    calibration: np.ndarray, scores: np.ndarray, size: float, totals: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many sorted ``calibration`` scores (m,) exceed, and how many equal, each of ``scores``.

    Scores are equal up to rounding errors (`ROUNDING`, relative to the score or to ``size``): the same matrix
    product has other last digits in a batch of another size. Without a tolerance, examples with the same
    features have unequal scores, and a p-value depends on the other test examples. The tolerance can only
    raise p-values that are not smoothed, so their bounds hold.

    totals: (m + 1,) sums of the weights of the examples before each place of ``calibration``; sums of weights
    are then returned in place of numbers.
    """
    order = np.argsort(scores, axis=None)  # a search for ascending numbers is three times as fast
    shape, scores = scores.shape, scores.ravel()[order]
    near = rounding_errors(scores, size)
    up_to = np.searchsorted(calibration, scores + near, side="right")
    lowest, below = scores - near, up_to.copy()
    tied = np.append(-np.inf, calibration)[up_to] >= lowest  # few
    below[tied] = np.searchsorted(calibration, lowest[tied], side="left")
    if totals is None:
        above, ties = len(calibration) - up_to, up_to - below
    else:
        above, ties = totals[-1] - totals[up_to], totals[up_to] - totals[below]
    greater, equal = np.empty(shape, above.dtype), np.empty(shape, ties.dtype)
    greater.flat[order], equal.flat[order] = above, ties
    return greater, equal
