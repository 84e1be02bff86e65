"""Point predictions: error, accuracy, adjusted Rand index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confml.measures._case import Case, Measure, Row
from confml.measures.metrics import HIGHER, LOWER, Metric

_SOURCE = "Sokolova and Lapalme 2009"


def adjusted_rand_index(truth: np.ndarray, labels: np.ndarray) -> float:
    """Return the adjusted Rand index of two labellings (n,): 1 if equal, about 0 at random; NaN for n = 0.

    Hubert & Arabie 1985, as scikit-learn computes it. It is 1 if both labellings have one class only.
    """
    if len(truth) == 0:
        return float("nan")
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, labels))


def _compute(case: Case) -> Iterator[Row]:
    yield Row("error", None, case.share(~case.correct))
    yield Row("accuracy", None, case.share(case.correct))
    yield Row("ari", None, adjusted_rand_index(case.truth, case.prediction.labels))


MEASURE = Measure(
    metrics={
        "error": Metric(
            "share of test examples whose predicted label is wrong",
            LOWER,
            "#{i: predicted label of i is not y_i} / n",
            _SOURCE,
        ),
        "accuracy": Metric(
            "share of test examples whose predicted label is correct", HIGHER, "1 - error", _SOURCE
        ),
        "ari": Metric(
            "adjusted Rand index of predicted and true labels",
            HIGHER,
            "(Rand index - its expectation) / (1 - its expectation)",
            "Hubert and Arabie 1985",
        ),
    },
    compute=_compute,
)
