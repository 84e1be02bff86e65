"""Bounds of Venn predictors: the width of the predicted class."""

from collections.abc import Iterator

import numpy as np

from confml.measures.block import Block
from confml.measures.case import Case
from confml.measures.measure import Column, Measure
from confml.measures.metric import LOWER, Metric
from confml.measures.prediction import per_class_extra


def _compute(block: Block) -> Iterator[Column]:
    if per_class_extra(block.whole.prediction) == ["lower", "upper"]:
        yield Column("venn_width", None, block.means(_widths(block.whole)))


def _widths(case: Case) -> np.ndarray:
    """Return (n,) upper minus lower probability of the predicted class."""
    prediction = case.prediction
    at = np.arange(len(prediction)), prediction.predicted_columns
    return prediction.extra["upper"][at] - prediction.extra["lower"][at]


MEASURE = Measure(
    metrics={
        "venn_width": Metric(
            "mean difference of the upper and the lower probability of the predicted class",
            LOWER,
            "mean over i of upper_i - lower_i of the predicted class",
            "Vovk, Petej and Fedorova 2015",
            heading="width of Venn bounds",
        ),
    },
    compute=_compute,
)
