"""Criteria of efficiency of p-values: smaller p-values of false labels are better.

Vovk, Fedorova, Nouretdinov, Gammerman, Criteria of efficiency for conformal prediction (COPA 2016). With n
test examples, p-values p_i^y and regions G_i at level e, and y_i the true labels, each is a mean over i:

======  =====================================================  ==============================================
prior   S  sum_y p_i^y                                         N  |G_i|  (``mean_region_size``)
        U  second largest p_i^y (unconfidence)                 M  1 if |G_i| > 1  (``two_or_more``)
        F  sum_y p_i^y - max_y p_i^y (fuzziness)               E  max(|G_i| - 1, 0) (excess)
------  -----------------------------------------------------  ----------------------------------------------
obs.    OU  max over y != y_i of p_i^y                         OM  1 if G_i has a label other than y_i
        OF  sum over y != y_i of p_i^y                         OE  number of labels in G_i other than y_i
======  =====================================================  ==============================================

The criteria on the left need no level. Smaller is better for all criteria. S, N, OF and OE are conditionally
proper: the conformity measure that optimises them is the true conditional probability.
"""

import math
from collections.abc import Iterator

import numpy as np

from confml.measures.case import Case
from confml.measures.measure import Measure, Row, ratio
from confml.measures.metric import LOWER, Metric


def _criteria(case: Case) -> dict[str, np.ndarray]:
    """Return S, U, F, OU and OF of each example (n,) by metric."""
    p = case.prediction.scores
    n, c = p.shape
    second = np.partition(p, -2, axis=1)[:, -2] if c > 1 else np.zeros(n)
    is_wrong = np.arange(p.shape[1]) != case.true_columns[:, None]  # all labels for an absent class
    total, observed = p.sum(axis=1), np.where(is_wrong, p, 0.0)
    return {
        "sum_of_p": total,
        "unconfidence": second,
        "fuzziness": total - p.max(axis=1),
        "observed_unconfidence": observed.max(axis=1),
        "observed_fuzziness": observed.sum(axis=1),
    }


def rows(case: Case) -> Iterator[Row]:
    """Yield S, U, F, OU and OF; N and M are metrics of regions.

    U and OU are 0 if there is no second or no false label.
    """
    if case.prediction.kind == "p-value":
        for metric, values in _criteria(case).items():
            yield Row(metric, None, ratio(math.fsum(values.tolist()), len(values)))


VOVK_2016 = "Vovk, Fedorova, Nouretdinov and Gammerman 2016"
MEASURE = Measure(
    metrics={
        "sum_of_p": Metric(
            "mean sum of an example's p-values (criterion S of Vovk et al. 2016)",
            LOWER,
            "mean over i of sum_y p_i^y",
            VOVK_2016,
            heading="sum of p-values",
        ),
        "unconfidence": Metric(
            "mean second largest p-value (criterion U)",
            LOWER,
            "mean over i of the second largest p_i^y",
            VOVK_2016,
        ),
        "fuzziness": Metric(
            "mean sum of an example's p-values without the largest (criterion F)",
            LOWER,
            "mean over i of sum_y p_i^y - max_y p_i^y",
            VOVK_2016,
        ),
        "observed_unconfidence": Metric(
            "mean largest p-value of a false label (criterion OU)",
            LOWER,
            "mean over i of max over y != y_i of p_i^y",
            VOVK_2016,
        ),
        "observed_fuzziness": Metric(
            "mean sum of the p-values of false labels (criterion OF)",
            LOWER,
            "mean over i of the sum over y != y_i of p_i^y",
            VOVK_2016,
        ),
    },
    rows=rows,
)
