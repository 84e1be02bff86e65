"""``venn-bounds.csv``: bounds of Venn predictors, and the frequency of each class."""

from collections.abc import Iterator, Sequence

import numpy as np

from confml.measures import Case
from confml.measures.prediction import per_class_extra
from confml.report.run.results import Split, Variant
from confml.report.tables.table import Row, Table, by_view


def has_bounds(case: Case) -> bool:
    return per_class_extra(case.prediction) == ["lower", "upper"] and len(case.truth) > 0


def rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """Mean lower and upper probability of each class, and its frequency, over all splits.

    ``rows``: number of predictions, of all classes. ``lower`` and ``upper``: means of the bounds over them.
    ``frequency``: share of them whose true label is the class. In expectation the frequency lies between
    ``lower`` and ``upper`` for ``venn: inductive``, if calibration and test rows are exchangeable; ``venn:
    cross`` has no such guarantee. On one test part the frequency varies by chance.
    """
    sums: dict = {}
    for _, case in splits:
        prediction = case.prediction
        lower, upper = (prediction.extra[name].sum(axis=0) for name in ("lower", "upper"))
        for j, label in enumerate(prediction.classes.tolist()):
            of_class = np.count_nonzero(case.truth == label)
            sums[label] = sums.get(label, 0.0) + np.array([len(prediction), lower[j], of_class, upper[j]])
    for label, (n, lower, of_class, upper) in sorted(sums.items()):
        yield label, int(n), lower / n, of_class / n, upper / n


TABLE = Table(
    "venn-bounds.csv",
    "mean lower and upper probability of each class, and its frequency",
    "dataset method params view class rows lower frequency upper",
    by_view(rows, has_bounds),
    needs="Venn predictors",
)
