"""`GrowingFilter`: a distance filter over rows that are added over time."""

from __future__ import annotations

import numpy as np

from confml.neighbours.distance_filter import DirectDistances, DistanceFilter, FilterRows
from confml.neighbours.distances import minus_squared_distances


class GrowingFilter:
    """The interface of `DistanceFilter` for rows in ``cells`` places, some of which are free.

    Free places have low = high = +inf, so that no similarity there exceeds a limit. A row is put into a place
    if the error bound of the filter holds for it (`accepts`); for other rows a new filter is needed.

    X: (n, d) float64. places: the places of its first rows; the other rows can be put later. products: use
    float32 products where the bound holds, otherwise direct differences.
    """

    def __init__(self, X: np.ndarray, places: np.ndarray, cells: int, products: bool):
        found = DistanceFilter.of(X) if products and len(X) else None
        self.direct = found is None
        self._filter = found or DirectDistances(X)
        self.factor, self.unit, self.dtype = self._filter.factor, self._filter.unit, self._filter.dtype
        self._exact = found is not None and not found.error.any()
        self._longest = float(self._filter.rows.norms.max(initial=0.0))
        shape = (X.shape[1], cells) if self.direct else (cells, X.shape[1])
        self._values = np.zeros(shape, dtype=self.dtype)
        self.low, self.high = (np.full(cells, np.inf, dtype=self.dtype) for _ in range(2))
        self.error = np.zeros(cells, dtype=self.dtype)
        self.put(self._filter.rows.part(0, len(places)), places)

    def query(self, T: np.ndarray) -> FilterRows:
        """Return rows T (r, d) in the form that the filter compares."""
        return self._filter.query(T)

    def accepts(self, rows: FilterRows) -> bool:
        """Return whether these rows can be put into free places."""
        if self.direct:
            return True
        if self._exact and (rows.slack.any() or rows.norms.max(initial=0.0) > self._longest):
            return False
        return bool(rows.usable.all())

    def put(self, rows: FilterRows, places: np.ndarray) -> None:
        """Store rows in free places (r,)."""
        if self.direct:
            self._values[:, places] = rows.values.T
            self.low[places] = self.high[places] = 0.0
            return
        self._values[places] = rows.values
        self.low[places] = (rows.norms - rows.slack) / 2
        self.high[places] = (rows.norms + rows.slack) / 2
        self.error[places] = rows.slack * (1 + 1e-6)

    def similarities(self, rows: FilterRows, space: np.ndarray) -> np.ndarray:
        """Return the similarities (b, cells) of rows and all places, a view of ``space``, a flat array."""
        cells = len(self.low)
        tile = space[: len(rows.values) * cells].reshape(len(rows.values), cells)
        if self.direct:
            minus_squared_distances(rows.values, self._values, 0, tile)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                np.matmul(rows.values, self._values.T, out=tile)
        return tile
