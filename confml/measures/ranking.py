"""Area under the ROC curve of the scores of a class, for one class against the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from confml.measures._case import Case, Measure, Row
from confml.measures.metrics import HIGHER, Metric

if TYPE_CHECKING:
    from confml.measures.block import Block, Column


def roc_auc(case: Case) -> float:
    """Return the area under the ROC curve; NaN if no class has test rows of its own and of others.

    Two classes: the scores of the second class in sorted order. More: the mean over the classes, one against
    the rest; a class without test rows, or with all of them, is left out. Rows of an absent class belong to
    the rest.
    """
    prediction = case.prediction
    if len(case.truth) == 0 or len(prediction.classes) < 2 or np.isnan(prediction.scores).any():
        return float("nan")
    first = 1 if len(prediction.classes) == 2 else 0
    areas = []
    for column in range(first, len(prediction.classes)):
        positive = case.true_columns == column
        m, n = int(np.count_nonzero(positive)), len(positive)
        if 0 < m < n:
            scores = prediction.scores[:, column]
            ranked, own = np.sort(scores), np.sort(scores[positive])
            below, up_to = (int(np.searchsorted(ranked, own, side).sum()) for side in ("left", "right"))
            # below + up_to is twice the sum of the mean ranks, counted from 1, less m.
            areas.append((below + up_to - m * m) / (2 * m * (n - m)))
    return sum(areas) / len(areas) if areas else float("nan")


def _compute(case: Case) -> Iterator[Row]:
    yield Row("roc_auc", None, roc_auc(case))


def _compute_block(block: Block) -> Iterator[Column]:
    from confml.measures.block import Column

    yield Column("roc_auc", None, _areas(block))


def _areas(block: Block) -> np.ndarray:
    """Return `roc_auc` of each case (s,)."""
    classes, n = len(block.whole.prediction.classes), block.sizes
    total, used = np.zeros(len(block)), np.zeros(len(block), dtype=np.int64)
    for column in range(1 if classes == 2 else 0, classes):
        m = block.class_counts[:, column]
        ranked = block.ranked_score(column)
        own = ranked.sums(block.whole.true_columns == column)
        begun = block.starts[ranked.of_case]
        twice = np.add.reduceat(own * (ranked.first - begun + ranked.end - begun), ranked.first_group)
        counts = (m > 0) & (m < n)
        area = np.divide(twice - m * m, 2 * m * (n - m), out=np.zeros(len(block)), where=counts)
        total, used = total + area, used + counts
    if classes < 2:
        return np.full(len(block), np.nan)
    return np.divide(total, used, out=np.full(len(block), np.nan), where=used > 0)


MEASURE = Measure(
    metrics={
        "roc_auc": Metric(
            "area under the ROC curve of the scores of a class: of the second class for two classes, else "
            "the mean "
            "over the classes, one against the rest (macro)",
            HIGHER,
            "P(score of c for a row of c > score of c for another row) + P(equal) / 2",
            "Hanley and McNeil 1982",
        ),
    },
    compute=_compute,
    compute_block=_compute_block,
)
