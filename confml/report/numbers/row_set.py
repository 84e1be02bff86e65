"""`RowSet`: sets of row numbers, one for each of several names."""

from collections.abc import Hashable, Sequence

import numpy as np


class RowSet:
    """Sets of row numbers by name, in one byte per name and row."""

    def __init__(self) -> None:
        self._places: dict[Hashable, int] = {}
        self._has = np.zeros((1, 0), dtype=bool)

    def add(self, rows: np.ndarray, names: Sequence[Hashable], codes: np.ndarray | int = 0) -> np.ndarray:
        """Add rows (n,), each to the set of ``names[code]``; return (n,) bool: whether it is new there."""
        own = [self._places.setdefault(name, len(self._places)) for name in names]
        places = np.array(own, dtype=np.intp)[codes]
        sets, width = self._has.shape
        top = int(rows.max(initial=-1))
        if len(self._places) > sets or top >= width:
            more = max(len(self._places) - sets, 0), max(2 * top - width, 1) if top >= width else 0
            self._has = np.pad(self._has, ((0, more[0]), (0, more[1])))
        new = ~self._has[places, rows]
        self._has[places, rows] = True
        return new

    def count(self, *names: Hashable) -> int:
        """Return the number of rows in one or more of the sets."""
        own = self._has[[self._places[name] for name in names]]
        return int(np.count_nonzero(own.any(axis=0)))
