"""Confidence from a posterior of class probabilities: reject, envelope, posterior and exceedance.

Krzanowski et al. (2006), section 3, define the views for draws of the class probabilities of any model. For
draws P (s, n, c) with weights w (s,) that sum to 1, the score of class j of an example is::

    reject      sum_s w_s P_sj
    envelope    sum_s w_s 1{P_sj is the largest of draw s}; each of T tied classes gets 1/T
    posterior   the same mean as reject, with the standard deviation over the draws
    exceedance  sum_s w_s 1{P_sj > t}

The entropy of the mean is the mean entropy of the draws (aleatoric) plus the mutual information of label and
draw (epistemic).
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from confml.measures.metric import HIGHER, LOWER, Metric
from confml.measures.prediction import ENTROPIES, Prediction, argmax_with_tie_break

TIED = 1e-12  # relative difference up to which the probabilities of a draw, or two shares, are equal
FEWEST = 50  # effective draws below which there is a warning
_NUMBERS = 4_000_000  # probabilities of all draws at a time
EXCEEDING = 0.5  # threshold t of exceedance
DRAW_METRICS = {
    "effective_draws": Metric("number of equally weighted draws with the same Monte Carlo error", HIGHER),
    "share_error": Metric("largest Monte Carlo standard error of a share of the draws", LOWER),
}
VIEWS = ("reject", "envelope", "posterior", "exceedance")


class Summary(NamedTuple):
    """Numbers of the posterior distribution of class probabilities, (n, c) each.

    mean, sd: of the class probabilities. envelope, exceedance: as above. error, envelope_error,
    exceedance_error: Monte Carlo standard errors. entropies: (n, 3), the `ENTROPIES` of each example in nats.
    None for numbers that a method does not have.
    """

    mean: np.ndarray
    sd: np.ndarray
    envelope: np.ndarray
    error: np.ndarray | None = None
    exceedance: np.ndarray | None = None
    envelope_error: np.ndarray | None = None
    exceedance_error: np.ndarray | None = None
    entropies: np.ndarray | None = None

    @classmethod
    def of_draws(
        cls, draws: np.ndarray, weights: np.ndarray | None = None, exceeding: float = EXCEEDING
    ) -> "Summary":
        """Return the numbers of draws (s, n, c). weights: (s,) at least 0; None for equal ones.

        The standard errors are those of independent draws: sqrt(q (1 - q) / effective draws) of a share q,
        and sd / sqrt(effective draws) of the mean.
        """
        w = np.full(len(draws), 1.0 / len(draws)) if weights is None else weights / weights.sum()
        mean = np.tensordot(w, draws, 1)
        sd = np.sqrt(np.tensordot(w, (draws - mean) ** 2, 1))
        top = draws.max(axis=2, keepdims=True)
        largest = draws >= top * (1.0 - TIED)
        envelope = _shares(w, largest / largest.sum(axis=2, keepdims=True))
        exceedance = _shares(w, draws > exceeding)
        effective = effective_draws(w)
        total, expected = entropy(mean), np.tensordot(w, entropy(draws), 1)
        information = np.maximum(total - expected, 0.0)  # at least 0 by Jensen's inequality
        return cls(
            mean,
            sd,
            envelope,
            sd / np.sqrt(effective),
            exceedance,
            share_error(envelope, effective),
            share_error(exceedance, effective),
            np.column_stack([total, expected, information]),
        )

    @classmethod
    def in_blocks(
        cls, draws_of: Callable[[slice], np.ndarray], rows: int, size: int, exceeding: float
    ) -> "Summary":
        """Return the summary of `rows` examples from draws of blocks of them, so that few are in memory.

        draws_of: returns the draws (s, n, c) of a slice of the examples. size: s times c.
        """
        step = max(1, _NUMBERS // size)
        starts = range(0, max(rows, 1), step)
        parts = [cls.of_draws(draws_of(slice(start, start + step)), exceeding=exceeding) for start in starts]
        columns: Any = zip(*parts, strict=True)
        return cls(*(None if blocks[0] is None else np.concatenate(blocks) for blocks in columns))  # type: ignore[arg-type]


def _shares(w: np.ndarray, indicators: np.ndarray) -> np.ndarray:
    """Return (n, c) sums of weights; sums in another order are equal, and all draws have a share of 1."""
    return np.round(np.tensordot(w, indicators, 1), 12)


def effective_draws(weights: np.ndarray) -> float:
    """Return (sum of weights)^2 / sum of squares of weights (s,): s if they are equal (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def share_error(shares: np.ndarray, effective: float) -> np.ndarray:
    """Return the Monte Carlo standard error of shares q of draws, any shape: sqrt(q (1 - q) / effective)."""
    inside = np.clip(shares, 0.0, 1.0)
    return np.sqrt(inside * (1.0 - inside) / effective)


def entropy(p: np.ndarray) -> np.ndarray:
    """Return the entropy in nats of probabilities along the last axis; 0 ln 0 = 0."""
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return 0.0 - (p * logs).sum(axis=-1)


def draw_metrics(effective: float) -> dict[str, float]:
    """Return the `DRAW_METRICS` of a number of effective draws."""
    return {"effective_draws": float(effective), "share_error": float(0.5 / np.sqrt(effective))}


def few_draws(effective: float) -> Iterable[str]:
    """Yield a warning if there are too few draws to tell shares apart."""
    if effective < FEWEST:
        yield (
            f"{effective:.0f} effective draws: the Monte Carlo error of a share is up to "
            f"{0.5 / np.sqrt(effective):.2f}; use at least {FEWEST} draws"
        )


def posterior_views(
    classes: np.ndarray,
    summary: Summary,
    predictive: np.ndarray | None = None,
    with_entropies: bool = False,
) -> dict[str, Prediction]:
    """Return the views of a posterior distribution: those of `VIEWS` that ``summary`` has the numbers of.

    classes: (c,). predictive: (n, c) probabilities of reject in closed form, instead of the mean.
    with_entropies: also a view for each of `ENTROPIES`, with the score 1 - entropy / ln c of the label of
    reject.

    ``reject`` has the `ENTROPIES` as ``extra``, and every view that is estimated from draws has
    ``standard_error`` (n, c). Equal shares of ``exceedance`` are ordered by ``extra["mean"]``, the mean of
    the predicted class.
    """
    mean, of_mean = summary.mean, _extra("standard_error", summary.error)
    of_reject: dict[str, np.ndarray] = of_mean if predictive is None else {}
    if summary.entropies is not None:
        of_reject = of_reject | dict(zip(ENTROPIES, summary.entropies.T, strict=True))
    reject = Prediction(classes, mean if predictive is None else predictive, "probability", extra=of_reject)
    views = {
        "reject": reject,
        "envelope": Prediction(
            classes, summary.envelope, "envelope", extra=_extra("standard_error", summary.envelope_error)
        ),
        "posterior": Prediction(classes, mean, "posterior", extra={"sd": summary.sd} | of_mean),
    }
    if summary.exceedance is not None:
        columns = argmax_with_tie_break(summary.exceedance, mean, tolerance=TIED)
        extra = _extra("standard_error", summary.exceedance_error)
        extra["mean"] = mean[np.arange(len(mean)), columns]
        views["exceedance"] = Prediction(classes, summary.exceedance, "exceedance", classes[columns], extra)
    if with_entropies and summary.entropies is not None:
        cells = np.arange(len(mean)), reject.predicted_columns
        for name, values in zip(ENTROPIES, summary.entropies.T, strict=True):
            scores = np.zeros(mean.shape)
            scores[cells] = 1.0 - values / np.log(max(len(classes), 2))
            views[name.replace("_", "-")] = Prediction(classes, scores, "margin", reject.labels)
    return views


def _extra(name: str, values: np.ndarray | None) -> dict[str, np.ndarray]:
    return {} if values is None else {name: values}
