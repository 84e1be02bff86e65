"""Point predictions: error, accuracy, adjusted Rand index."""

from collections.abc import Iterator

import numpy as np

from confml.measures.case import Case
from confml.measures.confusion_matrix import Confusion
from confml.measures.measure import Measure, Row, ratio
from confml.measures.metric import HIGHER, LOWER, PAGE, RESULTS, SHORT, Metric, share

_SOURCE = "Sokolova and Lapalme 2009"


def adjusted_rand_index(truth: np.ndarray, labels: np.ndarray) -> float:
    """Return the adjusted Rand index of two labellings (n,): 1 if equal, about 0 at random; NaN for n = 0.

    Hubert & Arabie 1985, as scikit-learn computes it. It is 1 if both labellings have one class only.
    """
    return rand_index(Confusion.of(truth, labels))


def rand_index(confusion: Confusion) -> float:
    """Return the adjusted Rand index of a confusion matrix; NaN without rows."""
    counts = (confusion.counts, confusion.predicted, confusion.rows)
    return _rand_index(int(confusion.rows.sum()), *(int((part * part).sum()) for part in counts))


def _rand_index(n: int, together: int, by_column: int, by_row: int) -> float:
    """Return the index from the number of rows and the sums of squares of counts, which may be large."""
    if n == 0:
        return float("nan")
    # Ordered pairs of examples: in one class of both labellings, of one of them, of neither.
    both, of_labels, of_truth = together - n, by_column - together, by_row - together
    neither = n * n - of_labels - of_truth - together
    if of_labels == 0 and of_truth == 0:
        return 1.0
    below = (both + of_truth) * (of_truth + neither) + (both + of_labels) * (of_labels + neither)
    return 2.0 * (both * neither - of_truth * of_labels) / below


def rows(case: Case) -> Iterator[Row]:
    """Yield error, accuracy and adjusted Rand index."""
    n, correct = len(case.truth), int(np.count_nonzero(case.correct))
    yield Row("error", None, ratio(n - correct, n))
    yield Row("accuracy", None, ratio(correct, n))
    yield Row("ari", None, rand_index(case.confusion))


MEASURE = Measure(
    metrics={
        "error": share(
            "share of test examples whose predicted label is wrong",
            LOWER,
            "#{i: predicted label of i is not y_i} / n",
            _SOURCE,
            tables=(SHORT, RESULTS, PAGE),
        ),
        "accuracy": share(
            "share of test examples whose predicted label is correct",
            HIGHER,
            "1 - error",
            _SOURCE,
        ),
        "ari": Metric(
            "adjusted Rand index of predicted and true labels",
            HIGHER,
            "(Rand index - its expectation) / (1 - its expectation)",
            "Hubert and Arabie 1985",
            heading="adjusted Rand index",
        ),
    },
    rows=rows,
)
