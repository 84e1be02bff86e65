"""`naive-bayes`: class probabilities for features that are independent within each class."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import logsumexp, softmax

from confml.measures.prediction import Prediction
from confml.methods.base import ProbabilityMethod
from confml.methods.nominal import NOMINAL, nominal_mask
from confml.plugins.parameters import AnyOf, Choice, Integer, Number

LARGEST_VALUE = 1e150  # squares of larger values, or of values below its inverse, leave double precision
_BLOCK = 4_000_000  # differences between test values and kernel centres at a time


@dataclass(eq=False, repr=False)
class NaiveBayes(ProbabilityMethod):
    """Naive Bayes: the posterior probability of class c is P(c) times the product of p_c(x_i), normalised.

    View ``probability``: the posterior probabilities. P(c) is the fraction of training examples in class c.
    Equal probabilities are decided for the first class in sorted order.

    Notes
    -----
    Nominal features: p_c is the m-estimate ``(n_value + m pi) / (n_class + m)``. pi is 1/V for V categories
    in the training set (``prior: equal``), or the fraction of the category in the whole training set
    (``prior: frequency``, Cestnik 1990). A category that occurs only in the test set has n_value = 0 and
    pi = 1/V; with m = 0 it is ignored. Where the product is 0 for every class, which m = 0 allows, the
    posterior is P(c).

    Numeric features, by the parameter ``numeric``:

    - ``gaussian``: one Gaussian with the mean and the standard deviation (divisor n - 1) of the class.
    - ``bells``: a Gaussian kernel density estimate (Parzen) from the training values of the class.
      ``bandwidth`` is the standard deviation of the kernel in the units of the feature (the book uses 1 in
      Fig. 2.5), or ``normal-reference``: 1.06 s n^(-1/5) for n values with standard deviation s.
    - ``bins``: ``bins`` intervals of equal width between the smallest and the largest training value, then
      estimated like categories, including empty intervals; values outside belong to the nearest interval.

    A class with one example, or whose values are all equal, uses the standard deviation of the whole training
    set. A numeric feature that is constant in the training set is ignored.

    References
    ----------
    Good 1965; Kubat, An Introduction to Machine Learning (2015), chapter 2; Silverman 1986, eq. 3.28.
    """

    name = "naive-bayes"
    example = ""
    version = 3
    views = ("probability",)
    takes_nominal = True
    parameters = {
        "numeric": Choice("density estimate of numeric features", ("gaussian", "bells", "bins")),
        "m": Number("weight of the prior in the m-estimate, as a number of examples", low=0),
        "prior": Choice("prior of categories: equal, or their training frequency", ("equal", "frequency")),
        "bandwidth": AnyOf(
            "standard deviation of the Gaussian kernel of bells",
            of=(Choice("", options=("normal-reference",)), Number("", low=0, low_open=True)),
        ),
        "bins": Integer("number of intervals of a feature", low=1),
        "nominal": NOMINAL,
    }

    numeric: str = "gaussian"
    m: float = 1.0
    prior: str = "equal"
    bandwidth: str | float = "normal-reference"
    bins: int = 10
    nominal: str | Sequence[int] = "auto"

    def fit(self, X, y) -> Self:
        """Estimate P(c) and every p_c(x_i) from training examples X (m, d) with labels y (m,)."""
        X, codes = self.check_fit_data(X, y)
        self.class_counts_ = np.bincount(codes, minlength=len(self.classes_))
        nominal = nominal_mask(self.nominal, X.shape[1])
        self._factors = np.where(nominal, 1.0, _safe_factors(X))
        X = X * self._factors
        columns = zip(X.T, nominal, self._factors, strict=True)
        self.densities_ = [self._density(values, codes, *column) for values, *column in columns]
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``probability`` of X (n, d)."""
        with np.errstate(over="ignore"):  # so far away that the density is 0
            X = self.check_predict_data(X) * self._factors
        prior = np.log(self.class_counts_ / self.class_counts_.sum())
        total = np.repeat(prior[None, :], len(X), axis=0)
        for values, density in zip(X.T, self.densities_, strict=True):
            if density is not None:
                total += density.log(values)
        none = np.isneginf(total).all(axis=1)
        total[none] = prior
        scores = np.exp(total - logsumexp(total, axis=1, keepdims=True))
        # Rounding of logarithms of 1e6 and more: the scores would not sum to 1.
        rounded = np.abs(scores.sum(axis=1) - 1) > 1e-5
        scores[rounded] = softmax(total[rounded], axis=1)
        labels = self.classes_[np.argmax(total, axis=1)]
        return {"probability": Prediction(self.classes_, scores, "probability", labels)}

    def _density(self, values: np.ndarray, codes: np.ndarray, nominal: bool, factor: float):
        if nominal:
            return CategoryProbabilities(values, codes, self.class_counts_, self.m, self.prior)
        whole = _sd(values)
        if whole == 0:
            return None
        if self.numeric == "bins":
            return Bins(values, codes, self.class_counts_, self.m, self.prior, self.bins)
        of_class = [values[codes == code] for code in range(len(self.class_counts_))]
        if self.numeric == "gaussian":
            return Gaussians(of_class, whole)
        bandwidth = self.bandwidth if isinstance(self.bandwidth, str) else self.bandwidth * factor
        return KernelDensity(of_class, whole, bandwidth)


class CategoryProbabilities:
    """m-estimates of the categories of one attribute in each class."""

    def __init__(self, values, codes: np.ndarray, class_counts: np.ndarray, m: float, prior: str):
        self.categories, indices = np.unique(values, return_inverse=True)
        V = len(self.categories)
        self._log = _log_estimates(indices, codes, V + 1, V, class_counts, m, prior)  # the last: never seen

    def log(self, values: np.ndarray) -> np.ndarray:
        """Return (n, c) logarithms of the probabilities of ``values`` (n,)."""
        indices = np.searchsorted(self.categories, values)
        indices[indices == len(self.categories)] = 0
        return self._log[np.where(self.categories[indices] == values, indices, len(self.categories))]


class Bins:
    """m-estimates of equal intervals of one attribute in each class."""

    def __init__(self, values, codes: np.ndarray, class_counts: np.ndarray, m: float, prior: str, bins: int):
        self.edges = np.linspace(values.min(), values.max(), bins + 1)[1:-1]
        self._log = _log_estimates(self._intervals(values), codes, bins, bins, class_counts, m, prior)

    def log(self, values: np.ndarray) -> np.ndarray:
        """Return (n, c) logarithms of the probabilities of the intervals that ``values`` (n,) are in."""
        return self._log[self._intervals(values)]

    def _intervals(self, values: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.edges, values, side="right")


class Gaussians:
    """One Gaussian for each class; ``whole`` is the standard deviation where a class has none."""

    def __init__(self, of_class: Sequence[np.ndarray], whole: float):
        self.means = np.array([values.mean() for values in of_class])
        self.sds = np.array([_sd(values) or whole for values in of_class])

    def log(self, values: np.ndarray) -> np.ndarray:
        """Return (n, c) logarithms of the densities at ``values`` (n,)."""
        return _log_gaussian((values[:, None] - self.means) / self.sds, self.sds)


class KernelDensity:
    """Gaussian kernel density estimates from the training values of each class."""

    def __init__(self, of_class: Sequence[np.ndarray], whole: float, bandwidth: str | float):
        self.centres, self.widths = [], []
        for values in of_class:
            width = bandwidth
            if bandwidth == "normal-reference":
                width = 1.06 * (_sd(values) or whole) * len(values) ** -0.2
            self.widths.append(float(width))
            self.centres.append(np.unique(values, return_counts=True))

    def log(self, values: np.ndarray) -> np.ndarray:
        """Return (n, c) logarithms of the densities at ``values`` (n,)."""
        out = np.empty((len(values), len(self.centres)))
        for column, ((centres, counts), width) in enumerate(zip(self.centres, self.widths, strict=True)):
            block = max(1, _BLOCK // len(centres))
            shares = counts / counts.sum()
            for start in range(0, len(values), block):
                part = values[start : start + block, None]
                bells = _log_gaussian((part - centres) / width, width)
                out[start : start + block, column] = logsumexp(bells, b=shares, axis=1)
        return out


def m_estimate(counts, total, m: float, prior):
    """Return ``(counts + m prior) / (total + m)``: fractions, shrunk towards ``prior`` by m examples."""
    return (counts + m * prior) / (total + m)


def _log_estimates(
    indices: np.ndarray, codes: np.ndarray, rows: int, V: int, class_counts: np.ndarray, m: float, prior: str
) -> np.ndarray:
    """Return (rows, c) logarithms of m-estimates, of training examples with places (m,) below V and codes
    (m,).
    """
    counts = np.zeros((rows, len(class_counts)))
    np.add.at(counts, (indices, codes), 1)
    before = np.full(rows, 1 / V)
    if prior == "frequency":
        shares = counts.sum(axis=1) / len(codes)
        before = np.where(shares > 0, shares, before)
    with np.errstate(divide="ignore"):
        logs = np.log(m_estimate(counts, class_counts, m, before[:, None]))
    return np.where(np.isneginf(logs).all(axis=1, keepdims=True), 0.0, logs)


def _safe_factors(X: np.ndarray) -> np.ndarray:
    """Return a factor (d,) for each column of X (m, d), which keeps squares in the range of double precision.

    It is 1, or a power of two where all values of the column are very small or one is very large. A factor
    changes the densities of all classes alike.
    """
    largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    outside = (largest > 0) & ((largest > LARGEST_VALUE) | (largest < 1 / LARGEST_VALUE))
    exponents = np.where(outside, np.frexp(largest)[1], 0)
    return np.ldexp(1.0, np.clip(-exponents, -1000, 1000))


def _log_gaussian(standardised: np.ndarray, width) -> np.ndarray:
    with np.errstate(over="ignore"):  # so far away that the density is 0
        return -0.5 * standardised**2 - np.log(width) - 0.5 * math.log(2 * math.pi)


def _sd(values: np.ndarray) -> float:
    """Return the standard deviation with divisor n - 1; 0 where it is not defined or all values are equal."""
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    return float(values.std(ddof=1))
