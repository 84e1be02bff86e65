"""The reject option: sure correct, sure incorrect and unsure at thresholds, and areas over all thresholds."""

from collections.abc import Iterator

import numpy as np

from confml.measures.case import Case
from confml.measures.measure import Measure, Row, ratio
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


def rows(case: Case) -> Iterator[Row]:
    """Yield the metrics; accepted predictions are sure, rejected ones unsure. The level is the threshold."""
    n, curve = len(case.truth), case.curve
    areas = (np.nan, np.nan, np.nan) if curve is None else (curve.augrc(), curve.aurc(), curve.auroc())
    yield from (Row(name, None, value) for name, value in zip(AREAS, areas, strict=True))
    for threshold in case.thresholds:
        accepted = case.accepted(threshold)
        sure, both = int(np.count_nonzero(accepted)), int(np.count_nonzero(accepted & case.correct))
        correct, incorrect = ratio(both, n), ratio(sure - both, n)
        yield Row("sure_correct", threshold, correct)
        yield Row("sure_incorrect", threshold, incorrect)
        yield Row("unsure", threshold, ratio(n - sure, n))
        yield Row("expected_loss", threshold, 2.0 * incorrect - correct)


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
        ),
        "auroc_correct": Metric(
            "probability that a correct prediction is more confident than a wrong one",
            HIGHER,
            "P(confidence of a correct > of a wrong prediction) + P(equal) / 2",
            "Hendrycks and Gimpel 2017",
            heading="AUROC of correctness",
        ),
        "sure_correct": share_per_threshold(
            "share of test examples accepted at the threshold and predicted correctly",
            HIGHER,
            "#{accepted and correct} / n",
            _SOURCE,
            tables=(RESULTS,),
        ),
        "unsure": share_per_threshold(
            "share of test examples rejected at the threshold",
            LOWER,
            "#{rejected} / n",
            _SOURCE,
            tables=(RESULTS,),
        ),
        "sure_incorrect": share_per_threshold(
            "share of test examples accepted at the threshold and predicted wrongly",
            LOWER,
            "#{accepted and wrong} / n",
            _SOURCE,
            tables=(RESULTS,),
        ),
        "expected_loss": Metric(
            "mean loss at the threshold: 2 for sure incorrect, -1 for sure correct, 0 for unsure",
            LOWER,
            "2 sure_incorrect - sure_correct",
            _SOURCE,
            per=THRESHOLD,
        ),
    },
    rows=rows,
)
