"""Posterior of adaptive Bayesian k-NN over a metric M = Q Lambda Q^T, k and beta, by Markov chains."""

from dataclasses import dataclass

import numpy as np

from confml.measures.chains import ChainDiagnostics
from confml.methods.bayes_knn import _kernels_adaptive as kernels
from confml.methods.bayes_knn._kernels_mcmc import propose_k_beta
from confml.methods.bayes_knn.posterior import (
    Sampler,
    Summary,
    Training,
    WritableArrays,
    acceptance_rates,
)
from confml.neighbours.checks import check_arrays, check_range, check_width

BLOCK = 250  # steps between two checks for an interrupt: about a quarter of a second on vehicle
PAPER_SCALE_STEP, PAPER_ANGLE_STEP = 0.2, 0.1  # section 4.2: N(0, 0.2^2) on Lambda, N(0, 0.1^2) on S


@dataclass(frozen=True, eq=False)
class Draws(WritableArrays):
    """Kept states of one chain.

    ks, betas, log_densities: (s,). shares: (s, d), fraction of the trace of M by feature. transforms:
    (s, d, d), where M = transform transform^T.
    """

    ks: np.ndarray
    betas: np.ndarray
    log_densities: np.ndarray
    shares: np.ndarray
    transforms: np.ndarray

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        forms = {"betas": "f8 s", "log_densities": "f8 s", "shares": "f8 s d", "transforms": "f8 s d d"}
        check_arrays(vars(self), ks="i8 s", **forms)


@dataclass(frozen=True, eq=False)
class MetricPosterior:
    """Posterior of the adaptive model, as draws of several chains."""

    training: Training
    depth: int
    by_chain: tuple[Draws, ...]
    diagnostics: ChainDiagnostics | None = None

    @property
    def k_masses(self) -> np.ndarray:
        """Posterior probabilities of k (K,)."""
        ks = np.concatenate([draws.ks for draws in self.by_chain])
        return np.bincount(ks, minlength=self.depth + 1)[1:] / len(ks)

    @property
    def beta_mean(self) -> float:
        return float(np.mean([draws.betas.mean() for draws in self.by_chain]))

    @property
    def attribute_shares(self) -> np.ndarray:
        """Posterior mean of diag(M) / trace(M) (d,)."""
        return np.mean([draws.shares.mean(axis=0) for draws in self.by_chain], axis=0)

    @property
    def most_probable(self) -> tuple[int, float]:
        """The pair (k, beta) of the kept state with the largest posterior density."""
        best = self.at_most_probable().by_chain[0]
        return int(best.ks[0]), float(best.betas[0])

    def at_most_probable(self) -> "MetricPosterior":
        """Return the posterior with all its mass on the kept state with the largest posterior density."""
        draws = max(self.by_chain, key=lambda one: one.log_densities.max())
        row = slice(best := int(np.argmax(draws.log_densities)), best + 1)
        one = Draws(
            draws.ks[row],
            draws.betas[row],
            draws.log_densities[row],
            draws.shares[row],
            draws.transforms[row],
        )
        return MetricPosterior(self.training, self.depth, (one,))

    def summary(self, X: np.ndarray) -> Summary:
        """Return the predictions of test examples (m, d)."""
        means, variances, envelopes, _ = self._by_chain(X, np.inf)
        mean = means.mean(axis=0)
        sd = np.sqrt(variances.mean(axis=0) + ((means - mean) ** 2).mean(axis=0))
        error = means.std(axis=0, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else None
        return Summary(mean, sd, envelopes.mean(axis=0), error)

    def exceedance(self, X: np.ndarray, threshold: float) -> np.ndarray:
        """Return the posterior probability (m, c) that a class probability exceeds ``threshold``."""
        return self._by_chain(X, threshold)[3].mean(axis=0)

    def _by_chain(self, X: np.ndarray, threshold: float) -> list[np.ndarray]:
        """Return the arrays (chains, m, c) of `predict_from_metrics`."""
        training = self.training
        queries = np.ascontiguousarray(training.queries(X).T)
        for draws in self.by_chain:
            check_width(X, draws.transforms.shape[1])
            check_range("ks", draws.ks, 1, len(training) + 1)
        check_width(X, len(training.columns))
        parts = [
            kernels.predict_from_metrics(
                training.columns, training.codes, training.classes, queries, draws.ks, draws.betas,
                draws.transforms, training.by_index, float(threshold),
            )
            for draws in self.by_chain
        ]  # fmt: skip
        return [np.stack(part) for part in zip(*parts, strict=True)]


def sample_metrics(training: Training, depth: int, beta_scale: float, sampler: Sampler) -> MetricPosterior:
    """Sample the posterior of the adaptive model by Metropolis-Hastings.

    Improved sampler: the priors of the lambdas are independent Exp(1), and Q is uniform. k-NN depends on M up
    to a factor only, so this is a uniform distribution of the lambdas on the simplex. A move rotates Q in one
    plane and changes one log lambda, with a step tuned during burn-in; (k, beta) has moves of its own. The
    paper's sampler has flat priors on Lambda and S and proposes all parameters at once with fixed steps.
    """
    run = _improved_chain if sampler.improved else _paper_chain
    results = sampler.run(lambda rng: run(training, depth, beta_scale, sampler, rng))
    by_chain = tuple(draws for draws, _ in results)
    traces = {
        "k": np.stack([draws.ks for draws in by_chain]).astype(np.float64),
        "beta": np.stack([draws.betas for draws in by_chain]),
        "log posterior": np.stack([draws.log_densities for draws in by_chain]),
    }
    for attribute in range(training.X.shape[1]):
        traces[f"metric share of attribute {attribute}"] = np.stack(
            [draws.shares[:, attribute] for draws in by_chain]
        )
    moves = ("metric", "small", "jump") if sampler.improved else ("joint",)
    rates = acceptance_rates(moves, [counts for _, counts in results])
    diagnostics = ChainDiagnostics.of(traces, rates, rare=("jump",))
    return MetricPosterior(training, depth, by_chain, diagnostics)


def _improved_chain(training: Training, depth: int, beta_scale: float, sampler: Sampler, rng):
    n, d = training.X.shape
    k, beta = sampler.start(rng, depth, beta_scale)
    numbers = np.array([k, beta, 0.0, 0.1, 1.0, 0.0])
    rotation = _random_rotation(d, rng)
    logs = np.log(rng.exponential(size=d))
    state = numbers, rotation, logs, np.empty((2, n, training.classes)), np.empty((2, n))
    distances = np.empty((n, n)), np.empty((n, n))
    kept, transforms = np.empty((sampler.samples, 3 + d)), np.empty((sampler.samples, d, d))
    accepted = np.zeros((3, 2), dtype=np.int64)
    rows, output = (training.columns, training.codes, training.by_index), (kept, transforms, accepted)
    for first in range(0, sampler.steps, BLOCK):
        steps = min(BLOCK, sampler.steps - first)
        random = rng.random((steps, 8)), rng.standard_normal((steps, 3))
        distances = kernels.run_adaptive_chain(
            rows, depth, beta_scale, sampler.burn_in, sampler.thin, state, distances, random, output
        )
    draws = Draws(kept[:, 0].astype(np.int64), kept[:, 1].copy(), kept[:, 2].copy(), kept[:, 3:], transforms)
    return draws, accepted


def _paper_chain(training: Training, depth: int, beta_scale: float, sampler: Sampler, rng):
    from scipy.linalg import expm

    n, d = training.X.shape
    k, beta = sampler.start(rng, depth, beta_scale)
    scales, angles = np.ones(d), np.zeros((d, d))
    upper = np.triu_indices(d, 1)
    z, distances = np.empty((d, n)), np.empty((n, n))
    warm, kth, counts = np.full(n, np.inf), np.empty(n), np.empty((n, training.classes))
    samples = sampler.samples
    ks, betas, densities = np.empty(samples, dtype=np.int64), np.empty(samples), np.empty(samples)
    shares, transforms = np.empty((samples, d)), np.empty((samples, d, d))
    accepted = np.zeros((1, 2), dtype=np.int64)

    def density(transform, k, beta):
        likelihood = kernels.metric_log_likelihood(
            training.columns, transform, k, beta, training.codes, training.by_index, z, distances, warm,
            counts, kth,
        )  # fmt: skip
        return likelihood - 0.5 * (beta / beta_scale) ** 2

    transform = np.eye(d)
    height = density(transform, k, beta)
    warm[:] = kth
    for done in range(1, sampler.steps + 1):
        new_scales = scales + rng.normal(0.0, PAPER_SCALE_STEP, d)
        new_angles = angles.copy()
        turn = rng.normal(0.0, PAPER_ANGLE_STEP, len(upper[0]))
        new_angles[upper] += turn
        new_angles.T[upper] -= turn
        uniforms, normals = rng.random(3), rng.standard_normal(1)
        new_k, new_beta, _, _ = propose_k_beta(k, beta, depth, False, 0.0, 1.0, uniforms, normals)
        taken = False
        if new_scales.min() > 0.0:  # otherwise M' is not a metric and has prior density 0
            new_transform = np.ascontiguousarray(expm(new_angles) * np.sqrt(new_scales))
            proposed = density(new_transform, new_k, new_beta)
            taken = uniforms[2] < np.exp(min(0.0, proposed - height))
        if taken:
            scales, angles, k, beta = new_scales, new_angles, new_k, new_beta
            transform, height = new_transform, proposed
            warm[:] = kth
        behind = done - sampler.burn_in
        if behind > 0:
            accepted[0] += taken, 1
            if behind % sampler.thin == 0:
                place = behind // sampler.thin - 1
                ks[place], betas[place], densities[place] = k, beta, height
                diagonal = (transform**2).sum(axis=1)
                shares[place], transforms[place] = diagonal / diagonal.sum(), transform
    return Draws(ks, betas, densities, shares, transforms), accepted


def _random_rotation(d: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random orthogonal matrix (d, d); the metric does not depend on the signs of its columns."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return np.ascontiguousarray(q * np.where(np.diag(r) < 0.0, -1.0, 1.0))
