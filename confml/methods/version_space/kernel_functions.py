"""`KernelFunction`: the kernels of the methods of this family, and the width sigma.

The Gaussian kernel is exp(-|x - z|^2 / (2 sigma^2)), as in the paper on Bayesian transduction. In
scikit-learn its parameter is gamma = 1 / (2 sigma^2).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from confml.errors import ConfmlError
from confml.methods.version_space import _kernels_gram as kernels
from confml.neighbours.checks import check_width
from confml.plugins.parameters import AnyOf, Choice, Integer, Number, Parameter

# The median distance is computed from at most this number of evenly spaced training rows.
_MEDIAN_ROWS = 2000

KERNEL_PARAMETERS: Mapping[str, Parameter] = {
    "kernel": Choice(
        "rbf: exp(-|x - z|^2 / (2 sigma^2)); linear: <x, z>, without a bias; poly: (<x, z> + coef0)^degree",
        ("rbf", "linear", "poly"),
    ),
    "degree": Integer("degree of the poly kernel", 1, 20),
    "coef0": Number("constant that the poly kernel adds to <x, z>", 0.0),
}
SIGMA = Number("", 0.0, low_open=True)
MEDIAN = Choice("", ("median",))
WIDTH = AnyOf(
    "width of the rbf kernel, 1 / sqrt(2 gamma) in scikit-learn's terms; median: the median distance between "
    "two training rows",
    (SIGMA, MEDIAN),
)


@dataclass(frozen=True)
class KernelFunction:
    """Kernel k(x, z) of the kind ``linear``, ``poly`` or ``rbf``.

    sigma: width of ``rbf``, exp(-|x - z|^2 / (2 sigma^2)), so gamma = 1 / (2 sigma^2). degree, coef0: of
    ``poly``, (<x, z> + coef0)^degree.
    """

    kind: str
    sigma: float = 1.0
    degree: int = 2
    coef0: float = 1.0

    def __call__(self, X, Z) -> np.ndarray:
        """Return k(x, z) (n, m) of X (n, d) and Z (m, d); each element depends on its own two rows only.

        Raises ConfmlError if a value is not finite.
        """
        check_width(X, Z.shape[1])
        out = np.empty((len(X), len(Z)))
        if self.kind == "rbf":
            kernels.rbf_gram(X, Z, float(self.sigma), out)
        else:
            kernels.polynomial_gram(X, Z, *self._polynomial, out)
        if not np.isfinite(out).all():
            raise ConfmlError(
                f"the {self.kind} kernel has values that are not finite",
                hint="scale the features (steps: [standardise]), or choose a smaller degree",
            )
        return out

    def of_itself(self, X) -> np.ndarray:
        """Return k(x, x) (n,) of X (n, d)."""
        if self.kind == "rbf":
            return np.ones(len(X))
        degree, coef0 = self._polynomial
        return (np.einsum("ij,ij->i", X, X) + coef0) ** degree

    @property
    def _polynomial(self) -> tuple[int, float]:
        """Degree and constant, which are 1 and 0 of the linear kernel."""
        return (1, 0.0) if self.kind == "linear" else (int(self.degree), float(self.coef0))


def median_distance(X) -> float:
    """Return the median of the non-zero distances between two rows of X (n, d).

    If there are more than 2000 rows, 2000 evenly spaced ones are used. The result is 1 if all rows are equal.
    Raises ConfmlError if rows differ and the squares of their distances leave the range of double precision.
    """
    if len(X) > _MEDIAN_ROWS:
        X = X[np.arange(_MEDIAN_ROWS) * len(X) // _MEDIAN_ROWS]
    squares = np.empty((len(X), len(X)))
    kernels.squared_distances(X, X, squares)
    squares = squares[np.triu_indices(len(X), 1)]
    squares = squares[squares > 0]
    median = float(np.sqrt(np.median(squares))) if len(squares) else 1.0
    if not np.isfinite(median) or not len(squares) and len(X) and bool((X != X[0]).any()):
        raise ConfmlError(
            "the distances of the training rows are too "
            f"{'large' if len(squares) else 'small'} for double precision",
            hint="scale the features first, for example with the step 'min-max'",
        )
    return median
