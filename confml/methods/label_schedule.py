"""`LabelSchedule`: when the labels of an online pass arrive, and the order in which rows are learnt."""

from typing import NamedTuple

import numpy as np

GIVEN, ARRIVAL = "given", "arrival"
LABEL_ORDERS = {
    "given": "rows are learnt in the order in which they are predicted, so that a late label delays all "
    "later rows",
    "arrival": "rows are learnt when their labels arrive, which is valid only if the delay has nothing to do"
    " with features or label",
}


class LabelSchedule(NamedTuple):
    """The m of n predicted rows that are learnt before the end, in the order in which they are learnt.

    rows: (m,) their positions. predicted: (m,) number of rows that are predicted before each is learnt,
    non-decreasing. total: n.
    """

    rows: np.ndarray
    predicted: np.ndarray
    total: int

    @classmethod
    def of(cls, delays, label_order: str = GIVEN) -> "LabelSchedule":
        """Return the schedule of n rows.

        delays: (n,) whole numbers; the label of row i arrives after the prediction of row i + delays[i].
        label_order: one of `LABEL_ORDERS`. Labels that arrive at the same time are learnt in the given order.
        Raises ValueError for other delays.
        """
        delays = np.asarray(delays, dtype=np.int64)
        if delays.ndim != 1 or (delays < 0).any():
            raise ValueError("delays must be whole numbers of at least 0 of shape (n,)")
        if label_order not in LABEL_ORDERS:
            raise ValueError(f"label_order must be given or arrival, got {label_order!r}")
        n = len(delays)
        predicted = np.arange(1, n + 1) + delays
        if label_order == GIVEN:
            predicted = np.maximum.accumulate(predicted)
        rows = np.argsort(predicted, kind="stable")
        rows = rows[predicted[rows] <= n]
        return cls(rows, predicted[rows], n)

    @property
    def learnt(self) -> np.ndarray:
        """(n,) number of rows that are learnt before the prediction of each row."""
        return np.searchsorted(self.predicted, np.arange(self.total), side="right")

    def extra(self, p: np.ndarray) -> dict[str, np.ndarray]:
        """Return arrays (n,) for ``extra`` of a view.

        ``label_place``: place of each row in the order of learning, from 0; -1 if it is not learnt before the
        end. ``label_after``: number of rows that are predicted before it is learnt; -1 likewise. ``label_p``:
        ``p`` (m,), the smoothed p-values of the true labels, each against the rows learnt before; else NaN.
        """
        place, after, of_label = (np.full(self.total, fill) for fill in (-1, -1, np.nan))
        place[self.rows] = np.arange(len(self.rows))
        after[self.rows], of_label[self.rows] = self.predicted, p
        return {"label_place": place, "label_after": after, "label_p": of_label}
