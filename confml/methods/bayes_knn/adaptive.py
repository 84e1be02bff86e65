"""Posterior of adaptive Bayesian k-NN over a metric M = Q Lambda Q^T, k and beta, by Markov chains."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from confml.measures.chains import ChainDiagnostics
from confml.methods.bayes_knn import _kernels_adaptive as kernels
from confml.methods.bayes_knn._kernels_mcmc import TARGET as BETA_TARGET
from confml.methods.bayes_knn._kernels_mcmc import propose_k_beta
from confml.methods.bayes_knn.posterior import (
    Sampler,
    Summary,
    Training,
    acceptance_rates,
)
from confml.neighbours.checks import check_arrays, check_range, check_width

BLOCK = 250  # steps whose random numbers are drawn together
TARGET = 0.25  # target acceptance rate of metric moves; burn-in tunes their step
SCALE_RATIO = 4.0  # step in log lambda divided by step in angle
K_MOVES = 0.25  # fraction of the steps that move (k, beta); the others move the metric, and then beta
K_JUMPS = 0.1  # fraction of the (k, beta) moves that draw k uniformly
SLACK = 1.1  # small moves usually change the k-th distance by a smaller factor
PAPER_SCALE_STEP, PAPER_ANGLE_STEP = 0.2, 0.1  # section 4.2: N(0, 0.2^2) on Lambda, N(0, 0.1^2) on S


@dataclass(frozen=True, eq=False)
class Draws:
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
        vars(self).update(state)
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
    def most_probable(self) -> tuple[int, float]:
        """The pair (k, beta) of the kept state with the largest posterior density."""
        best = self.at_most_probable().by_chain[0]
        return int(best.ks[0]), float(best.betas[0])

    def at_most_probable(self) -> "MetricPosterior":
        """Return the posterior with all its mass on the kept state with the largest posterior density."""
        draws = max(self.by_chain, key=lambda draws: draws.log_densities.max())
        best = int(np.argmax(draws.log_densities))
        mode = Draws(*(getattr(draws, field.name)[best : best + 1] for field in fields(Draws)))
        return MetricPosterior(self.training, self.depth, (mode,))

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
        check_width(X, training.X.shape[1])
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
    diagnostics = ChainDiagnostics(traces, rates, rare=("jump",))
    return MetricPosterior(training, depth, by_chain, diagnostics)


class _Trace:
    """The states of one chain that are kept, and how many moves of each kind were accepted after burn-in."""

    def __init__(self, sampler: Sampler, moves: int):
        self.burn_in, self.thin = sampler.burn_in, sampler.thin
        self.states: list[tuple] = []
        self.accepted = np.zeros((moves, 2), dtype=np.int64)

    def count(self, step: int, move: int, is_accepted: bool) -> None:
        if step > self.burn_in:
            self.accepted[move] += is_accepted, 1

    def keeps(self, step: int) -> bool:
        return step > self.burn_in and (step - self.burn_in) % self.thin == 0

    def add(self, k: int, beta: float, log_density: float, transform: np.ndarray) -> None:
        self.states.append((k, beta, log_density, transform))

    def draws(self, total: Callable[..., np.ndarray]) -> Draws:
        """Return the states that were kept; ``total`` sums squares and shares along an axis."""
        ks, betas, log_densities, transforms = (np.array(values) for values in zip(*self.states, strict=True))
        diagonals = total(transforms**2, axis=2)
        return Draws(ks, betas, log_densities, diagonals / total(diagonals, axis=1)[:, None], transforms)


def _total_in_order(values: np.ndarray, axis: int) -> np.ndarray:
    return np.take(np.cumsum(values, axis=axis), -1, axis=axis)


def _improved_chain(training: Training, depth: int, beta_scale: float, sampler: Sampler, rng):
    """Propose either (k, beta) by the mixture of `propose_k_beta`, or a metric and then beta alone.

    A metric move rotates Q in one random plane and changes one log lambda.
    """
    n, d = training.X.shape
    columns, codes, classes, by_index = training.columns, training.codes, training.classes, training.by_index
    k, beta = sampler.start(rng, depth, beta_scale)
    Q = _random_rotation(d, rng)
    logs = np.log(rng.exponential(size=d)).tolist()
    metric_step, beta_step = 0.1, 1.0
    distances, new_distances = np.empty((n, n)), np.empty((n, n))
    kernels.pair_distances(columns, _transform(Q, logs), distances)
    counts, kth = kernels.count_nearest(distances, k, codes, classes, by_index, np.full(n, np.inf))
    height = kernels.counts_log_likelihood(k, beta, counts, codes)
    trace = _Trace(sampler, 3)
    for step in range(1, sampler.steps + 1):
        row = (step - 1) % BLOCK
        if row == 0:
            size = min(BLOCK, sampler.steps - step + 1)
            uniforms, normals = rng.random((size, 8)), rng.standard_normal((size, 3))
        draw, normal = uniforms[row], normals[row].tolist()
        burning = step <= sampler.burn_in
        gain = step**-0.6  # tuning decreases with the step number and ends with burn-in
        new_k, new_beta, ratio, small = k, abs(beta + beta_step * normal[2]), 0.0, True
        new_counts, new_kth = counts, kth
        if draw[7] < K_MOVES:
            new_k, new_beta, ratio, small = propose_k_beta(
                k, beta, depth, False, K_JUMPS, beta_step, draw[4:6], normals[row, 2:3]
            )
            if new_k != k:
                # Guess of the new k-th distances: squared distances usually grow more slowly than sqrt(k).
                guess = kth * (SLACK * math.sqrt(new_k / k) if new_k > k else 1.0)
                new_counts, new_kth = kernels.count_nearest(distances, new_k, codes, classes, by_index, guess)
        else:
            new_Q, new_logs = Q.copy(), logs.copy()
            if d > 1:
                first = min(d - 1, int(draw[0] * d))
                second = (first + 1 + min(d - 2, int(draw[1] * (d - 1)))) % d
                cosine, sine = math.cos(metric_step * normal[0]), math.sin(metric_step * normal[0])
                new_Q[:, first] = cosine * Q[:, first] + sine * Q[:, second]
                new_Q[:, second] = cosine * Q[:, second] - sine * Q[:, first]
            moved = min(d - 1, int(draw[2] * d))
            before = logs[moved]
            new_logs[moved] = after = before + SCALE_RATIO * metric_step * normal[1]
            kernels.pair_distances(columns, _transform(new_Q, new_logs), new_distances)
            metric_counts, metric_kth = kernels.count_nearest(
                new_distances, k, codes, classes, by_index, SLACK * kth
            )
            proposed = kernels.counts_log_likelihood(k, beta, metric_counts, codes)
            # Log density of log lambda under the Exp(1) prior of lambda: log lambda - lambda.
            prior = after - math.exp(after) - before + math.exp(before)
            is_accepted = draw[3] < math.exp(min(0.0, proposed - height + prior))
            if is_accepted:
                Q, logs, height = new_Q, new_logs, proposed
                counts, kth = new_counts, new_kth = metric_counts, metric_kth
                distances, new_distances = new_distances, distances
            if burning:
                metric_step *= math.exp(gain * ((1.0 if is_accepted else 0.0) - TARGET))
                metric_step = min(max(metric_step, 1e-4), 1.0)
            trace.count(step, 0, is_accepted)
        proposed = kernels.counts_log_likelihood(new_k, new_beta, new_counts, codes)
        change = proposed - height - 0.5 * (new_beta * new_beta - beta * beta) / (beta_scale * beta_scale)
        is_accepted = draw[6] < math.exp(min(0.0, change + ratio))
        if is_accepted:
            k, beta, height, counts, kth = new_k, new_beta, proposed, new_counts, new_kth
        if burning and small:
            beta_step *= math.exp(gain * ((1.0 if is_accepted else 0.0) - BETA_TARGET))
            beta_step = min(max(beta_step, 1e-3), 1e3)
        trace.count(step, 1 if small else 2, is_accepted)
        if trace.keeps(step):
            density = height - 0.5 * (beta / beta_scale) * (beta / beta_scale)
            for value in logs:
                density -= math.exp(value)
            trace.add(k, beta, density, _transform(Q, logs))
    return trace.draws(_total_in_order), trace.accepted


def _transform(Q: np.ndarray, logs: list[float]) -> np.ndarray:
    """Return Q Lambda^(1/2) (d, d) from the log lambdas (d,)."""
    return Q * np.array([math.exp(0.5 * value) for value in logs])


def _paper_chain(training: Training, depth: int, beta_scale: float, sampler: Sampler, rng):
    from scipy.linalg import expm

    n, d = training.X.shape
    columns = training.columns
    k, beta = sampler.start(rng, depth, beta_scale)
    scales, angles = np.ones(d), np.zeros((d, d))
    upper = np.triu_indices(d, 1)
    distances, kth = np.empty((n, n)), np.full(n, np.inf)
    trace = _Trace(sampler, 1)

    def density(transform, k, beta):
        """Return the log posterior density and the k-th distances, from guesses of these."""
        kernels.pair_distances(columns, transform, distances)
        counts, new_kth = kernels.count_nearest(
            distances, k, training.codes, training.classes, training.by_index, SLACK * kth
        )
        likelihood = kernels.counts_log_likelihood(k, beta, counts, training.codes)
        return likelihood - 0.5 * (beta / beta_scale) ** 2, new_kth

    transform = np.eye(d)
    height, kth = density(transform, k, beta)
    for step in range(1, sampler.steps + 1):
        new_scales = scales + rng.normal(0.0, PAPER_SCALE_STEP, d)
        new_angles = angles.copy()
        turn = rng.normal(0.0, PAPER_ANGLE_STEP, len(upper[0]))
        new_angles[upper] += turn
        new_angles.T[upper] -= turn
        uniforms, normals = rng.random(3), rng.standard_normal(1)
        new_k, new_beta, _, _ = propose_k_beta(k, beta, depth, False, 0.0, 1.0, uniforms, normals)
        is_accepted = False
        if new_scales.min() > 0.0:  # otherwise M' is not a metric and has prior density 0
            new_transform = np.ascontiguousarray(expm(new_angles) * np.sqrt(new_scales))
            proposed, new_kth = density(new_transform, new_k, new_beta)
            is_accepted = uniforms[2] < np.exp(min(0.0, proposed - height))
        if is_accepted:
            scales, angles, k, beta = new_scales, new_angles, new_k, new_beta
            transform, height, kth = new_transform, proposed, new_kth
        trace.count(step, 0, is_accepted)
        if trace.keeps(step):
            trace.add(k, beta, height, transform)
    return trace.draws(np.sum), trace.accepted


def _random_rotation(d: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random orthogonal matrix (d, d); the metric does not depend on the signs of its columns."""
    q, r = np.linalg.qr(rng.standard_normal((d, d)))
    return np.ascontiguousarray(q * np.where(np.diag(r) < 0.0, -1.0, 1.0))
