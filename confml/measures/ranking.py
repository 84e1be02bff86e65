"""Area under the ROC curve of the scores of a class, for one class against the others."""

from collections.abc import Iterator

import numpy as np

from confml.measures.block import Block, fractions
from confml.measures.measure import Column, Measure
from confml.measures.metric import HIGHER, Metric


def _compute(block: Block) -> Iterator[Column]:
    yield Column("roc_auc", None, roc_auc(block))


def roc_auc(block: Block) -> np.ndarray:
    """Return the area under the ROC curve (s,); NaN if no class has test rows inside and outside.

    Two classes: the scores of the second class in sorted order. More: the mean over the classes, one against
    the rest; a class without test rows, or with all of them, is left out. Rows of an absent class belong to
    the rest.
    """
    classes, n = len(block.whole.prediction.classes), block.sizes
    if classes < 2 or not block.is_defined:
        return np.full(len(block), np.nan)
    total, used = np.zeros(len(block)), np.zeros(len(block), dtype=np.int64)
    for column in range(1 if classes == 2 else 0, classes):
        positive = block.whole.true_columns == column
        m, ranked = block.totals(positive), block.ranked_score(column)
        own, begun = ranked.sums(positive), block.starts[ranked.of_case]
        # Twice the sum of the mean ranks of the positive rows, less m, is twice the rows below them and m^2.
        twice = ranked.totals(own * (ranked.first - begun + ranked.end - begun))
        counts = (m > 0) & (m < n)
        area = np.divide(twice - m * m, 2 * m * (n - m), out=np.zeros(len(block)), where=counts)
        total, used = total + area, used + counts
    return fractions(total, used)


MEASURE = Measure(
    metrics={
        "roc_auc": Metric(
            "area under the ROC curve of the scores of a class: of the second class for two classes, else "
            "the mean "
            "over the classes, one against the rest (macro)",
            HIGHER,
            "P(score of c for a row of c > score of c for another row) + P(equal) / 2",
            "Hanley and McNeil 1982",
            heading="ROC AUC",
        ),
    },
    compute=_compute,
)
