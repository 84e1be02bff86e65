"""Posteriors of Bayesian k-NN over (k, beta): integrated, sampled, or one point of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from confml._threads import for_each
from confml.measures.chains import ChainDiagnostics
from confml.measures.posterior import Summary
from confml.methods.bayes_knn import _kernels_mcmc as mcmc
from confml.methods.bayes_knn import _kernels_posterior as kernels
from confml.methods.bayes_knn import _kernels_predict as predictive
from confml.methods.bayes_knn._kernels import TIE, count_groups
from confml.neighbours.checks import check_arrays, check_range, check_width
from confml.neighbours.distances import squared_distances_to_columns
from confml.neighbours.scaling import SafeScale

_COUNTS = 2_000_000  # class counts of test examples that are computed together


class Training:
    """Training examples in the form that the kernels need.

    X: (n, d) on a `SafeScale`. codes: (n,) class codes below ``classes``. by_index: whether ties are ordered
    by row.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int, by_index: bool):
        self.codes, self.classes, self.by_index = codes, classes, by_index
        self._scale = SafeScale.of(X)
        self.X = self.queries(X)

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        check_arrays(vars(self), X="f8 n d", codes="i8 n")
        check_range("codes", self.codes, 0, self.classes)

    def __len__(self) -> int:
        return len(self.codes)

    def queries(self, X: np.ndarray) -> np.ndarray:
        """Return a copy of examples (m, d) on the scale of the training examples."""
        return np.array(self._scale.apply(X))

    @property
    def columns(self) -> np.ndarray:
        """Training examples as columns (d, n)."""
        return np.ascontiguousarray(self.X.T)

    def class_counts(self, X: np.ndarray | None, depth: int) -> np.ndarray:
        """Return the class counts (depth, m, c) among the 1, 2, ..., depth nearest neighbours.

        X: new examples (m, d), or None for the training examples, each without itself. Ties of distance share
        their places in equal parts, unless ``by_index``.
        """
        queries = self.X if X is None else self.queries(X)
        check_width(queries, self.X.shape[1])
        check_range("depth", np.array([depth]), 1, len(self) + 1)
        counts = np.empty((depth, len(queries), self.classes))
        columns, distances = self.columns, np.empty(len(self))
        for i, query in enumerate(queries):
            squared_distances_to_columns(query, columns, 0, distances)
            if X is None:
                distances[i] = np.inf
            largest = np.partition(distances, depth - 1)[depth - 1]
            near = np.flatnonzero(distances <= largest + TIE * largest)
            order = near[np.argsort(distances[near], kind="stable")]
            count_groups(distances, order, self.codes, self.by_index, counts[:, i])
        return counts


@dataclass(frozen=True, eq=False)
class Nodes:
    """Discrete distribution over (k, beta): betas[offsets[k-1]:offsets[k]] belong to k; masses sum to 1."""

    offsets: np.ndarray
    betas: np.ndarray
    masses: np.ndarray

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        sizes = check_arrays(vars(self), offsets="i8 k", betas="f8 m", masses="f8 m")
        _check_offsets("offsets", self.offsets, sizes["m"])

    @classmethod
    def of_draws(cls, ks: np.ndarray, betas: np.ndarray, depth: int) -> "Nodes":
        """Return the distribution with equal masses on draws of k and beta (s,) each."""
        order = np.argsort(ks, kind="stable")
        offsets = np.searchsorted(ks[order], np.arange(depth + 1), side="right")
        return cls(offsets, np.ascontiguousarray(betas[order]), np.full(len(ks), 1.0 / len(ks)))

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.offsets, self.betas, self.masses

    @property
    def k_masses(self) -> np.ndarray:
        """Posterior probabilities of k (K,)."""
        return np.array([self.masses[first:last].sum() for first, last in pairwise(self.offsets)])


@dataclass(frozen=True, eq=False)
class BetaDensity:
    """Posterior distribution of beta given k, on one or more panels (intervals of beta) for each k.

    panels (K + 1,): the first panel of each k, and the number R of panels. bounds (R, 2): interval of each
    panel. cumulative (R, q): Legendre series of the distribution function in each panel. masses (R,):
    posterior masses.
    """

    panels: np.ndarray
    bounds: np.ndarray
    cumulative: np.ndarray
    masses: np.ndarray

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        forms = {"bounds": "f8 r 2", "cumulative": "f8 r q", "masses": "f8 r"}
        _check_offsets("panels", self.panels, check_arrays(vars(self), panels="i8 k", **forms)["r"])

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.panels, self.bounds, self.cumulative, self.masses


@dataclass(frozen=True, eq=False)
class NodePosterior:
    """Posterior of the simple or the standard model.

    nodes: quadrature nodes, or the draws of all chains. most_probable: (k, beta) with the largest posterior
    density. Of exact inference only: log_evidence (K,), log of p(D | k); beta_density, the distribution of
    beta given k, None if beta is fixed. Of Markov chains only: by_chain, the draws of each chain;
    diagnostics.
    """

    training: Training
    nodes: Nodes
    most_probable: tuple[int, float]
    log_evidence: np.ndarray | None = None
    beta_density: BetaDensity | None = None
    by_chain: tuple[Nodes, ...] = ()
    diagnostics: ChainDiagnostics | None = None

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        parts = [nodes.offsets for nodes in (self.nodes, *self.by_chain)]
        parts += [] if self.beta_density is None else [self.beta_density.panels]
        if {len(part) for part in parts} != {self.depth + 1}:
            raise ValueError("the nodes of the posterior have different numbers of neighbours")

    @property
    def depth(self) -> int:
        return len(self.nodes.offsets) - 1

    @property
    def k_masses(self) -> np.ndarray:
        return self.nodes.k_masses

    @property
    def beta_mean(self) -> float:
        return float(self.nodes.masses @ self.nodes.betas)

    def at_most_probable(self) -> "NodePosterior":
        """Return the posterior with all its mass on the most probable (k, beta)."""
        k, beta = self.most_probable
        offsets = (np.arange(self.depth + 1) >= k).astype(np.int64)
        return NodePosterior(self.training, Nodes(offsets, np.array([beta]), np.ones(1)), (k, beta))

    def _counts(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Iterate over the class counts (K, m, c) of blocks of test examples (m, d)."""
        rows = max(_COUNTS // (self.depth * self.training.classes), 1)
        for first in range(0, max(len(X), 1), rows):
            yield self.training.class_counts(X[first : first + rows], self.depth)

    def summary(self, X: np.ndarray) -> Summary:
        """Return the predictions of test examples (m, d)."""
        distributions = [self.nodes, *(self.by_chain if len(self.by_chain) > 1 else ())]
        blocks = [[_predicted(counts, nodes) for nodes in distributions] for counts in self._counts(X)]
        # (distributions, 3, m, c)
        (mean, variance, envelope), *by_chain = np.concatenate(blocks, axis=2)
        error = None
        if by_chain:
            error = np.std([chain[0] for chain in by_chain], axis=0, ddof=1) / np.sqrt(len(by_chain))
        return Summary(mean, np.sqrt(variance), envelope, error)

    def exceedance(self, X: np.ndarray, threshold: float) -> np.ndarray:
        """Return the posterior probability (m, c) that a class probability exceeds ``threshold``."""
        kernel, arrays = predictive.exceedance_from_nodes, self.nodes.arrays
        if self.beta_density is not None:
            kernel, arrays = predictive.exceedance_from_series, (*self.beta_density.arrays, self.k_masses)
        blocks = [kernel(counts, *arrays, threshold) for counts in self._counts(X)]
        return np.clip(np.concatenate(blocks), 0.0, 1.0)


def _predicted(counts: np.ndarray, nodes: Nodes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, variance and envelope (m, c each) of the class probabilities; see `predict_from_nodes`."""
    mean, spread, envelope, mass = predictive.predict_from_nodes(counts, *nodes.arrays)
    return mean, spread / mass, np.minimum(1.0, envelope / mass)


def integrate(training: Training, depth: int, beta_scale: float, fixed_beta: float | None) -> NodePosterior:
    """Integrate the posterior: a sum over k in 1..depth, Gauss-Legendre quadrature over beta for each k.

    beta_scale: scale of the half-normal prior. fixed_beta: value of beta in the simple model. The quadrature
    covers the interval of beta with all but 1e-16 of the mass, in several panels if the interval is long.
    """
    counts = training.class_counts(None, depth)

    def terms(k: int) -> kernels.Terms:
        return kernels.likelihood_terms(k, counts[k - 1], training.codes)

    if fixed_beta is not None:
        log_evidence = np.array([kernels.log_likelihood(fixed_beta, terms(k)) for k in range(1, depth + 1)])
        masses = np.exp(log_evidence - log_evidence.max())
        masses /= masses.sum()
        used = masses > 0.0
        offsets = np.concatenate([[0], np.cumsum(used)])
        nodes = Nodes(offsets, np.full(used.sum(), fixed_beta), masses[used])
        return NodePosterior(training, nodes, (int(np.argmax(log_evidence)) + 1, fixed_beta), log_evidence)

    maxima = [(1.0, 0.0, 0.0, 0.0)]  # of k = 0, where the search at k = 1 starts
    for k in range(1, depth + 1):
        maxima.append(kernels.find_mode(maxima[-1][0], beta_scale, terms(k)))
    log_modes = np.array([height for _, height, _, _ in maxima[1:]])
    # The log density lies between parabolas: its second derivative is at most -1 / scale^2 and at least
    # -(n + 1 / scale^2), its first at most n in size, because no u exceeds 1. So the mass of k is at most
    # exp(mode) scale sqrt(2 pi), and that of the best k at least exp(mode) / (2 (n + 1 + 1 / scale)).
    least = log_modes.max() - np.log(2.0 * (len(training) + 1.0 + 1.0 / beta_scale)) - kernels.NEGLIGIBLE
    most = np.log(beta_scale * np.sqrt(2.0 * np.pi))
    panels: list[Panel] = []
    for k in range(1, depth + 1):
        if log_modes[k - 1] + most >= least:
            panels += _panels(k, maxima[k], beta_scale, terms(k))
    k_values, first_panels = np.unique([panel.k for panel in panels], return_index=True)
    top = np.full(depth + 1, -np.inf)
    top[k_values] = np.maximum.reduceat([panel.log_density.max() for panel in panels], first_panels)
    heights = [np.exp(panel.log_density - top[panel.k]) for panel in panels]
    masses = [
        height * panel.weights * (0.5 * (panel.right - panel.left))
        for height, panel in zip(heights, panels, strict=True)
    ]
    sums = np.zeros(depth + 1)
    sums[k_values] = np.add.reduceat([mass.sum() for mass in masses], first_panels)
    log_evidence = np.full(depth + 1, -np.inf)
    log_evidence[k_values] = np.log(sums[k_values]) + top[k_values]
    log_evidence = log_evidence[1:] + (0.5 * np.log(2.0 / np.pi) - np.log(beta_scale))
    k_masses = np.exp(log_evidence - log_evidence.max())
    k_masses /= k_masses.sum()
    is_used = [bool(k_masses[panel.k - 1] > 0.0) for panel in panels]
    heights, panels = list(compress(heights, is_used)), list(compress(panels, is_used))
    masses = [
        mass * (k_masses[panel.k - 1] / sums[panel.k])
        for mass, panel in zip(compress(masses, is_used), panels, strict=True)
    ]
    ks, sizes = np.array([panel.k for panel in panels]), np.array([len(mass) for mass in masses])
    nodes = Nodes(
        np.cumsum(np.bincount(ks, weights=sizes, minlength=depth + 1)).astype(np.int64),
        np.concatenate([panel.betas for panel in panels]),
        np.concatenate(masses),
    )
    panel_masses = np.array([mass.sum() for mass in masses])
    cumulative = np.zeros((len(panels), kernels.MANY_NODES + 1))
    for size in np.unique(sizes):
        rows = np.flatnonzero((sizes == size) & (panel_masses > 0.0))
        of_size = np.array([heights[row] for row in rows]).reshape(-1, size)
        cumulative[rows, : size + 1] = _distribution_series(of_size, *_gauss_legendre(int(size)))
    bounds = np.array([[panel.left, panel.right] for panel in panels])
    first_panels = np.cumsum(np.bincount(ks, minlength=depth + 1))
    density = BetaDensity(first_panels, bounds, cumulative, panel_masses)
    best = int(np.argmax(log_modes)) + 1
    return NodePosterior(training, nodes, (best, float(maxima[best][0])), log_evidence, density)


class Panel(NamedTuple):
    """An interval of beta at one k: the log density at its Gauss-Legendre nodes, which have ``weights``."""

    k: int
    left: float
    right: float
    betas: np.ndarray
    weights: np.ndarray
    log_density: np.ndarray


def _panels(k: int, maximum: tuple[float, ...], beta_scale: float, terms: kernels.Terms) -> list[Panel]:
    """Return the panels of k. maximum: mode, log density, slope and curvature there."""
    mode, height, slope, curvature = maximum
    low = 0.0
    if mode > 0.0:
        slope = 0.0
        low = kernels.find_end(mode, height, slope, curvature, -1.0, beta_scale, terms)
    high = kernels.find_end(mode, height, slope, curvature, 1.0, beta_scale, terms)
    ends = kernels.panel_ends(low, high)
    panels = []
    for left, right in pairwise(ends):
        # The nearest poles of the likelihood are at +- i pi, so short intervals need few nodes.
        size = kernels.MANY_NODES if left == 0.0 and right > np.pi else kernels.NODES
        abscissas, weights = _gauss_legendre(size)
        betas = left + 0.5 * (abscissas + 1.0) * (right - left)
        panels.append(Panel(k, left, right, betas, weights, kernels.log_densities(betas, beta_scale, terms)))
    return panels


def _check_offsets(name: str, offsets: np.ndarray, count: int) -> None:
    """Raise ValueError unless offsets of a model file ascend from 0 to ``count``."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != count or (np.diff(offsets) < 0).any():
        raise ValueError(f"{name} of the posterior are not in order")


@cache
def _gauss_legendre(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss-Legendre nodes on [-1, 1] and their weights; cached, as they take a millisecond."""
    return np.polynomial.legendre.leggauss(size)


def _distribution_series(density: np.ndarray, abscissas: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Legendre series on [-1, 1] of the distribution functions of densities (K, q) at the nodes.

    The coefficients of the interpolating polynomial of a density are computed by Gauss-Legendre quadrature.
    The series is integrated term by term from -1 and divided by the total.
    """
    size = len(abscissas)
    basis = np.polynomial.legendre.legvander(abscissas, size - 1)
    coefficients = (density * weights) @ basis * (np.arange(size) + 0.5)
    series = np.polynomial.legendre.legint(coefficients, lbnd=-1, axis=1)
    return series / (density * weights).sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Sampler:
    """Settings of the chains: burn_in steps, then samples * thin steps, of which every thin-th is kept.

    improved: use the mixture proposal instead of small steps only. start_k: k at which each chain starts,
    None to draw it from the prior.
    """

    chains: int
    burn_in: int
    samples: int
    thin: int
    improved: bool
    start_k: int | None
    seed: int

    @property
    def steps(self) -> int:
        return self.burn_in + self.samples * self.thin

    def run(self, chain) -> list:
        """Return ``chain(generator)`` for each chain, in several threads inside `confml.threads`."""
        seeds = np.random.SeedSequence(self.seed).spawn(self.chains)
        results: dict[int, Any] = {}

        def run(number: int, _: None) -> None:
            results[number] = chain(np.random.default_rng(seeds[number]))

        for_each(run, range(self.chains))
        return [results[number] for number in range(self.chains)]

    def start(self, rng: np.random.Generator, depth: int, beta_scale: float) -> tuple[int, float]:
        """Return the start (k, beta) of a chain, drawn from the prior, which is wider than the posterior."""
        k = int(rng.integers(1, depth + 1))
        beta = abs(float(rng.normal(0.0, beta_scale)))
        return (k if self.start_k is None else min(self.start_k, depth)), beta


def sample(
    training: Training, depth: int, beta_scale: float, fixed_beta: float | None, sampler: Sampler
) -> NodePosterior:
    """Sample the posterior by Metropolis-Hastings over (k, beta), as in the paper, with several chains."""
    simple = fixed_beta is not None
    jumps = mcmc.JUMPS if sampler.improved else 0.0
    counts = training.class_counts(None, depth)
    by_k = [kernels.likelihood_terms(k, counts[k - 1], training.codes) for k in range(1, depth + 1)]
    offsets = np.cumsum([0, *(len(terms.weights) for terms in by_k)])
    filled = np.cumsum([0, *(len(terms.values) for terms in by_k)])
    starts = [terms.starts + first for terms, first in zip(by_k, filled, strict=False)]
    by_field = zip(*by_k, strict=True)
    all_terms = kernels.Terms(*map(np.concatenate, by_field))._replace(starts=np.concatenate(starts))

    def chain(rng: np.random.Generator):
        k, beta = sampler.start(rng, depth, beta_scale)
        state = np.array([k, fixed_beta if simple else beta, 0.0, 1.0, 0.0])
        states = np.empty((sampler.samples, 3))
        accepted = np.zeros((2, 2), dtype=np.int64)
        for first in range(0, sampler.steps, 10_000):  # blocks limit memory and can be interrupted
            steps = min(10_000, sampler.steps - first)
            uniforms, normals = rng.random((steps, 3)), rng.standard_normal((steps, 1))
            chain_settings = sampler.burn_in, sampler.thin, (beta_scale, simple), jumps
            mcmc.run_chain(state, *chain_settings, (uniforms, normals), offsets, all_terms, states, accepted)
        return states, accepted

    results = sampler.run(chain)
    draws = np.stack([states for states, _ in results])
    traces = {"k": draws[..., 0]} | ({} if simple else {"beta": draws[..., 1]})
    traces["log posterior"] = draws[..., 2]
    moves = ("small", "jump") if sampler.improved else ("small",)
    rates = acceptance_rates(moves, [counts for _, counts in results])
    diagnostics = ChainDiagnostics(traces, rates, rare=("jump",))
    best = draws.reshape(-1, 3)[np.argmax(draws[..., 2])]
    ks = draws[..., 0].astype(np.int64)
    return NodePosterior(
        training,
        Nodes.of_draws(ks.ravel(), draws[..., 1].ravel(), depth),
        (int(best[0]), float(best[1])),
        by_chain=tuple(Nodes.of_draws(k, beta, depth) for k, beta in zip(ks, draws[..., 1], strict=True)),
        diagnostics=diagnostics,
    )


def acceptance_rates(moves: tuple[str, ...], counts: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Return the acceptance rates (chains,) by kind of move; NaN if no move was proposed."""
    accepted, proposed = np.moveaxis(np.stack(counts).astype(np.float64), -1, 0)
    rates = np.full(accepted.shape, np.nan)
    np.divide(accepted, proposed, out=rates, where=proposed > 0)
    return {move: rates[:, i] for i, move in enumerate(moves)}
