"""Point predictions: error, accuracy, adjusted Rand index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from confml.measures._case import Case, Measure, Row
from confml.measures.confusion import Confusion
from confml.measures.metrics import HIGHER, LOWER, Metric

if TYPE_CHECKING:
    from confml.measures.block import Block, Column

_SOURCE = "Sokolova and Lapalme 2009"


def adjusted_rand_index(truth: np.ndarray, labels: np.ndarray) -> float:
    """Return the adjusted Rand index of two labellings (n,): 1 if equal, about 0 at random; NaN for n = 0.

    Hubert & Arabie 1985, as scikit-learn computes it. It is 1 if both labellings have one class only.
    """
    if len(truth) == 0:
        return float("nan")
    return rand_index_of(Confusion.of(truth, labels))


def rand_index_of(confusion: Confusion) -> float:
    """Return the adjusted Rand index of a confusion matrix."""
    n, together = int(confusion.counts.sum()), _squares(confusion.counts)
    if n == 0:
        return float("nan")
    by_row, by_column = _squares(confusion.rows), _squares(confusion.predicted)
    # Ordered pairs of examples: in one class of both labellings, of one of them, of neither.
    both, of_labels, of_truth = together - n, by_column - together, by_row - together
    neither = n * n - of_labels - of_truth - together
    if of_labels == 0 and of_truth == 0:
        return 1.0
    below = (both + of_truth) * (of_truth + neither) + (both + of_labels) * (of_labels + neither)
    return 2.0 * (both * neither - of_truth * of_labels) / below


def _squares(counts: np.ndarray) -> int:
    """Return the sum of squares, exactly."""
    return int(np.sum(counts.astype(np.int64) ** 2))


def _compute(case: Case) -> Iterator[Row]:
    yield Row("error", None, case.share(~case.correct))
    yield Row("accuracy", None, case.share(case.correct))
    yield Row("ari", None, rand_index_of(Confusion.of_case(case)))


def _compute_block(block: Block) -> Iterator[Column]:
    from confml.measures.block import Column

    yield Column("error", None, block.shares(~block.whole.correct))
    yield Column("accuracy", None, block.shares(block.whole.correct))
    yield Column("ari", None, _rand_indices(block))


def _rand_indices(block: Block) -> np.ndarray:
    """Return `rand_index_of` each case (s,)."""
    counts = block.confusion
    if counts is None:
        return np.array([rand_index_of(Confusion.of_case(case)) for case in block.cases])
    n = block.sizes
    together = (counts**2).sum(axis=(1, 2))
    both = together - n
    of_labels = (counts.sum(axis=1) ** 2).sum(axis=1) - together
    of_truth = (counts.sum(axis=2) ** 2).sum(axis=1) - together
    neither = n * n - of_labels - of_truth - together
    below = (both + of_truth) * (of_truth + neither) + (both + of_labels) * (of_labels + neither)
    alike = (of_labels == 0) & (of_truth == 0)
    return np.where(alike, 1.0, 2.0 * (both * neither - of_truth * of_labels) / np.where(alike, 1, below))


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
    compute_block=_compute_block,
)
