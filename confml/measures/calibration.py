"""Quality of probabilities: log loss, Brier score and expected calibration error."""

from collections.abc import Iterator

import numpy as np

from confml.measures.bins import Bins
from confml.measures.case import Case
from confml.measures.measure import Measure, Row
from confml.measures.metric import LOWER, PAGE, Metric, share
from confml.measures.prediction import SHARES


def rows(case: Case) -> Iterator[Row]:
    """Yield log loss, Brier score and expected calibration error; NaN without rows or with a NaN."""
    p = case.prediction.scores
    if case.prediction.kind not in SHARES:
        return
    if not len(p) or np.isnan(p).any():
        yield from (Row(metric, None, float("nan")) for metric in MEASURE.metrics)
        return
    of_truth = np.where(case.known, p[np.arange(len(p)), case.true_columns], 0.0)
    is_possible = (of_truth > 0).all()
    yield Row("log_loss", None, float((0.0 - np.log(of_truth)).sum()) / len(p) if is_possible else np.inf)
    yield Row("brier", None, float(((p**2).sum(axis=1) + (1 - 2 * of_truth)).sum()) / len(p))
    yield Row("ece", None, Bins.of(p.max(axis=1), case.correct).error)


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
        ),
        "ece": share(
            "expected calibration error of the largest probability in 15 bins of equal mass that do not "
            "divide equal values; above 0 for calibrated probabilities too",
            LOWER,
            "sum over bins of n_b/n |mean largest p - share of correct predictions|",
            "Guo et al. 2017",
            heading="ECE",
        ),
    },
    rows=rows,
)
