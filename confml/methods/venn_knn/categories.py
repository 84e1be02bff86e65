"""`Categories`: the categories of a Venn taxonomy, with the training examples in each."""

from dataclasses import dataclass

import numpy as np

from confml.methods.venn_knn import _kernels as kernels

TAXONOMIES = {"majority": kernels.MAJORITY, "votes": kernels.VOTES, "counts": kernels.COUNTS}


@dataclass(frozen=True, eq=False)
class Categories:
    """Categories that occur among the training examples.

    number: the taxonomy in the kernels. values: (q, w) distinct keys, one row per category. kinds: (m,) the
    category of each training example. table: (q, c) number of training examples of each class.
    """

    number: int
    values: np.ndarray
    kinds: np.ndarray
    table: np.ndarray

    stored = {
        "number": "int in 0..",
        "values": "i4(t, *)",
        "kinds": "i8(n) in 0..t",
        "table": "i8(t, c) in 0..",
    }

    @classmethod
    def of(cls, counts: np.ndarray, codes: np.ndarray, taxonomy: str) -> "Categories":
        """Return the categories of training examples with class codes (m,).

        counts: (m, c) number of neighbours of each class.
        """
        number = TAXONOMIES[taxonomy]
        values, kinds = np.unique(_keys(counts, number), axis=0, return_inverse=True)
        kinds = kinds.reshape(-1)
        table = np.zeros((len(values), counts.shape[1]), dtype=np.int64)
        np.add.at(table, (kinds, codes), 1)
        return cls(number, values, kinds, table)

    def find(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the categories (n,) of neighbour counts (n, c), -1 for new ones, and their table (n, c)."""
        place = {row.tobytes(): kind for kind, row in enumerate(self.values)}
        keys = _keys(counts, self.number)
        kinds = np.array([place.get(row.tobytes(), -1) for row in keys], dtype=np.int64)
        return kinds, np.where(kinds[:, None] >= 0, self.table[kinds], 0)


def _keys(counts: np.ndarray, number: int) -> np.ndarray:
    """Return (n, w) one key per row of neighbour counts (n, c), equal within a category."""
    if number == kernels.COUNTS:
        return np.ascontiguousarray(counts)
    first = np.argmax(counts, axis=1).astype(counts.dtype)
    if number == kernels.MAJORITY:
        return first[:, None]
    return np.stack([first, counts.max(axis=1)], axis=1)
