"""The test and calibration examples behind the p-values of a variant, over its splits."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from confml.measures import Case
from confml.measures.p_values import counted_examples, is_label_conditional


class CalibrationParts:
    """Collect the (rows, counted) pairs of `coverage_band` over the splits.

    rows: number of different test examples; counted: smallest number of examples that their p-values are
    counted among on a split. smoothed: whether the p-values are smoothed.
    """

    def __init__(self):
        self.smoothed = False
        self._rows: dict[Any, set[int]] = {}
        self._counted: dict[Any, int | None] = {}
        self._by_class = False

    def add(self, case: Case, rows: np.ndarray) -> None:
        """Add one split: its case, and the row number of each test example."""
        self.smoothed = self.smoothed or "tau" in case.prediction.extra
        self._by_class = self._by_class or is_label_conditional(case)
        for label, places, fewest in case.once("rows of classes", lambda: list(_rows_of_classes(case))):
            self._rows.setdefault(label, set()).update(np.asarray(rows)[places].tolist())
            earlier = self._counted.get(label)
            self._counted[label] = fewest if earlier is None or fewest is None else min(earlier, fewest)

    def classes(self) -> dict[Any, tuple[int, int | None]]:
        """Return (rows, counted) of each true label, sorted."""
        return {label: (len(self._rows[label]), self._counted[label]) for label in sorted(self._rows)}

    def all_classes(self) -> list[tuple[int, int | None]]:
        """Return the parts of all true labels together: one, or one for each class if label-conditional.

        Absent classes are omitted, because no region contains them.
        """
        known = {label: part for label, part in self.classes().items() if part[1] != 0}
        if self._by_class or not known:
            return list(known.values())
        sizes = [counted for _, counted in known.values()]
        rows = len(set().union(*(self._rows[label] for label in known)))
        known_sizes = [size for size in sizes if size is not None]
        return [(rows, min(known_sizes) if len(known_sizes) == len(sizes) else None)]


def _rows_of_classes(case: Case) -> Iterator[tuple[Any, np.ndarray, int | None]]:
    """Yield each true label, the places of its examples, and the smallest number they are counted among."""
    counted = counted_examples(case)
    labels, codes = case.labels
    for code, label in enumerate(labels.tolist()):
        places = np.flatnonzero(codes == code)
        yield label, places, None if counted is None else int(counted[places].min())
