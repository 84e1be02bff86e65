"""Point predictions: error, accuracy, adjusted Rand index."""

from collections.abc import Iterator

import numpy as np

from confml.measures.block import Block
from confml.measures.confusion_matrix import Confusion
from confml.measures.measure import Column, Measure
from confml.measures.metric import HIGHER, LOWER, PAGE, RESULTS, SHORT, Metric, share

_SOURCE = "Sokolova and Lapalme 2009"


def adjusted_rand_index(truth: np.ndarray, labels: np.ndarray) -> float:
    """Return the adjusted Rand index of two labellings (n,): 1 if equal, about 0 at random; NaN for n = 0.

    Hubert & Arabie 1985, as scikit-learn computes it. It is 1 if both labellings have one class only.
    """
    return float(rand_indices(Confusion.of(truth, labels).counts[None])[0])


def rand_indices(counts: np.ndarray) -> np.ndarray:
    """Return the adjusted Rand index (s,) of each confusion matrix (s, k, k); NaN without rows."""
    counts = counts.astype(np.int64)
    sums = (
        (counts**2).sum(axis=(1, 2)),
        (counts.sum(axis=1) ** 2).sum(axis=1),
        (counts.sum(axis=2) ** 2).sum(axis=1),
    )
    numbers = zip(counts.sum(axis=(1, 2)).tolist(), *(one.tolist() for one in sums), strict=True)
    return np.array([_rand_index(*one) for one in numbers])


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


def _compute(block: Block) -> Iterator[Column]:
    yield Column("error", None, block.shares(~block.whole.correct))
    yield Column("accuracy", None, block.shares(block.whole.correct))
    yield Column("ari", None, rand_indices(block.confusion))


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
    compute=_compute,
)
