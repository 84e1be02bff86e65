"""`bayes-discriminant`: Geisser's Bayesian discriminant analysis, linear and quadratic.

Geisser, "Posterior odds for multivariate normal classifications", Journal of the Royal Statistical Society
B 26 (1964). A class is normal with mean m and covariance S, with the reference prior
p(m, S) ~ |S|^(-(d + 1) / 2). For a class of n examples with mean m^ and scatter matrix A, the posterior is
S ~ inverse Wishart(n - 1, A) and m | S ~ N(m^, S / n), and a new example has a multivariate t distribution in
closed form, with v = n - 1::

    x ~ t_(v - d + 1)(m^, (1 + 1/n) A / (v - d + 1))

The linear discriminant has one covariance: A is the sum of the scatter matrices, and v = n - c for n examples
of c classes. The class frequencies have a uniform Dirichlet prior.
"""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln, softmax

from confml.errors import ConfmlError
from confml.measures.metric import Metric
from confml.measures.posterior import (
    DRAW_METRICS,
    EXCEEDING,
    VIEWS,
    Summary,
    draw_metrics,
    few_draws,
    posterior_views,
)
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.plugins.parameters import SEED, Choice, Flag, Integer, Number, or_null

_SINGULAR = 1e-10  # smallest eigenvalue of a scatter matrix, relative to the variances of the features


@dataclass(eq=False, repr=False)
class BayesDiscriminant(Method):
    """Bayesian discriminant analysis (Geisser 1964): normal classes with unknown means and covariances.

    View ``reject``: predictive class probabilities in closed form (multivariate t distributions). View
    ``envelope``: share of ``draws`` from the posterior of frequencies, means and covariances in which the
    class is the most probable one. View ``posterior``: mean and standard deviation of the draws. View
    ``exceedance``: share of the draws whose class probability exceeds ``exceeding``.

    Notes
    -----
    The closed form averages the densities of the classes over the posterior, and the mean of ``posterior``
    averages the class probabilities. They differ where an example is far from every class, because the
    example itself is evidence on the parameters.

    Geisser's reference prior needs more than d independent examples in every class (``quadratic``), or d + c
    examples (``linear``). ``prior_rows`` adds examples to the scatter matrix, each with the variances of the
    features within the classes and without correlations: a conjugate prior, inverse Wishart. By default it is
    0, or d + 2 if a scatter matrix is singular. Features that are constant in the training set are ignored.

    Every share has a Monte Carlo error as ``extra["standard_error"]``; ``reject`` has none, and the three
    entropies of the draws.

    References
    ----------
    Geisser 1964; Geisser 1982; Krzanowski et al. 2006, section 2.

    Examples
    --------
    >>> from confml import BayesDiscriminant
    >>> X, y = [[0.0], [1.0], [8.0], [9.5]], ["a", "a", "b", "b"]
    >>> model = BayesDiscriminant(random_state=1).fit(X, y)
    >>> model.predict([[0.5]])
    array(['a'], dtype='<U1')
    """

    name = "bayes-discriminant"
    version = 1
    views = VIEWS
    metrics = DRAW_METRICS | {"prior_rows": Metric("number of prior examples of each covariance", None)}
    parameters = {
        "form": Choice("one covariance of all classes (linear), or of each", ("linear", "quadratic")),
        "prior_rows": or_null(
            "number of prior examples of each covariance; null: 0, Geisser's reference prior, or d + 2 if a "
            "scatter matrix is singular",
            Number("", 0.0),
        ),
        "draws": Integer("number of draws of frequencies, means and covariances", 2),
        "exceeding": Number("threshold of the view exceedance", 0.0, 1.0, high_open=True),
        "entropies": Flag("views total-entropy, expected-entropy and mutual-information too"),
        "random_state": SEED,
    }

    form: str = "linear"
    prior_rows: Any = None
    draws: int = 400
    exceeding: float = EXCEEDING
    entropies: bool = False
    random_state: Any = None

    def fit(self, X, y) -> Self:
        """Fit to training examples X (m, d) with labels y (m,). Raises ConfmlError for a wrong parameter."""
        X, codes = self.check_fit_data(X, y)
        sizes = X.max(axis=0) - X.min(axis=0)
        self.used_ = sizes > 0
        self.scale_ = sizes[self.used_]
        X = X[:, self.used_] / self.scale_
        c, d = len(self.classes_), X.shape[1]
        self.counts_ = np.bincount(codes, minlength=c)
        self.means_ = np.array([X[codes == code].mean(axis=0) for code in range(c)])
        residuals = X - self.means_[codes]
        parts = [residuals] if self.form == "linear" else [residuals[codes == code] for code in range(c)]
        free = [len(X) - c] if self.form == "linear" else self.counts_ - 1
        variances = residuals.var(axis=0)
        variances = np.where(variances > 0, variances, X.var(axis=0))
        scatters = [part.T @ part for part in parts]
        prior = self.prior_rows
        if prior is None:
            regular = zip(scatters, free, strict=True)
            prior = 0.0 if all(_is_regular(matrix, rows, variances) for matrix, rows in regular) else d + 2.0
        self.prior_ = float(prior)
        scatters = [matrix + self.prior_ * np.diag(variances) for matrix in scatters]
        self.degrees_ = np.asarray(free, dtype=np.float64) + self.prior_
        if self.degrees_.min() < d or not all(_is_regular(matrix, np.inf, variances) for matrix in scatters):
            raise ConfmlError(
                f"bayes-discriminant: prior_rows {self.prior_:g} leaves a covariance of {d} features without "
                "a posterior: there are too few examples, or features depend on each other",
                hint="leave prior_rows out, or set form: linear",
            )
        self.factors_ = np.array([np.linalg.cholesky(matrix) for matrix in scatters])
        self.seed_ = int(np.random.default_rng(self.random_state).integers(2**63))
        for text in few_draws(self.draws):
            warnings.warn(f"{self.name}: {text}", UserWarning, stacklevel=2)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the views ``reject``, ``envelope``, ``posterior`` and ``exceedance`` of X (n, d)."""
        Z, size = self._whitened(X), self.draws * len(self.classes_)
        summary = Summary.in_blocks(lambda block: self._draws(Z[block]), len(Z), size, self.exceeding)
        return posterior_views(self.classes_, summary, self._predictive(Z), self.entropies)

    def predict_proba(self, X) -> np.ndarray:
        """Return the predictive class probabilities (n, c), the scores of ``reject``."""
        return self._predictive(self._whitened(X))

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``effective_draws``, ``share_error`` and ``prior_rows``."""
        return draw_metrics(self.draws) | {"prior_rows": self.prior_}

    def _whitened(self, X) -> np.ndarray:
        """Return (n, c, u) the solutions of L z = x - mean of each class, L the factor of its scatter."""
        with np.errstate(over="ignore"):
            X = np.clip(self.check_predict_data(X)[:, self.used_] / self.scale_, -1e100, 1e100)
        factors = np.broadcast_to(self.factors_, (len(self.means_), *self.factors_.shape[1:]))
        pairs = zip(factors, self.means_, strict=True)
        return np.stack([solve_triangular(L, (X - mean).T, lower=True).T for L, mean in pairs], axis=1)

    def _predictive(self, whitened: np.ndarray) -> np.ndarray:
        """Return (n, c) the class probabilities from t densities, for `_whitened` examples (n, c, u)."""
        d = whitened.shape[2]
        free = self.degrees_ - d + 1.0
        spread = 1.0 + 1.0 / self.counts_
        logs = gammaln((free + d) / 2) - gammaln(free / 2) - 0.5 * d * np.log(spread) - self._log_determinants
        far = 0.5 * (free + d) * np.log1p((whitened**2).sum(axis=2) / spread)
        return softmax(np.log(self.counts_ + 1.0) + logs - far, axis=1)

    @property
    def _log_determinants(self) -> np.ndarray:
        """(c,) or (1,) log determinant of the factor of each scatter matrix."""
        return np.log(np.diagonal(self.factors_, axis1=1, axis2=2)).sum(axis=1)

    def _draws(self, whitened: np.ndarray) -> np.ndarray:
        """Return (s, n, c) class probabilities of draws from the posterior, by Bartlett's decomposition.

        The inverse covariance is L^-T B B^T L^-1 with a lower triangular B. The squares of its diagonal are
        chi-square, and its other entries are standard normal.
        """
        rng = np.random.default_rng(self.seed_)
        n, c, d = whitened.shape
        log_joint = np.empty((self.draws, n, c))
        below = np.tril(np.ones((d, d), dtype=bool), -1)
        for draw in log_joint:
            frequencies = rng.dirichlet(self.counts_ + 1.0)
            for number, (degrees, log_determinant) in enumerate(
                zip(self.degrees_, self._log_determinants, strict=True)
            ):
                B = np.diag(np.sqrt(rng.chisquare(degrees - np.arange(d))))
                B[below] = rng.standard_normal(below.sum())
                half = np.log(B.diagonal()).sum() - log_determinant
                for code in [number] if len(self.degrees_) > 1 else range(c):
                    shift = rng.standard_normal(d) / np.sqrt(self.counts_[code])
                    distances = ((whitened[:, code] @ B - shift) ** 2).sum(axis=1)
                    draw[:, code] = np.log(frequencies[code]) + half - 0.5 * distances
        return softmax(log_joint, axis=2)


def _is_regular(scatter: np.ndarray, rows: float, variances: np.ndarray) -> bool:
    """Return whether a scatter matrix (u, u) of ``rows`` free examples has a posterior of the covariance."""
    if rows < len(scatter):
        return False
    scale = np.sqrt(variances * max(np.trace(scatter / variances[:, None]) / max(len(scatter), 1), 1e-300))
    return not len(scatter) or bool(np.linalg.eigvalsh(scatter / np.outer(scale, scale)).min() > _SINGULAR)
