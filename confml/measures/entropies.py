"""Mean entropies of a posterior: of its mean, of its draws, and the mutual information of label and draw."""

from collections.abc import Iterator

from confml.measures.case import Case
from confml.measures.measure import Measure, Row, ratio
from confml.measures.metric import Metric
from confml.measures.prediction import ENTROPIES

_SOURCE = "Depeweg et al. 2018"


def rows(case: Case) -> Iterator[Row]:
    """Yield the mean of each entropy."""
    for name in ENTROPIES:
        if name in case.prediction.extra:
            yield Row(name, None, ratio(float(case.prediction.extra[name].sum()), len(case.truth)))


MEASURE = Measure(
    metrics={
        "total_entropy": Metric(
            "mean entropy of the posterior mean of the class probabilities",
            None,
            "mean over i of H(mean over draws s of p_si); expected_entropy + mutual_information",
            _SOURCE,
            unit="nats",
        ),
        "expected_entropy": Metric(
            "mean entropy of the draws of the class probabilities (aleatoric uncertainty)",
            None,
            "mean over i and draws s of H(p_si)",
            _SOURCE,
            unit="nats",
        ),
        "mutual_information": Metric(
            "mean mutual information of label and draw (epistemic uncertainty)",
            None,
            "mean over i of H(mean over draws s of p_si) - mean over draws s of H(p_si)",
            _SOURCE,
            unit="nats",
        ),
    },
    rows=rows,
)
