"""`IntegerRows`: bounds of distances from products of 16-bit integers, which some processors compute fast."""

import functools

import numpy as np

from confml.neighbours import _kernels_filter as kernels
from confml.neighbours.lanes import GROUP, PANEL

_LARGEST = 2.0**14.5  # length of a row in units: products and sums of two squared lengths are 32-bit integers
_MOST_FEATURES = 4096  # beyond it, rounding errors become a large part of the lengths


@functools.cache
def has_fast_products() -> bool:
    """Return whether numba compiles for a processor with instructions for products of 16-bit integers.

    AVX512-VNNI multiplies twice as many of them as of float32 numbers. On other processors the float32
    products of BLAS are used: with AVX2 they take a third of the time for new rows with 256 features. The
    results are the same.
    """
    try:
        from numba.core.registry import cpu_target

        return "+avx512vnni" in cpu_target.target_context.codegen()._tm_features.split(",")
    except (ImportError, AttributeError):  # numba's internals have changed
        return False


class IntegerRows:
    """Rows x rounded to 16-bit integers q = rint(scale (x - centre)), with a bound of their distances.

    With delta = |q_i - q_j|^2, an integer, and the lengths e of the rounding errors::

        | scale |x_i - x_j| - sqrt(delta) |  <=  error_i + error_j,     error = e + 1e-6,

    by the triangle inequality. Lengths |q| are below 2^14.5 + sqrt(d) / 2, so products and half of delta are
    32-bit integers. Float64 rounding of a row, of its error and of the exact distance is together below 1e-6:
    lengths are below 2^15 and d is at most 4096, so (d + 8) 2^-53 2^16 < 1e-7. Integers that are short
    enough have error 0.

    panels: (panels, pairs, PANEL) int32, two features each; 0 for rows beyond the last. norms:
    (panels * PANEL,) int32, |q|^2. usable: (m,) bool, whether a row is short enough. error: the largest one
    of the usable rows. scale: units per distance in the data.
    """

    @classmethod
    def of(cls, X: np.ndarray) -> "IntegerRows | None":
        """Return training rows X (m, d), scaled such that the longest one has nearly the largest length.

        None where the bound would not hold: equal rows, squares outside the range of float64, many features.
        """
        if X.shape[1] > _MOST_FEATURES:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            centre = X.mean(axis=0)
        if np.all(np.abs(centre) < 2.0**40) and are_integers(X):
            whole = np.rint(centre)
            if kernels.largest_norm(X, whole) <= _LARGEST**2:
                return cls(X, whole, 1.0, exact=True)
        largest = np.sqrt(kernels.largest_norm(X, centre))
        if not 1e-100 < largest < 1e130:
            return None
        return cls(X, centre, _LARGEST / float(largest) * (1 - 1e-9), exact=False)

    def __init__(self, X: np.ndarray, centre: np.ndarray, scale: float, exact: bool):
        """X: (m, d). exact: whether training rows are integers, with scale 1."""
        self._centre, self.scale, self._exact = centre, scale, exact
        panels = -(-len(X) // PANEL)
        self.panels = np.zeros((panels, (X.shape[1] + 1) // 2, PANEL), dtype=np.int32)
        self.norms = np.zeros(panels * PANEL, dtype=np.int32)
        self.usable = np.empty(len(X), dtype=bool)
        error = kernels.integers(X, centre, scale, _LARGEST**2, self.panels, self.norms, self.usable)
        self.error = 0.0 if exact and error == 0.0 else float(np.sqrt(error)) + 1e-6

    def query(self, T: np.ndarray) -> "IntegerRows":
        """Return new rows T (r, d) in the units of these rows."""
        return IntegerRows(T, self._centre, self.scale, self._exact)

    @staticmethod
    def space(rows: int = GROUP, columns: int = PANEL) -> tuple[np.ndarray, np.ndarray]:
        """Return the arrays ``masks`` (groups, panels, 2, GROUP) and ``halves`` (groups, panels, GROUP,
        PANEL) that `products_above` fills for each group of rows and each panel of columns."""
        shape = -(-rows // GROUP), -(-columns // PANEL)
        return np.empty((*shape, 2, GROUP), np.int64), np.empty((*shape, GROUP, PANEL), np.int32)


def are_integers(values: np.ndarray) -> bool:
    """Return whether all values are integers; the first values show most that are not."""
    first = values.reshape(-1)[:256]
    return bool(np.array_equal(first, np.rint(first)) and np.array_equal(values, np.rint(values)))
