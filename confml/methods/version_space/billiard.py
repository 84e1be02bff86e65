"""`Trajectory`: a billiard trajectory in version space, from which volumes at test examples are estimated."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtr

from confml.measures.chains import initial_monotone_sequence
from confml.methods.version_space import _kernels_follow as followers
from confml.methods.version_space._kernels_billiard import trace
from confml.methods.version_space._kernels_gram import products
from confml.methods.version_space.version_space import VersionSpace, length_of
from confml.neighbours.checks import check_arrays, check_range

BATCHES = 16  # per chain; the standard error is computed from their means
_ROUNDING = 1e-12  # a fraction of the trajectory below this counts as 0


@dataclass(frozen=True)
class BilliardSettings:
    """Settings of the billiard.

    sampler: ``geodesic`` or ``chord``. bounces: number over all chains. burn_in: number of bounces of the
    burn-in as a fraction of ``bounces``. refresh: mean arc between random directions, None for never. chains:
    number of chains.
    """

    sampler: str
    bounces: int
    burn_in: float
    refresh: float | None
    chains: int


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """The recorded trajectory of one chain.

    steps, hit, anchors (a, 2, r), anchor_step: see `_kernels_billiard`. edges (b + 2,): first steps of the
    burn-in and of each batch, and the number of steps. centres (b, r): integral of w along each batch. arcs
    (b,): length of each batch. squares (n,): mean squared distance to each wall. escapes: number of chords
    drawn again.
    """

    steps: np.ndarray
    hit: np.ndarray
    anchors: np.ndarray
    anchor_step: np.ndarray
    edges: np.ndarray
    centres: np.ndarray
    arcs: np.ndarray
    squares: np.ndarray
    escapes: int

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        forms = {"steps": "f8 s 6", "hit": "i4 s", "anchors": "f8 a 2 r", "anchor_step": "i8 a"}
        forms |= {"edges": f"i8 {BATCHES + 2}", "centres": f"f8 {BATCHES} r", "arcs": f"f8 {BATCHES}"}
        sizes = check_arrays(vars(self), **forms, squares="f8 n")
        check_range("hit", self.hit, -1, sizes["n"])
        for name, steps in (("edges", self.edges), ("anchor_step", self.anchor_step)):
            check_range(name, steps, 0, sizes["s"] + 1)
            check_range(name, np.diff(steps), 0, sizes["s"] + 1)


@dataclass(frozen=True, eq=False)
class VolumeEstimate:
    """Estimated fraction of version space that predicts the positive class, for m test examples.

    positive (m,): the estimate. standard_error (m,): at least 1 / (effective sample size of the trajectory)
    if the estimate is a share of the trajectory, as the share of a part that it has not entered can be that
    large; 0 if version space is a single point. rhat (m,): split R-hat. ess (m,): effective sample size,
    `Trajectory.ess` if the whole trajectory predicts one class.
    """

    positive: np.ndarray
    standard_error: np.ndarray
    rhat: np.ndarray
    ess: np.ndarray


@dataclass(frozen=True, eq=False)
class Trajectory:
    """All chains of one version space. chord: whether they consist of the paper's chords."""

    version_space: VersionSpace
    chains: tuple[MarkovChain, ...]
    chord: bool

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        walls = (len(self.version_space.targets), self.rank)
        if any((len(chain.squares), chain.anchors.shape[2]) != walls for chain in self.chains):
            raise ValueError("the chains have other walls than the version space")

    @property
    def rank(self) -> int:
        """Dimension r of the span of the training examples in feature space."""
        return self.version_space.space.rank

    @property
    def walls(self) -> np.ndarray:
        """Walls (n, r) of version space: training examples times their targets, in the span's coordinates."""
        return self.version_space.walls

    @property
    def start(self) -> np.ndarray:
        """Start (r,) of the billiard, inside version space."""
        return self.version_space.start

    @property
    def bounces(self) -> int:
        """Number of bounces after burn-in."""
        return sum(int((chain.hit[chain.edges[1] :] >= 0).sum()) for chain in self.chains)

    @property
    def arc(self) -> float:
        """Length after burn-in, in radians."""
        return float(sum(chain.arcs.sum() for chain in self.chains))

    def centre(self) -> np.ndarray:
        """Return the Bayes point (r,): the centre of mass of version space, scaled to length 1."""
        if not self.chains:
            return self.version_space.start
        centre = _sum(np.stack([chain.centres.sum(axis=0) for chain in self.chains]))
        return centre / length_of(centre)

    @cached_property
    def _distances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Integrals of the distance to each wall (chains, batches, n), arcs (chains, batches), and the
        variance of each distance within chains (n,)."""
        arcs = np.stack([chain.arcs for chain in self.chains])
        levels = np.stack([products(chain.centres, self.version_space.walls_t) for chain in self.chains])
        wholes = levels.sum(axis=1) / arcs.sum(axis=1)[:, None]
        within = np.mean(np.stack([chain.squares for chain in self.chains]) - wholes**2, axis=0)
        return levels, arcs, within

    @cached_property
    def rhat(self) -> float:
        """Largest split R-hat of the distances to the walls."""
        if not self.chains:
            return 1.0
        levels, arcs, within = self._distances
        between = _halves(levels, arcs).var(axis=0, ddof=1)
        return float(np.sqrt(1.0 + (between[within > 0] / within[within > 0]).max(initial=0.0)))

    @cached_property
    def ess(self) -> float:
        """Effective sample size: the median over the distances to the walls."""
        if not self.chains:
            return 1.0
        levels, arcs, within = self._distances
        error = _standard_error(levels, arcs)
        usable = (error > 0) & (within > 0)
        return float(np.median(within[usable] / error[usable] ** 2)) if usable.any() else float(self.bounces)

    def recorded(self, kernel_block: np.ndarray) -> list[followers.Recorded]:
        """Return the chains with m examples x, for `_kernels_follow`; kernel_block (n, m): k(x_i, x)."""
        coordinates = self.version_space.space.coordinates(kernel_block)
        signed = np.ascontiguousarray(self.version_space.targets[:, None] * kernel_block)
        recorded = []
        for chain in self.chains:
            at_w, at_v = (products(np.ascontiguousarray(chain.anchors[:, i]), coordinates) for i in (0, 1))
            steps = chain.steps, chain.hit, chain.edges, chain.anchor_step
            recorded.append(followers.Recorded(self.chord, signed, *steps, at_w, at_v))
        return recorded

    def volumes(self, kernel_block: np.ndarray, lengths: np.ndarray | None = None) -> VolumeEstimate:
        """Estimate the fraction of version space that predicts the positive class for m test examples x.

        kernel_block (n, m): k(x_i, x). lengths (m,): squared length of phi(x), noise included. The component
        of phi(x) outside the span of the walls makes its sign uncertain. None: this component is ignored, as
        in the paper.
        """
        coordinates = self.version_space.space.coordinates(kernel_block)
        outside = None if lengths is None else np.maximum(lengths - _sum(coordinates**2), 1e-30)
        if not self.chains:
            return self._single_point(coordinates, outside)
        plus = np.zeros((len(self.chains), BATCHES + 1, kernel_block.shape[1]))
        for recorded, total in zip(self.recorded(kernel_block), plus, strict=True):
            if outside is None:
                followers.follow_signs(recorded, total)
            else:
                followers.follow_residuals(recorded, np.sqrt(self.rank / outside), self.rank, total)
        summary = _summarise(plus[:, 1:], np.stack([chain.arcs for chain in self.chains]), self.ess)
        if outside is None:
            # Without a kernel value that is not 0, <w, phi(x)> is 0 in all of version space: for no class.
            zero, error = ~kernel_block.any(axis=0), np.maximum(summary.standard_error, 1.0 / self.ess)
            positive, error = np.where(zero, 0.5, summary.positive), np.where(zero, 0.0, error)
            return replace(summary, positive=positive, standard_error=error)
        return summary

    def _single_point(self, coordinates: np.ndarray, outside: np.ndarray | None) -> VolumeEstimate:
        """Return the volumes if version space is a single point (one dimension)."""
        level = _sum(self.version_space.start[:, None] * coordinates)
        if outside is None:
            positive = np.where(level > 0, 1.0, np.where(level < 0, 0.0, 0.5))
        else:
            positive = stdtr(1, level / np.sqrt(outside))
        ones = np.ones_like(positive)
        return VolumeEstimate(positive, 0.0 * ones, ones, ones)


def trajectory_bytes(bounces: int, burn_in: float) -> float:
    """Return the approximate memory of the trajectory of one version space."""
    return 1.05 * bounces * (1.0 + burn_in) * (6 * 8 + 4)


def sample(version_space: VersionSpace, settings: BilliardSettings, seed: int) -> Trajectory:
    """Sample a version space by billiard, starting far from its walls.

    The same seed gives the same trajectory.
    """
    chord = settings.sampler == "chord"
    if version_space.space.rank == 1:
        return Trajectory(version_space, (), chord)
    each = max(-(-settings.bounces // (settings.chains * BATCHES)), 1)
    batches = np.array([int(np.ceil(settings.burn_in * each * BATCHES)), *[each] * BATCHES])
    refresh = np.inf if settings.refresh is None else float(settings.refresh)
    fields = ("walls", "walls_t", "gram", "squared", "start")
    space = tuple(getattr(version_space, field) for field in fields)
    chains = []
    for chain_seed in np.random.SeedSequence(seed).generate_state(settings.chains):
        chain = MarkovChain(*trace(space, chord, batches, refresh, int(chain_seed)))
        of_walls = np.sum(chain.squares[1:], axis=0)
        chains.append(replace(chain, squares=of_walls[:-1] / of_walls[-1]))
    return Trajectory(version_space, tuple(chains), chord)


def _summarise(plus: np.ndarray, arcs: np.ndarray, agreed: float) -> VolumeEstimate:
    """Return the estimate from the positive arc lengths (chains, batches, m) and all (chains, batches).

    R-hat compares the means of half chains with the variance p (1 - p) of the sign, the limit of the usual
    formula for many draws. agreed: effective sample size if the standard error is 0.
    """
    # Sums run over the small axes only, so their order does not depend on m.
    positive = _sum(_sum(plus)) / _sum(_sum(arcs[:, :, None]))
    error = _standard_error(plus, arcs)
    agreeing = np.abs(positive - 0.5) > 0.5 - _ROUNDING
    positive, error = np.where(agreeing, np.round(positive), positive), np.where(agreeing, 0.0, error)
    means = np.clip(_halves(plus, arcs), 0.0, 1.0)
    within = _sum(means * (1.0 - means)) / len(means)
    centre = _sum(means) / len(means)
    between = _sum((means - centre) ** 2) / (len(means) - 1)
    spread = np.divide(between, within, out=np.where(between > 0, np.inf, 0.0), where=within > 0)
    variance = positive * (1.0 - positive)
    ess = np.divide(variance, error**2, out=np.full_like(error, agreed), where=error > 0)
    return VolumeEstimate(positive, error, np.sqrt(1.0 + spread), ess)


def _halves(integrals: np.ndarray, arcs: np.ndarray) -> np.ndarray:
    """Return the means (2 chains, m) over the first and the second half of each chain."""
    split = arcs.shape[1] // 2
    halves = [(integrals[:, half], arcs[:, half]) for half in (slice(split), slice(split, None))]
    return np.concatenate([_sum(part.transpose(1, 0, 2)) / arc.sum(axis=1)[:, None] for part, arc in halves])


def _standard_error(integrals: np.ndarray, arcs: np.ndarray) -> np.ndarray:
    """Return the standard errors (m,) of sum(integrals) / sum(arcs).

    integrals: (chains, batches, m); arcs: (chains, batches). The result is the standard error of a ratio of
    means over batches, multiplied by the square root of the autocorrelation time of the batches, which are
    dependent if they are short. Autocorrelations are taken around the mean of all chains and summed by
    Geyer's initial monotone sequence (Vehtari et al. 2021, section 3.2). The time is at least 1.
    """
    chains, batches = arcs.shape
    total = _sum(_sum(arcs[:, :, None]))
    rest = integrals - _sum(_sum(integrals)) / total * arcs[:, :, None]
    variance = _sum(_sum(rest**2))
    pairs = np.zeros((batches // 2, len(variance)))
    for lag in range(2 * len(pairs)):
        covariance = _sum(_sum(rest[:, : batches - lag] * rest[:, lag:]))
        pairs[lag // 2] += covariance * (batches / (batches - lag))
    time = 2.0 * _sum(initial_monotone_sequence(pairs))
    time = np.divide(time, variance, out=np.ones_like(variance), where=variance > 0) - 1.0
    count = chains * batches
    return np.sqrt(variance * np.maximum(time, 1.0) * count / max(count - 1, 1)) / total


def _sum(values: np.ndarray) -> np.ndarray:
    """Return the sum over the first axis, added one element after the other."""
    out = np.zeros(values.shape[1:])
    for value in values:
        out += value
    return out
