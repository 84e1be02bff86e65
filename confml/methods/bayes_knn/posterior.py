"""Posteriors of Bayesian k-NN over (k, beta): integrated, sampled, or one point of it."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from joblib import Parallel, delayed

from confml.measures.chains import ChainDiagnostics
from confml.measures.posterior import Summary
from confml.methods.bayes_knn import _kernels as neighbours
from confml.methods.bayes_knn import _kernels_mcmc as mcmc
from confml.methods.bayes_knn import _kernels_posterior as kernels
from confml.methods.bayes_knn import _kernels_predict as predictive
from confml.neighbours.checks import check_arrays, check_range, check_width


class WritableArrays:
    """Base class that copies read-only arrays when unpickled: kernels are compiled for writable arrays."""

    def __setstate__(self, state: dict) -> None:
        for name, value in state.items():
            mapped = isinstance(value, np.ndarray) and not value.flags.writeable
            self.__dict__[name] = np.array(value) if mapped else value


class Training(WritableArrays):
    """Training examples in the form that the kernels need.

    X: (n, d). codes: (n,) class codes below ``classes``. by_index: whether ties are ordered by row. If
    the ranges of the features are so large or small that squares would overflow or underflow, all features
    are scaled by one power of two, which changes no comparison.
    """

    def __init__(self, X: np.ndarray, codes: np.ndarray, classes: int, by_index: bool):
        self.codes, self.classes, self.by_index = codes, classes, by_index
        half_range = np.max(0.5 * X.max(axis=0) - 0.5 * X.min(axis=0))
        self._factor = 1.0
        if half_range > 0.0 and not 1e-50 < half_range < 1e50:
            self._factor = 2.0 ** np.clip(-np.frexp(half_range)[1], -1000, 1000)
        self.centre = 0.5 * X.max(axis=0) + 0.5 * X.min(axis=0) if self._factor != 1.0 else None
        self.X = self.queries(X)
        self.columns = np.ascontiguousarray(self.X.T)

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        check_arrays(vars(self), X="f8 n d", columns="f8 d n", codes="i8 n")
        check_range("codes", self.codes, 0, self.classes)

    def __len__(self) -> int:
        return len(self.codes)

    def queries(self, X: np.ndarray) -> np.ndarray:
        """Return examples (m, d) on the scale of the training examples, clipped to [-1e100, 1e100]."""
        if self.centre is not None:
            with np.errstate(over="ignore"):
                X = (X - self.centre) * self._factor
        return np.ascontiguousarray(np.clip(X, -1e100, 1e100))

    def neighbours_of(self, X: np.ndarray | None, depth: int) -> tuple[np.ndarray, ...]:
        """Return `sorted_neighbours` of new examples (m, d), or of the training examples if X is None."""
        queries = self.X if X is None else self.queries(X)
        check_width(queries, len(self.columns))
        check_range("depth", np.array([depth]), 1, len(self) + 1)
        return neighbours.sorted_neighbours(
            queries, self.columns, self.codes, self.classes, depth, X is None, self.by_index
        )

    def class_counts(self, X: np.ndarray | None, depth: int) -> np.ndarray:
        """Return the class counts (depth, m, c) among the 1, 2, ..., depth nearest neighbours.

        X: new examples (m, d), or None for the training examples, each without itself. Ties of distance share
        their places in equal parts, unless ``by_index``.
        """
        return neighbours.all_counts(*self.neighbours_of(X, depth))


@dataclass(frozen=True, eq=False)
class Nodes(WritableArrays):
    """Discrete distribution over (k, beta): betas[offsets[k-1]:offsets[k]] belong to k; masses sum to 1."""

    offsets: np.ndarray
    betas: np.ndarray
    masses: np.ndarray

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        sizes = check_arrays(vars(self), offsets="i8 k", betas="f8 m", masses="f8 m")
        _check_offsets("offsets", self.offsets, sizes["m"])

    @classmethod
    def of_draws(cls, ks: np.ndarray, betas: np.ndarray, depth: int) -> "Nodes":
        """Return the distribution with equal masses on draws of k and beta (s,) each."""
        order = np.argsort(ks, kind="stable")
        offsets = np.searchsorted(ks[order], np.arange(depth + 1), side="right")
        return cls(offsets, np.ascontiguousarray(betas[order]), np.full(len(ks), 1.0 / len(ks)))

    @property
    def k_masses(self) -> np.ndarray:
        """Posterior probabilities of k (K,)."""
        return np.array(
            [
                self.masses[first:last].sum()
                for first, last in zip(self.offsets, self.offsets[1:], strict=False)
            ]
        )


@dataclass(frozen=True, eq=False)
class BetaDensity(WritableArrays):
    """Posterior density of beta given k, on one or more panels (intervals of beta) for each k.

    panels (K + 1,): the first panel of each k, and the number R of panels. bounds (R, 2): interval of each
    panel. heights (R, q): density at the Gauss-Legendre nodes. sizes (R,): number of nodes, 1 if beta is
    fixed. masses (R,): posterior masses.
    """

    panels: np.ndarray
    bounds: np.ndarray
    heights: np.ndarray
    sizes: np.ndarray
    masses: np.ndarray

    def __setstate__(self, state: dict) -> None:
        state.pop("cumulative", None)
        super().__setstate__(state)
        forms = {"bounds": "f8 r 2", "heights": "f8 r q", "sizes": "i8 r", "masses": "f8 r"}
        found = check_arrays(vars(self), panels="i8 k", **forms)
        _check_offsets("panels", self.panels, found["r"])
        check_range("sizes", self.sizes, 1, found["q"] + 1)

    @cached_property
    def cumulative(self) -> np.ndarray:
        """Legendre series (R, q) of the distribution function of beta per panel; q = 0 if beta is fixed."""
        count, most = self.heights.shape
        series = np.zeros((count, most + 1 if most > 1 else 0))
        if most > 1:
            for size in np.unique(self.sizes):
                rows = np.flatnonzero((self.sizes == size) & (self.masses > 0.0))
                found = _distribution_series(self.heights[rows, :size], *_gauss_legendre(int(size)))
                series[rows, : found.shape[1]] = found
        return series


@dataclass(frozen=True, eq=False)
class NodePosterior(WritableArrays):
    """Posterior of the simple or the standard model.

    nodes: quadrature nodes, or the draws of all chains. most_probable: (k, beta) with the largest posterior
    density. Of exact inference only: log_evidence (K,), log of p(D | k); beta_density, the density of beta
    given k. Of Markov chains only: by_chain, the draws of each chain; diagnostics.
    """

    training: Training
    nodes: Nodes
    most_probable: tuple[int, float]
    log_evidence: np.ndarray | None = None
    beta_density: BetaDensity | None = None
    by_chain: tuple[Nodes, ...] = ()
    diagnostics: ChainDiagnostics | None = None

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        parts = [nodes.offsets for nodes in (self.nodes, *self.by_chain)]
        parts += [] if self.beta_density is None else [self.beta_density.panels]
        if {len(part) for part in parts} != {self.depth + 1}:
            raise ValueError("the nodes of the posterior have different numbers of neighbours")

    @cached_property
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

    def summary(self, X: np.ndarray) -> Summary:
        """Return the predictions of test examples (m, d)."""
        near = self.training.neighbours_of(X, self.depth)
        mean, variance, envelope = self._predict(near, self.nodes)
        error = None
        if len(self.by_chain) > 1:
            means = np.stack([self._predict(near, nodes)[0] for nodes in self.by_chain])
            error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
        return Summary(mean, np.sqrt(variance), envelope, error)

    def exceedance(self, X: np.ndarray, threshold: float) -> np.ndarray:
        """Return the posterior probability (m, c) that a class probability exceeds ``threshold``."""
        near = self.training.neighbours_of(X, self.depth)
        if self.beta_density is None:
            return predictive.exceedance_from_nodes(
                *near, self.nodes.offsets, self.nodes.betas, self.nodes.masses, threshold
            )
        density = self.beta_density
        return predictive.exceedance_from_series(
            *near,
            density.panels,
            self.k_masses,
            density.masses,
            density.bounds,
            density.cumulative,
            threshold,
        )

    @staticmethod
    def _predict(near, nodes: Nodes):
        return predictive.predict_from_nodes(*near, nodes.offsets, nodes.betas, nodes.masses)


def integrate(training: Training, depth: int, beta_scale: float, fixed_beta: float | None) -> NodePosterior:
    """Integrate the posterior: a sum over k in 1..depth, Gauss-Legendre quadrature over beta for each k.

    beta_scale: scale of the half-normal prior. fixed_beta: value of beta in the simple model. The quadrature
    covers the interval of beta with all but 1e-16 of the mass, in several panels if the interval is long.
    """
    near = training.neighbours_of(None, depth)
    simple = fixed_beta is not None
    rules = [_gauss_legendre(q) for q in ((1, 1) if simple else (kernels.NODES, kernels.MANY_NODES))]
    log_modes, modes, panels, bounds, density, sizes = kernels.exact_posterior(
        *near, training.codes, beta_scale, fixed_beta if simple else -1.0, rules[0][0], rules[1][0]
    )
    lengths = bounds[:, 1] - bounds[:, 0]
    abscissas, weights = np.zeros_like(density), np.zeros_like(density)
    for points, point_weights in rules:
        rows = np.flatnonzero(sizes == len(points))
        abscissas[rows, : len(points)], weights[rows, : len(points)] = points, point_weights
    k_of_panel = np.repeat(np.arange(depth), np.diff(panels))
    top = np.maximum.reduceat(density.max(axis=1), panels[:-1])
    known = np.isfinite(top)
    scaled = np.exp(density - np.where(known, top, 0.0)[k_of_panel, None])
    masses = scaled * weights
    if simple:
        masses = scaled.copy()
    else:
        masses *= 0.5 * lengths[:, None]
    sums = np.add.reduceat(masses.sum(axis=1), panels[:-1])
    log_evidence = np.full(depth, -np.inf)
    log_evidence[known] = np.log(sums[known]) + top[known]
    if not simple:
        log_evidence += 0.5 * np.log(2.0 / np.pi) - np.log(beta_scale)
    k_masses = np.exp(log_evidence - log_evidence.max())
    k_masses /= k_masses.sum()
    masses *= np.divide(k_masses, sums, out=np.zeros(depth), where=known)[k_of_panel, None]
    betas = bounds[:, :1] + 0.5 * (abscissas + 1.0) * lengths[:, None]
    used = (k_masses > 0.0)[k_of_panel, None] & (np.arange(density.shape[1]) < sizes[:, None])
    edges = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
    nodes = Nodes(edges[panels], betas[used], masses[used])
    panel_masses = np.array([nodes.masses[a:b].sum() for a, b in zip(edges, edges[1:], strict=False)])
    k = int(np.argmax(log_modes))
    return NodePosterior(
        training,
        nodes,
        (k + 1, float(modes[k])),
        log_evidence,
        BetaDensity(panels, bounds, scaled, sizes, panel_masses),
    )


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
    n_jobs: int | None

    @property
    def steps(self) -> int:
        return self.burn_in + self.samples * self.thin

    def run(self, chain) -> list:
        """Return ``chain(generator)`` for each chain; the results do not depend on n_jobs."""
        generators = [np.random.default_rng(s) for s in np.random.SeedSequence(self.seed).spawn(self.chains)]
        # Threads are sufficient because the kernels release the global interpreter lock.
        jobs = min(self.n_jobs or 1, self.chains)
        return Parallel(n_jobs=jobs, prefer="threads")(map(delayed(chain), generators))

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
    terms = mcmc.term_rows_of_all(*training.neighbours_of(None, depth), training.codes)

    def chain(rng: np.random.Generator):
        k, beta = sampler.start(rng, depth, beta_scale)
        state = np.array([k, fixed_beta if simple else beta, 0.0, 1.0, 0.0])
        kept = np.empty((sampler.samples, 3))
        accepted = np.zeros((2, 2), dtype=np.int64)
        for first in range(0, sampler.steps, 10_000):  # blocks limit memory and can be interrupted
            steps = min(10_000, sampler.steps - first)
            uniforms, normals = rng.random((steps, 3)), rng.standard_normal((steps, 1))
            prior, numbers = (beta_scale, simple), (uniforms, normals)
            mcmc.run_chain(state, sampler.burn_in, sampler.thin, prior, jumps, numbers, terms, kept, accepted)
        return kept, accepted

    results = sampler.run(chain)
    draws = np.stack([kept for kept, _ in results])
    traces = {"k": draws[..., 0]} | ({} if simple else {"beta": draws[..., 1]})
    traces["log posterior"] = draws[..., 2]
    moves = ("small", "jump") if sampler.improved else ("small",)
    rates = acceptance_rates(moves, [counts for _, counts in results])
    diagnostics = ChainDiagnostics.of(traces, rates, rare=("jump",))
    best = draws.reshape(-1, 3)[np.argmax(draws[..., 2])]
    ks = draws[..., 0].astype(np.int64)
    return NodePosterior(
        training,
        Nodes.of_draws(ks.ravel(), draws[..., 1].ravel(), depth),
        (int(best[0]), float(best[1])),
        by_chain=tuple(Nodes.of_draws(one, beta, depth) for one, beta in zip(ks, draws[..., 1], strict=True)),
        diagnostics=diagnostics,
    )


def acceptance_rates(moves: tuple[str, ...], counts: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Return the acceptance rates (chains,) by kind of move; NaN if no move was proposed."""
    accepted, proposed = np.moveaxis(np.stack(counts).astype(np.float64), -1, 0)
    rates = np.full(accepted.shape, np.nan)
    np.divide(accepted, proposed, out=rates, where=proposed > 0)
    return {move: rates[:, i] for i, move in enumerate(moves)}
