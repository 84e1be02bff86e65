"""Bayesian k-nearest neighbours: reject, envelope and posterior confidence out of one posterior.

Krzanowski, Bailey, Partridge, Fieldsend, Everson and Schetinin, "Confidence in classification: a Bayesian
approach", Journal of Classification 23 (2006), after Holmes and Adams (2002). With a_ij the number of the k
nearest neighbours of example i in class j (section 3.3 of the paper)::

    L(D | beta, k)        = prod_i exp(beta a_{i, y_i} / k) / sum_j exp(beta a_ij / k)
    p(y = j | x, beta, k) = exp(beta a_j / k) / sum_i exp(beta a_i / k)

k is uniform on 1 .. min(n - 1, k_max), beta half-normal. The simple model has beta = 1, the standard one
both, and the adaptive one a metric (x - z)^T M (x - z) besides, M = Q Lambda Q^T.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from confml.errors import ConfmlError
from confml.measures.chains import ChainDiagnostics
from confml.measures.metrics import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.methods.bayes_knn.adaptive import MetricPosterior, sample_metrics
from confml.methods.bayes_knn.posterior import NodePosterior, Sampler, Summary, Training, integrate, sample
from confml.methods.details import ChainSummary, FitDetails
from confml.plugins.parameters import AnyOf, Choice, Integer, Nothing, Number, Parameter

SIMPLE_BETA = 1.0


class BayesKNN(Method):
    """Bayesian k-NN with three views of confidence.

    ``reject``: posterior mean of the class probabilities. ``envelope``: posterior probability that a class
    has most neighbours. ``posterior``: mean and ``sd``; sure where mean - c sd exceeds a half. With
    ``exceeding``, a fourth: ``exceedance``.

    The simple and the standard model are integrated (k is summed, beta integrated by Gauss-Legendre
    quadrature; nothing is random) unless ``inference`` is ``mcmc``. Against adaptive integration, for
    ``beta_scale`` 1 to 10,000 and for separable and overlapping classes, means and standard deviations are
    right to 1e-11 and exceedances to 1e-7. The adaptive model needs chains: minutes where the others take
    milliseconds. Features should be on one scale (``steps: [standardise]``); the method does not change them.

    Fitted attributes: ``classes_``; ``k_posterior_`` (K,); ``log_evidence_`` (exact inference, else None);
    ``map_`` the most probable (k, beta); ``diagnostics_`` (`ChainDiagnostics` of chains, else None).
    """

    name = "bayes-knn"
    version = 2
    views: ClassVar[tuple[str, ...]] = ("reject", "envelope", "posterior")
    metrics: ClassVar[Mapping[str, Metric]] = {
        "k_mean": Metric("posterior mean of k", None),
        "k_map": Metric("k of the most probable pair of k and beta", None),
        "beta_mean": Metric("posterior mean of beta", None),
        "beta_map": Metric("beta of the most probable pair of k and beta", None),
        "rhat": Metric("largest split R-hat: 1 where chains agree", "lower"),
        "ess": Metric("smallest effective sample size of the chains", "higher"),
        "acceptance_small": Metric("share of proposed small steps of k and beta that were accepted", None),
        "acceptance_jump": Metric("share of proposed jumps of k and beta that were accepted", None),
        "acceptance_metric": Metric("share of proposed moves of the metric that were accepted", None),
        "acceptance_joint": Metric("share of proposed moves of k, beta and metric that were accepted", None),
    }
    parameters: ClassVar[dict[str, Parameter]] = {
        "model": Choice(
            "simple: beta = 1, k is learnt; standard: k and beta; adaptive: k, beta and the metric",
            ("simple", "standard", "adaptive"),
        ),
        "inference": Choice(
            "exact: integration (simple and standard); mcmc: Markov chains; auto: exact where there is",
            ("auto", "exact", "mcmc"),
        ),
        "k_max": Integer("k is uniform on 1 .. min(n - 1, k_max)", 1),
        "beta_scale": Number("scale of the half-normal prior of beta", 0.0, 1e6, low_open=True),
        "ties": Choice(
            "equally near neighbours: average shares their places, index takes earlier rows first",
            ("average", "index"),
        ),
        "estimate": Choice(
            "average: over the posterior; map: the most probable k, beta and metric alone", ("average", "map")
        ),
        "exceeding": AnyOf(
            "t of a fourth view, exceedance: the posterior probability that p(y | x, parameters) > t",
            (Number("", 0.0, 1.0, high_open=True), Nothing("")),
        ),
        "chains": Integer("number of chains", 1),
        "proposal": Choice(
            "of the chains: improved, or the paper's small steps (slow to mix: see the warnings)",
            ("improved", "paper"),
        ),
        "burn_in": Integer("steps of each chain before any is kept", 0),
        "samples": AnyOf(
            "states kept of each chain; null: 10000, or 1000 of the adaptive model",
            (Integer("", 1), Nothing("")),
        ),
        "thin": AnyOf(
            "steps from one kept state to the next; null: 7, or 70 with the adaptive model",
            (Integer("", 1), Nothing("")),
        ),
        "start_k": AnyOf(
            "k at which every chain starts; null: drawn from the prior", (Integer("", 1), Nothing(""))
        ),
        "n_jobs": AnyOf(
            "threads for the chains, -1: all; the results are the same",
            (Integer("", 1), Integer("", None, -1), Nothing("")),
        ),
        "random_state": AnyOf(
            "seed of the chains; null: another one each time", (Integer("", 0, 2**32 - 1), Nothing(""))
        ),
    }

    def __init__(
        self,
        model="standard",
        inference="auto",
        k_max=200,
        beta_scale=10.0,
        ties="average",
        estimate="average",
        exceeding=None,
        chains=4,
        proposal="improved",
        burn_in=10_000,
        samples=None,
        thin=None,
        start_k=None,
        n_jobs=1,
        random_state=None,
    ):
        self.model = model
        self.inference = inference
        self.k_max = k_max
        self.beta_scale = beta_scale
        self.ties = ties
        self.estimate = estimate
        self.exceeding = exceeding
        self.chains = chains
        self.proposal = proposal
        self.burn_in = burn_in
        self.samples = samples
        self.thin = thin
        self.start_k = start_k
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y) -> BayesKNN:
        """Learn from X (n, d) and labels y (n,). Warns in words where chains have not converged.

        Raises ConfmlError for a wrong parameter or exact inference of the adaptive model, and ValueError for
        data that are not finite numbers.
        """
        X, codes = self.check_fit_data(X, y)
        if self.inference == "exact" and self.model == "adaptive":
            raise ConfmlError(
                "the adaptive model has no exact inference", hint="set inference to mcmc or auto"
            )
        self.posterior_ = None
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
            n_jobs=self.n_jobs,
        )

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The views ``reject``, ``envelope`` and ``posterior`` of the test examples X (m, d).

        The posterior carries ``sd`` (m, c), and with chains ``standard_error`` (m, c), the Monte Carlo error
        of the mean; so does reject. With ``exceeding`` = t there is ``exceedance`` besides: the posterior
        probability that p(y | x, parameters) exceeds t; equals go to the class that reject prefers.
        """
        found = self._summary(X)
        error = {} if found.error is None else {"standard_error": found.error}
        views = {
            "reject": Prediction(self.classes_, found.mean, "probability", extra=error),
            "envelope": Prediction(self.classes_, found.envelope, "envelope"),
            "posterior": Prediction(self.classes_, found.mean, "posterior", extra={"sd": found.sd} | error),
        }
        if self.exceeding is not None:
            scores = self.exceedance(X, self.exceeding)
            largest = scores >= scores.max(axis=1, keepdims=True, initial=0.0) - 1e-12
            labels = self.classes_[np.argmax(np.where(largest, found.mean, -1.0), axis=1)]
            views["exceedance"] = Prediction(self.classes_, scores, "vote", labels)
        return views

    def predict_proba(self, X) -> np.ndarray:
        """(m, c) the scores of ``reject``."""
        return self._summary(X).mean

    def exceedance(self, X, threshold: float) -> np.ndarray:
        """(m, c) posterior probability that p(y = j | x, parameters) is above ``threshold``.

        Section 3.2 of the paper: an example is sure if it is above a second threshold s for one class.
        """
        X = self.check_predict_data(X)
        if self.posterior_ is None:
            return np.full((len(X), 1), float(threshold < 1.0))
        return self._used_posterior().exceedance(X, float(threshold))

    def _summary(self, X) -> Summary:
        X = self.check_predict_data(X)
        if self.posterior_ is None:
            certain = np.ones((len(X), 1))
            return Summary(certain, np.zeros_like(certain), certain)
        return self._used_posterior().summary(X)

    def _used_posterior(self) -> NodePosterior | MetricPosterior:
        return self.posterior_.at_most_probable() if self.estimate == "map" else self.posterior_

    # ---- what the fit found

    @property
    def k_posterior_(self) -> np.ndarray:
        """(K,) posterior probabilities of k = 1, 2, ..., K; empty where there is one class only."""
        return np.empty(0) if self.posterior_ is None else self.posterior_.k_masses

    @property
    def log_evidence_(self) -> np.ndarray | None:
        """(K,) log p(D | k), -inf where it is negligible; None after chains."""
        return getattr(self.posterior_, "log_evidence", None)

    @property
    def map_(self) -> tuple[int, float] | None:
        """The most probable (k, beta): of the largest posterior density."""
        return None if self.posterior_ is None else self.posterior_.most_probable

    @property
    def diagnostics_(self) -> ChainDiagnostics | None:
        """Traces, R-hat, effective sample sizes and acceptance rates of the chains; None without chains."""
        return getattr(self.posterior_, "diagnostics", None)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``k_mean``, ``k_map``, ``beta_mean``, ``beta_map``; with chains ``rhat`` (the worst), ``ess`` (the
        least) and ``acceptance_<move>``."""
        if getattr(self, "posterior_", None) is None:
            return {}
        k, beta = self.posterior_.most_probable
        masses = self.posterior_.k_masses
        found = {
            "k_mean": float(masses @ np.arange(1, len(masses) + 1)),
            "k_map": float(k),
            "beta_mean": self.posterior_.beta_mean,
            "beta_map": beta,
        }
        if self.diagnostics_ is not None:
            found["rhat"], found["ess"] = self.diagnostics_.worst_rhat, self.diagnostics_.least_ess
            for move, rates in self.diagnostics_.acceptance.items():
                found[f"acceptance_{move}"] = float(np.mean(rates))
        return found

    @property
    def fit_details_(self) -> FitDetails:
        """The Markov chains, where there are any: traces of k, beta and the log posterior, and warnings."""
        if self.diagnostics_ is None:
            return FitDetails()
        summary = self.diagnostics_.summary(("k", "beta", "log posterior"))
        return FitDetails(chains=ChainSummary.from_dict(summary))

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernels, by running them once on a few rows."""
        X, y = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 1, 2, 0, 1, 2])
        quick = {"burn_in": 2, "samples": 4, "thin": 1, "chains": 2, "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for settings in ({}, {"inference": "mcmc", **quick}, {"model": "adaptive", **quick}):
                cls(**settings).fit(X, y).confident_predict(X)
