"""Quality of probabilities: log loss, Brier score and expected calibration error."""

from collections.abc import Iterator

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
    yield Column("brier", None, block.means((p**2).sum(axis=1) + (1 - 2 * own)))
    yield Column("ece", None, _calibration_errors(block, block.ranked(p.max(axis=1))))


def _calibration_errors(block: Block, ranked: Ranked) -> np.ndarray:
    """Return the (s,) calibration errors of ranked probabilities of the predicted labels, as `Bins.error`."""
    begun = block.starts[ranked.of_case]
    group_bins = BINS * (ranked.first + ranked.end - 2 * begun) // (2 * block.sizes[ranked.of_case])
    begins = np.append(True, group_bins[1:] != group_bins[:-1])
    begins[ranked.first_group] = True
    first = ranked.first[begins]
    counts = np.diff(np.append(first, len(ranked.values)))
    means = np.add.reduceat(ranked.values, first) / counts
    happened = np.add.reduceat(block.whole.correct[ranked.order].astype(np.int64), first) / counts
    starts = np.searchsorted(first, block.starts)
    gaps = Bins(counts, means, happened).gaps
    return sums_of(gaps, starts, np.append(starts[1:], len(first))) / block.sizes


MEASURE = Measure(
    metrics={
        "log_loss": Metric(
            "mean negative logarithm of the probability of the true label, not clipped: infinite if one of "
            "them is 0; an absent class has probability 0",
            LOWER,
            "mean over i of -ln p_i^{y_i}",
            "Good 1952",
            tables=(PAGE,),
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
            "divide equal values; above 0 for calibrated probabilities too",
            LOWER,
            "sum over bins of n_b/n |mean largest p - share of correct predictions|",
            "Guo et al. 2017",
            heading="ECE",
            tables=(PAGE,),
        ),
    },
    compute=_compute,
)
