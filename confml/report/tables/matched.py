"""``matched.csv``: views of Bayesian k-NN at the proportions of the envelope.

Krzanowski et al. (2006), section 3.3: for each threshold of the envelope, the threshold of reject with the
same sure-incorrect proportion (the largest of several), and the multiple of the standard deviation at which
the posterior has the same sure-correct proportion (the one nearest to Phi^-1 of the envelope's threshold).
"""

import math
from collections.abc import Iterator

import numpy as np

from confml.measures import Metric
from confml.measures.rejection import curve_of, match, sureness
from confml.report.run.results import Variant
from confml.report.tables.certified import has_thresholds
from confml.report.tables.table import Row, Table

VIEWS = {"envelope", "reject", "posterior"}
_SOURCE = "Krzanowski et al. 2006, table 2"
METRICS = {
    "matched_threshold": Metric(
        "threshold of reject, or multiple of the posterior's sd, that matches the envelope",
        None,
        "largest t with sure_incorrect of reject at t = that of the envelope; for the posterior the c with "
        "the sure_correct of the envelope",
        _SOURCE,
    ),
    "matched_sure_correct": Metric(
        "share of test examples accepted at matched_threshold and predicted correctly",
        "higher",
        "#{accepted and correct} / n",
        _SOURCE,
    ),
    "matched_unsure": Metric(
        "share of test examples rejected at matched_threshold", "lower", "#{rejected} / n", _SOURCE
    ),
    "matched_sure_incorrect": Metric(
        "share of test examples accepted at matched_threshold and predicted wrongly",
        "lower",
        "#{accepted and wrong} / n",
        _SOURCE,
    ),
    "matched_exactly": Metric(
        "1 if the proportions are equal, 0 if ties prevent it",
        None,
        "1{proportion = that of the envelope}",
        _SOURCE,
    ),
}


def rows(variant: Variant) -> Iterator[Row]:
    """One number per row, ``level`` the envelope's threshold.

    matched_threshold is the threshold of reject, or the multiple of the posterior's sd. It is empty if no
    prediction is accepted at it. matched_exactly: 1 if the proportions are equal, 0 if ties prevent it.
    """
    from scipy.special import ndtri

    for result in variant.splits:
        if not VIEWS <= set(result.views) or not len(result.truth):
            continue
        envelope = result.views["envelope"]
        reject, posterior = (curve_of(result.views[view], result.truth) for view in ("reject", "posterior"))
        for level in variant.run.config.thresholds:
            reference = sureness(envelope.accepted(level), envelope.labels == result.truth)
            of_reject = match(reject, reference, by="incorrect")
            of_posterior = match(posterior, reference, by="correct", near=float(ndtri(level)))
            for view, matched in (("reject", of_reject), ("posterior", of_posterior)):
                threshold = matched.threshold if np.isfinite(matched.threshold) else math.nan
                correct, incorrect, unsure = matched.sureness
                numbers = (threshold, correct, unsure, incorrect, float(matched.exact))
                for metric, value in zip(METRICS, numbers, strict=True):
                    yield *variant.key, result.cell.split, view, metric, level, value


TABLE = Table(
    "matched.csv",
    "reject and posterior at the envelope's proportions",
    "dataset method params split view metric level value",
    rows,
    needs="thresholds in the config, and a method with the views envelope, reject and posterior",
    applies=has_thresholds,
    metrics=METRICS,
)
