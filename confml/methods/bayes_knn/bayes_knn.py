"""`bayes-knn`: Bayesian k-nearest neighbours with reject, envelope and posterior confidence.

Krzanowski, Bailey, Partridge, Fieldsend, Everson and Schetinin, "Confidence in classification: a Bayesian
approach", Journal of Classification 23 (2006), after Holmes and Adams (2002). Let a_ij be the number of the k
nearest neighbours of example i in class j (section 3.3 of the paper)::

    L(D | beta, k)        = prod_i exp(beta a_{i, y_i} / k) / sum_j exp(beta a_ij / k)
    p(y = j | x, beta, k) = exp(beta a_j / k) / sum_i exp(beta a_i / k)

The prior of k is uniform on 1 .. min(n - 1, k_max), that of beta is half-normal. The simple model has beta =
1. The standard model has k and beta. The adaptive model also has a metric (x - z)^T M (x - z), M = Q Lambda
Q^T.
"""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from confml.errors import ConfmlError
from confml.measures.chains import ChainDiagnostics
from confml.measures.metric import Metric
from confml.measures.posterior import Summary, posterior_views
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.methods.bayes_knn.adaptive import MetricPosterior, sample_metrics
from confml.methods.bayes_knn.posterior import NodePosterior, Sampler, Training, integrate, sample
from confml.methods.details import ChainSummary, FitDetails
from confml.plugins.parameters import SEED, Choice, Integer, Number, or_null

SIMPLE_BETA = 1.0


@dataclass(eq=False, repr=False)
class BayesKNN(Method):
    """Bayesian k-nearest neighbours with three kinds of confidence.

    View ``reject``: posterior mean of the class probabilities. View ``envelope``: posterior probability that
    the class has the most neighbours. View ``posterior``: posterior mean and standard deviation ``sd``; a
    prediction is accepted if mean - c sd exceeds 1/2. With ``exceeding`` there is a fourth view,
    ``exceedance``.

    Notes
    -----
    The simple and the standard model are integrated exactly unless ``inference`` is ``mcmc``. The sum is over
    k, and the integral over beta is a Gauss-Legendre quadrature, without random numbers. The error is at most
    1e-11 for means and standard deviations and 1e-7 for exceedances. It was measured against adaptive
    integration for ``beta_scale`` from 1 to 10,000, for separable and overlapping classes. The adaptive model
    needs Markov chains and takes minutes where the others take milliseconds. Features should be on one scale
    (``steps: [standardise]``).

    Fitted attributes: ``classes_``; ``k_posterior_`` (K,); ``log_evidence_`` (None with chains); ``map_``,
    the most probable (k, beta); ``diagnostics_`` (`ChainDiagnostics`, None without chains).
    """

    name = "bayes-knn"
    example = "k_max=3"
    version = 4
    views = ("reject", "envelope", "posterior")
    metrics = {
        "k_mean": Metric("posterior mean of k", None),
        "k_map": Metric("k of the most probable pair of k and beta", None),
        "beta_mean": Metric("posterior mean of beta", None),
        "beta_map": Metric("beta of the most probable pair of k and beta", None),
        "rhat": Metric("largest split R-hat: 1 where chains agree", "lower"),
        "ess": Metric("smallest effective sample size of the chains", "higher"),
        "acceptance_small": Metric("acceptance rate of small steps of k and beta", None),
        "acceptance_jump": Metric("acceptance rate of jumps of k and beta", None),
        "acceptance_metric": Metric("acceptance rate of moves of the metric", None),
        "acceptance_joint": Metric("acceptance rate of joint moves of k, beta and the metric", None),
    }
    parameters = {
        "model": Choice(
            "unknown: k (simple, beta = 1), k and beta (standard), or k, beta and a metric (adaptive)",
            ("simple", "standard", "adaptive"),
        ),
        "inference": Choice(
            "exact: integration (simple and standard model); mcmc: Markov chains; auto: exact if possible",
            ("auto", "exact", "mcmc"),
        ),
        "k_max": Integer("largest k; the prior of k is uniform on 1 .. min(n - 1, k_max)", 1),
        "beta_scale": Number("scale of the half-normal prior of beta", 0.0, 1e6, low_open=True),
        "ties": Choice(
            "equal distances: they share their ranks, or earlier rows first", ("average", "index")
        ),
        "estimate": Choice(
            "mean over the posterior, or its most probable parameters only", ("average", "map")
        ),
        "exceeding": or_null(
            "threshold t of the view exceedance, the posterior probability that p(y | x, parameters) > t",
            Number("", 0.0, 1.0, high_open=True),
        ),
        "chains": Integer("number of chains", 1),
        "proposal": Choice("proposal of the chains; the paper's mixes slowly", ("improved", "paper")),
        "burn_in": Integer("number of burn-in steps per chain", 0),
        "samples": or_null("number of states kept per chain; null: 10000, adaptive 1000", Integer("", 1)),
        "thin": or_null("number of steps per kept state; null: 7, adaptive 70", Integer("", 1)),
        "start_k": or_null("k at which each chain starts; null: drawn from the prior", Integer("", 1)),
        "random_state": SEED,
    }

    model: str = "standard"
    inference: str = "auto"
    k_max: int = 200
    beta_scale: float = 10.0
    ties: str = "average"
    estimate: str = "average"
    exceeding: Any = None
    chains: int = 4
    proposal: str = "improved"
    burn_in: int = 10_000
    samples: Any = None
    thin: Any = None
    start_k: Any = None
    random_state: Any = None

    def fit(self, X, y) -> Self:
        """Fit to training examples X (n, d) with labels y (n,). Warns if chains have not converged.

        Raises ConfmlError for a wrong parameter or exact inference of the adaptive model,
        and ValueError if the data are not finite numbers.
        """
        X, codes = self.check_fit_data(X, y)
        if self.inference == "exact" and self.model == "adaptive":
            raise ConfmlError("the adaptive model has no exact inference", hint="use inference: mcmc or auto")
        self.posterior_: NodePosterior | MetricPosterior | None = None
        if len(self.classes_) > 1:
            training = Training(X, codes, len(self.classes_), self.ties == "index")
            self.posterior_ = self._posterior(training)
        for text in self.diagnostics_.warnings() if self.diagnostics_ else ():
            warnings.warn(f"{self.name} ({self.model}): {text}", ConvergenceWarning, stacklevel=2)
        return self

    def _posterior(self, training: Training) -> NodePosterior | MetricPosterior:
        depth = min(len(training) - 1, int(self.k_max))
        scale = float(self.beta_scale)
        if self.model == "adaptive":
            return sample_metrics(training, depth, scale, self._sampler(1_000, 70))
        fixed = SIMPLE_BETA if self.model == "simple" else None
        if self.inference == "mcmc":
            return sample(training, depth, scale, fixed, self._sampler(10_000, 7))
        return integrate(training, depth, scale, fixed)

    def _sampler(self, samples: int, thin: int) -> Sampler:
        return Sampler(
            chains=self.chains,
            burn_in=self.burn_in,
            samples=samples if self.samples is None else self.samples,
            thin=thin if self.thin is None else self.thin,
            improved=self.proposal == "improved",
            start_k=self.start_k,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the views ``reject``, ``envelope`` and ``posterior`` of the test examples X (m, d).

        ``posterior`` has ``sd`` (m, c). With chains, ``posterior`` and ``reject`` have ``standard_error``
        (m, c), the Monte Carlo error of the mean. With ``exceeding`` = t there is also ``exceedance``, the
        posterior probability that p(y | x, parameters) exceeds t, which need not sum to 1 over the classes;
        ties go to the class with the largest mean.
        """
        summary = self._summary(X)
        if self.exceeding is not None:
            summary = summary._replace(exceedance=self.exceedance(X, self.exceeding))
        return posterior_views(self.classes_, summary)

    def predict_proba(self, X) -> np.ndarray:
        """Return the posterior mean of the class probabilities (m, c), the scores of ``reject``."""
        return self._summary(X).mean

    def exceedance(self, X, threshold: float) -> np.ndarray:
        """Return the posterior probability that p(y = j | x, parameters) exceeds a threshold.

        In section 3.2 of the paper a prediction is certain if it exceeds a second threshold s for one class.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Test examples.
        threshold : float
            Threshold of the probability, from 0 to 1.

        Returns
        -------
        ndarray of shape (n, c)
            Probabilities, in the order of ``classes_``.
        """
        X = self.check_predict_data(X)
        posterior = self._used_posterior()
        if posterior is None:
            return np.full((len(X), 1), float(threshold < 1.0))
        return posterior.exceedance(X, float(threshold))

    def _summary(self, X) -> Summary:
        X = self.check_predict_data(X)
        posterior = self._used_posterior()
        if posterior is None:
            certain = np.ones((len(X), 1))
            return Summary(certain, np.zeros_like(certain), certain)
        return posterior.summary(X)

    def _used_posterior(self) -> NodePosterior | MetricPosterior | None:
        """Return the posterior that predictions use; None with one class."""
        if self.posterior_ is not None and self.estimate == "map":
            return self.posterior_.at_most_probable()
        return self.posterior_

    # ---- fitted attributes

    @property
    def k_posterior_(self) -> np.ndarray:
        """Posterior probabilities of k = 1, 2, ..., K (K,); empty with one class."""
        return np.empty(0) if self.posterior_ is None else self.posterior_.k_masses

    @property
    def log_evidence_(self) -> np.ndarray | None:
        """Log evidence log p(D | k) (K,), -inf if negligible; None with chains."""
        return getattr(self.posterior_, "log_evidence", None)

    @property
    def map_(self) -> tuple[int, float] | None:
        """The pair (k, beta) with the largest posterior density; None with one class."""
        return None if self.posterior_ is None else self.posterior_.most_probable

    @property
    def diagnostics_(self) -> ChainDiagnostics | None:
        """Traces, R-hat, effective sample sizes and acceptance rates of the chains; None without chains."""
        return getattr(self.posterior_, "diagnostics", None)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """Metrics of the fit: ``k_mean``, ``k_map``, ``beta_mean``, ``beta_map``.

        With chains also the largest ``rhat``, the smallest ``ess`` and ``acceptance_<move>``.
        """
        posterior: NodePosterior | MetricPosterior | None = getattr(self, "posterior_", None)
        if posterior is None:
            return {}
        k, beta = posterior.most_probable
        k_mean = float(posterior.k_masses @ np.arange(1, len(posterior.k_masses) + 1))
        metrics = {"k_mean": k_mean, "k_map": float(k), "beta_mean": posterior.beta_mean, "beta_map": beta}
        if self.diagnostics_ is not None:
            metrics["rhat"], metrics["ess"] = self.diagnostics_.worst_rhat, self.diagnostics_.least_ess
            for move, rates in self.diagnostics_.acceptance.items():
                metrics[f"acceptance_{move}"] = float(np.mean(rates))
        return metrics

    @property
    def fit_details_(self) -> FitDetails:
        """Traces of k, beta and the log posterior and the warnings of the chains, if there are chains."""
        if self.diagnostics_ is None:
            return FitDetails()
        summary = self.diagnostics_.summary(("k", "beta", "log posterior"))
        return FitDetails(chains=ChainSummary(**summary))
