"""The reject option: sure correct, sure incorrect and unsure at thresholds, and areas over all thresholds."""

from collections.abc import Iterator

import numpy as np

from confml.measures.block import Block, fractions
from confml.measures.measure import Column, Measure, undefined
from confml.measures.metric import (
    HIGHER,
    LOWER,
    PAGE,
    RESULTS,
    THRESHOLD,
    Metric,
    share,
    share_per_threshold,
)

_SOURCE = "Krzanowski et al. 2006"
AREAS = ("augrc", "aurc", "auroc_correct")


def _compute(block: Block) -> Iterator[Column]:
    """Yield the metrics; accepted predictions are sure, rejected ones unsure. The level is the threshold."""
    n, whole = block.sizes, block.whole
    if np.isnan(whole.certainty).any():  # which cannot be sorted
        yield from undefined(block, AREAS)
    else:
        yield from (Column(name, None, values) for name, values in zip(AREAS, _areas(block), strict=True))
    for threshold in block.thresholds:
        accepted = whole.accepted(threshold)
        taken, both = block.totals(accepted), block.totals(accepted & whole.correct)
        correct, incorrect = block.per_row(both), block.per_row(taken - both)
        yield Column("sure_correct", threshold, correct)
        yield Column("sure_incorrect", threshold, incorrect)
        yield Column("unsure", threshold, block.per_row(n - taken))
        yield Column("expected_loss", threshold, 2.0 * incorrect - correct)


def _areas(block: Block) -> tuple[np.ndarray, ...]:
    """Return (s,) augrc, aurc and auroc_correct of the cases."""
    n, groups = block.sizes, block.curve_groups
    accepted, errors = block.curve_counts
    of_case, first = groups.of_case, groups.first_group
    sizes, wrong = groups.end - groups.first, groups.sums(~block.whole.correct)
    halves = 0.5 * (errors + (errors - wrong))  # sums of multiples of 1/2 are exact
    augrc = fractions(groups.totals(halves * sizes), n**2)
    all_wrong = groups.totals(wrong)
    right = n - all_wrong
    ranks = groups.totals((sizes - wrong) * (all_wrong[of_case] - halves))
    both = (right > 0) & (all_wrong > 0)
    auroc = np.divide(ranks, right * all_wrong, out=np.full(len(n), np.nan), where=both)
    # The curves one after another, with a 0 before the groups of each.
    starts = block.starts + np.arange(len(n))
    points, heights = np.zeros((2, len(accepted) + len(n)))
    places = np.arange(len(accepted)) + of_case + 1
    points[places], heights[places] = starts[of_case] + accepted, errors
    points[first + np.arange(len(n))] = starts
    rank = np.arange(len(block.of_case)) - block.starts[block.of_case] + 1
    expected = np.interp(starts[block.of_case] + rank, points, heights)
    aurc = block.means(expected / rank)
    return augrc, aurc, auroc


MEASURE = Measure(
    metrics={
        "augrc": share(
            "area under the generalised risk-coverage curve, 0 (best) to 1/2; compare methods by this area",
            LOWER,
            "integral of the generalised risk #{accepted and wrong} / n over the coverage",
            "Traub et al. 2024",
            heading="AUGRC",
            digits=3,
            tables=(PAGE,),
        ),
        "aurc": share(
            "area under the risk-coverage curve: mean selective risk over all coverages",
            LOWER,
            "integral of the selective risk #{accepted and wrong} / #{accepted} over the coverage",
            "Geifman and El-Yaniv 2017",
            heading="AURC",
            digits=3,
            tables=(PAGE,),
        ),
        "auroc_correct": Metric(
            "probability that a correct prediction is more confident than a wrong one",
            HIGHER,
            "P(confidence of a correct > of a wrong prediction) + P(equal) / 2",
            "Hendrycks and Gimpel 2017",
            heading="AUROC of correctness",
            tables=(PAGE,),
        ),
        "sure_correct": share_per_threshold(
            "share of test examples accepted at the threshold and predicted correctly",
            HIGHER,
            "#{accepted and correct} / n",
            _SOURCE,
            tables=(RESULTS, PAGE),
        ),
        "unsure": share_per_threshold(
            "share of test examples rejected at the threshold",
            LOWER,
            "#{rejected} / n",
            _SOURCE,
            tables=(RESULTS, PAGE),
        ),
        "sure_incorrect": share_per_threshold(
            "share of test examples accepted at the threshold and predicted wrongly",
            LOWER,
            "#{accepted and wrong} / n",
            _SOURCE,
            tables=(RESULTS, PAGE),
        ),
        "expected_loss": Metric(
            "mean loss at the threshold: 2 for sure incorrect, -1 for sure correct, 0 for unsure",
            LOWER,
            "2 sure_incorrect - sure_correct",
            _SOURCE,
            per=THRESHOLD,
        ),
    },
    compute=_compute,
)
