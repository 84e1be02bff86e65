"""Quality of probabilities: log loss, Brier score and expected calibration error."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from confml.measures.bins import BINS, Bins
from confml.measures.block import Block, Ranked, sums_of
from confml.measures.measure import Column, Measure, undefined
from confml.measures.metric import LOWER, PAGE, Metric, share
from confml.measures.prediction import SHARES


def _compute(block: Block) -> Iterator[Column]:
    if block.whole.prediction.kind not in SHARES:
        return
    if not block.is_defined:
        yield from undefined(block, MEASURE.metrics)
        return
    p, columns = block.whole.prediction.scores, block.whole.true_columns
    own = np.where(columns >= 0, p[np.arange(len(p)), columns], 0.0)
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
    top = _bins(block, block.ranked("top", p.max(axis=1)), block.whole.correct)
    yield Column("ece", None, top.means(top.bins.gaps))
    total = np.zeros(len(block))
    for j in range(p.shape[1]):
        own_bins = _bins(block, block.ranked_score(j), columns == j)
        total = total + own_bins.means(own_bins.bins.gaps)
    yield Column("ece_classwise", None, total / p.shape[1])
    yield Column("ce2", None, top.means(top.bins.debiased_squares))


class _BlockBins(NamedTuple):
    """The bins of all cases of a block, as `Bins` has them of one, and the first and last of each case."""

    bins: Bins
    starts: np.ndarray
    ends: np.ndarray
    sizes: np.ndarray

    def means(self, terms: np.ndarray) -> np.ndarray:
        """Return the (s,) means of terms of the bins over the rows of each case."""
        return sums_of(terms, self.starts, self.ends) / self.sizes


def _bins(block: Block, ranked: Ranked, outcomes: np.ndarray) -> _BlockBins:
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


MEASURE = Measure(
    metrics={
        "log_loss": Metric(
            "mean negative logarithm of the probability of the true label, not clipped: infinite if one of "
            "them is 0 (zero_share counts those); an absent class has probability 0",
            LOWER,
            "mean over i of -ln p_i^{y_i}",
            "Good 1952",
            tables=(PAGE,),
        ),
        "zero_share": share(
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
            heading="log loss of probabilities above 0",
        ),
        "brier": Metric(
            "Brier score over all classes, 0 to 2, for two classes too (scikit-learn halves it for two "
            "classes)",
            LOWER,
            "mean over i of sum over y of (p_i^y - 1{y = y_i})^2",
            "Brier 1950",
            heading="Brier score",
            tables=(PAGE,),
        ),
        "ece": share(
            "expected calibration error of the largest probability in 15 bins of equal mass that do not "
            "divide equal "
            "values; above 0 for calibrated probabilities too (ce2 is not)",
            LOWER,
            "sum over bins of n_b/n |mean largest p - share of correct predictions|",
            "Guo et al. 2017",
            heading="ECE",
            tables=(PAGE,),
        ),
        "ece_classwise": share(
            "mean over the classes of the calibration error of the probability of the class, in bins as "
            "those of ece",
            LOWER,
            "mean over y of sum over bins of n_b/n |mean p^y - share of rows with label y|",
            "Kull et al. 2019",
            heading="classwise ECE",
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
)
