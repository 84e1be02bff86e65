"""Detection of absent classes (classes without training examples) by low credibility."""

from collections.abc import Iterator

import numpy as np

from confml.measures.case import Case
from confml.measures.measure import Measure, Row
from confml.measures.metric import HIGHER, LOWER, OWN, Metric, share_per_level


def familiarity(case: Case) -> np.ndarray:
    """Return (n,) the credibility of each example, or the confidence for views without p-values."""
    credibility = case.prediction.credibility
    return case.prediction.confidence if credibility is None else credibility


def separation(seen: np.ndarray, unseen: np.ndarray) -> float:
    """Return the AUROC: probability that a value of ``seen`` exceeds one of ``unseen``, ties half."""
    if len(seen) == 0 or len(unseen) == 0:
        return float("nan")
    ranked = np.sort(unseen)
    below = np.searchsorted(ranked, seen, side="left") + np.searchsorted(ranked, seen, side="right")
    return float(below.sum()) / (2.0 * len(seen) * len(unseen))


def rows(case: Case) -> Iterator[Row]:
    """Yield how well credibility tells absent classes from known ones; nothing without absent classes."""
    unseen = ~case.known
    if not unseen.any():
        return
    values = familiarity(case)
    yield Row("unseen_separation", None, separation(values[~unseen], values[unseen]))
    if case.prediction.credibility is None:
        return
    for level in case.levels:
        low = values <= level
        yield Row("unseen_no_class", level, float(low[unseen].mean()))
        yield Row("known_no_class", level, float(low[~unseen].mean()) if not unseen.all() else float("nan"))


MEASURE = Measure(
    metrics={
        "unseen_separation": Metric(
            "probability that a test example of a known class has a higher credibility (confidence for views "
            "without p-values) than one of an absent class",
            HIGHER,
            "P(credibility of a known > of an absent class) + P(equal) / 2",
            OWN,
            heading="separation of absent classes",
        ),
        "unseen_no_class": share_per_level(
            "share of empty regions among test examples of absent classes",
            HIGHER,
            "#{i: y_i absent, |G_i| = 0} / #{i: y_i absent}",
            OWN,
            heading="empty regions of absent classes",
        ),
        "known_no_class": share_per_level(
            "share of empty regions among test examples of known classes",
            LOWER,
            "#{i: y_i known, |G_i| = 0} / #{i: y_i known}",
            OWN,
            heading="empty regions of known classes",
        ),
    },
    rows=rows,
)
