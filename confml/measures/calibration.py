"""Quality of probabilities: log loss, Brier score and expected calibration error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confml.measures._case import Case, Measure, Row
from confml.measures.metrics import LOWER, Metric

if TYPE_CHECKING:
    from confml.measures.block import Block, Column, Ranked

SHARES = ("probability", "posterior", "vote", "envelope")
"""Kinds whose scores sum to 1; the scores of a posterior are its means, votes and envelopes are shares."""
BINS = 15


class Bins(NamedTuple):
    """Bins of equal mass that are not empty: number of values, mean value and mean outcome, (b,) each."""

    counts: np.ndarray
    values: np.ndarray
    outcomes: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, outcomes: np.ndarray, bins: int = BINS) -> Bins:
        """Return the bins of values (n,) with outcomes (n,) bool, n at least 1.

        Equal values are never divided: those at the sorted places [a, b) are in bin floor(bins (a + b) / (2
        n)).
        """
        order = np.argsort(values)
        placed = values[order]
        first = bin_starts(placed, bins)
        counts = np.diff(np.append(first, len(values)))
        means = np.add.reduceat(placed, first) / counts
        return cls(counts, means, np.add.reduceat(outcomes[order].astype(np.int64), first) / counts)

    @property
    def error(self) -> float:
        """Expected calibration error: mean |mean value - mean outcome|, weighted by the counts."""
        return float(np.sum(self.counts * np.abs(self.values - self.outcomes)) / self.counts.sum())

    @property
    def debiased_square(self) -> float:
        """Mean squared gap of the bins less its expectation under calibration; it may be negative."""
        variance = self.outcomes * (1 - self.outcomes) / np.maximum(self.counts - 1, 1)
        gaps = (self.values - self.outcomes) ** 2 - np.where(self.counts > 1, variance, 0.0)
        return float(np.sum(self.counts * gaps) / self.counts.sum())


def bin_starts(placed: np.ndarray, bins: int = BINS) -> np.ndarray:
    """Return (b,) the place where each bin of sorted values (n,) begins; see `Bins.of`."""
    starts = np.flatnonzero(np.concatenate([[True], placed[1:] != placed[:-1]]))
    ends = np.append(starts[1:], len(placed))
    # Bins do not decrease along the sorted values, so each one is a slice.
    group_bins = bins * (starts + ends) // (2 * len(placed))
    return starts[np.concatenate([[True], group_bins[1:] != group_bins[:-1]])]


def share_rows(
    case: Case, names: Iterable[str], values: Callable[[Case], Mapping[str, float]]
) -> Iterator[Row]:
    """Yield the metrics of a view whose scores sum to 1: ``values``, or NaN where they are not defined."""
    if case.prediction.kind in SHARES:
        p = case.prediction.scores
        undefined = len(p) == 0 or np.isnan(p).any()
        found = dict.fromkeys(names, float("nan")) if undefined else values(case)
        yield from (Row(name, None, value) for name, value in found.items())


def _compute(case: Case) -> Iterator[Row]:
    return share_rows(case, MEASURE.metrics, _values)


def _compute_block(block: Block) -> Iterator[Column]:
    from confml.measures.block import Column, sums_of

    if block.whole.prediction.kind not in SHARES:
        return
    p, columns = block.whole.prediction.scores, block.whole.true_columns
    own = p[np.arange(len(p)), columns]
    there = own > 0
    number = block.totals(there)
    ends = np.cumsum(number)
    losses = sums_of(0.0 - np.log(own[there]), ends - number, ends)
    nothing = np.full(len(block), np.nan)
    mean = np.divide(losses, number, out=nothing, where=number > 0)
    yield Column("log_loss", None, np.where(number == block.sizes, mean, np.inf))
    yield Column("zero_share", None, block.shares(~there))
    yield Column("log_loss_nonzero", None, mean)
    yield Column("brier", None, block.means((p**2).sum(axis=1) + (1 - 2 * own)))
    top = _block_bins(block, block.ranked("top", p.max(axis=1)), block.whole.correct)
    yield Column("ece", None, top.errors)
    total: np.ndarray | float = 0.0
    for j in range(p.shape[1]):
        total = total + _block_bins(block, block.ranked_score(j), columns == j).errors
    yield Column("ece_classwise", None, np.asarray(total / p.shape[1]))
    yield Column("ce2", None, top.debiased_squares)


class _BlockBins(NamedTuple):
    """The bins of all cases of a block, as `Bins` has them of one, and the first and last of each case."""

    bins: Bins
    starts: np.ndarray
    ends: np.ndarray
    sizes: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        counts, values, outcomes = self.bins
        return self._means(counts * np.abs(values - outcomes))

    @property
    def debiased_squares(self) -> np.ndarray:
        counts, values, outcomes = self.bins
        variance = outcomes * (1 - outcomes) / np.maximum(counts - 1, 1)
        return self._means(counts * ((values - outcomes) ** 2 - np.where(counts > 1, variance, 0.0)))

    def _means(self, terms: np.ndarray) -> np.ndarray:
        from confml.measures.block import sums_of

        return sums_of(terms, self.starts, self.ends) / self.sizes


def _block_bins(block: Block, ranked: Ranked, outcomes: np.ndarray) -> _BlockBins:
    begun = block.starts[ranked.of_case]
    group_bins = BINS * (ranked.first + ranked.end - 2 * begun) // (2 * block.sizes[ranked.of_case])
    begins = np.append(True, group_bins[1:] != group_bins[:-1])
    begins[ranked.first_group] = True
    first = ranked.first[begins]
    counts = np.diff(np.append(first, len(ranked.values)))
    means = np.add.reduceat(ranked.values, first) / counts
    happened = np.add.reduceat(outcomes[ranked.order].astype(np.int64), first) / counts
    starts = np.searchsorted(first, block.starts)
    return _BlockBins(Bins(counts, means, happened), starts, np.append(starts[1:], len(first)), block.sizes)


def _values(case: Case) -> dict[str, float]:
    p, columns = case.prediction.scores, case.true_columns
    own = np.where(columns >= 0, p[np.arange(len(p)), columns], 0.0)
    there = own > 0
    losses = 0.0 - np.log(own[there])  # not -0.0
    known = columns >= 0
    squares = (p**2).sum(axis=1) + np.where(known, 1 - 2 * own, 1.0)
    by_class = [Bins.of(p[:, j], columns == j).error for j in range(p.shape[1])]
    confidence = Bins.of(p.max(axis=1), case.correct)
    return {
        "log_loss": float(losses.mean()) if there.all() else float("inf"),
        "zero_share": case.share(~there),
        "log_loss_nonzero": float(losses.mean()) if len(losses) else float("nan"),
        "brier": float(squares.mean()),
        "ece": confidence.error,
        "ece_classwise": sum(by_class) / len(by_class),
        "ce2": confidence.debiased_square,
    }


MEASURE = Measure(
    metrics={
        "log_loss": Metric(
            "mean negative logarithm of the probability of the true label, not clipped: infinite if one of "
            "them is 0 (zero_share counts those); an absent class has probability 0",
            LOWER,
            "mean over i of -ln p_i^{y_i}",
            "Good 1952",
        ),
        "zero_share": Metric(
            "share of test examples whose true label has probability 0",
            LOWER,
            "#{i: p_i^{y_i} = 0} / n",
            "Good 1952",
        ),
        "log_loss_nonzero": Metric(
            "log loss of the test examples whose true label has a probability above 0",
            LOWER,
            "mean over i with p_i^{y_i} > 0 of -ln p_i^{y_i}",
            "Good 1952",
        ),
        "brier": Metric(
            "Brier score over all classes, 0 to 2, for two classes too (scikit-learn halves it for two "
            "classes)",
            LOWER,
            "mean over i of sum over y of (p_i^y - 1{y = y_i})^2",
            "Brier 1950",
        ),
        "ece": Metric(
            "expected calibration error of the largest probability in 15 bins of equal mass that do not "
            "divide equal "
            "values; above 0 for calibrated probabilities too (ce2 is not)",
            LOWER,
            "sum over bins of n_b/n |mean largest p - share of correct predictions|",
            "Guo et al. 2017",
        ),
        "ece_classwise": Metric(
            "mean over the classes of the calibration error of the probability of the class, in bins as "
            "those of ece",
            LOWER,
            "mean over y of sum over bins of n_b/n |mean p^y - share of rows with label y|",
            "Kull et al. 2019",
        ),
        "ce2": Metric(
            "squared calibration error of the largest probability without its bias: mean 0 for calibrated "
            "probabilities, so it may be negative",
            LOWER,
            "sum over bins of n_b/n ((mean largest p - f_b)^2 - f_b (1 - f_b) / (n_b - 1)), f_b share of "
            "correct "
            "predictions; no correction for n_b = 1",
            "Kumar, Liang and Ma 2019",
        ),
    },
    compute=_compute,
    compute_block=_compute_block,
)
