"""`Flight`: what several billiard balls flew in a version space, for any test examples to follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import t as student

from confml.methods.version_space import _kernels_billiard as kernels
from confml.methods.version_space import _kernels_follow as followers
from confml.methods.version_space._kernels_gram import products
from confml.methods.version_space.version_space import VersionSpace

BATCHES = 16  # of each chain: their means tell the standard error
_ROUNDING = 1e-12  # a share of the flight that is less than this is none
_RENEW = 1000  # bounces after which rounding errors are cleared away


@dataclass(frozen=True)
class Table:
    """How to play: sampler ``geodesic`` or ``chord``; bounces over all chains; burn_in: their share that
    each chain flies on top, uncounted; refresh: mean arc between fresh directions, None for never."""

    sampler: str
    bounces: int
    burn_in: float
    refresh: float | None
    chains: int


@dataclass(frozen=True, eq=False)
class Chain:
    """The flight of one ball; see the kernels' module for ``steps``, ``hit`` and anchors.

    edges (b + 2,): first steps of the burn-in and of the batches, and the end. anchors (a, 2, r): w and v.
    centres (b, r): the integral of w along each batch; arcs (b,): its length. squares (n,): the mean
    squared distance to each wall.
    """

    steps: np.ndarray
    hit: np.ndarray
    edges: np.ndarray
    anchors: np.ndarray
    anchor_step: np.ndarray
    centres: np.ndarray
    arcs: np.ndarray
    squares: np.ndarray
    escapes: int

    def seen_at(self, coordinates: np.ndarray) -> tuple[np.ndarray, ...]:
        """What the following kernels need of it, at examples with these coordinates (r, m)."""
        at_w = products(np.ascontiguousarray(self.anchors[:, 0]), coordinates)
        at_v = products(np.ascontiguousarray(self.anchors[:, 1]), coordinates)
        return self.steps, self.hit, self.edges, self.anchor_step, at_w, at_v


@dataclass(frozen=True, eq=False)
class Shares:
    """What share of version space is positive for each of m test examples.

    positive (m,); standard_error (m,), 0 where all of the flight agrees; rhat (m,) split R-hat of the chains;
    ess (m,) the number of independent draws from version space that would tell as much, `Flight.ess` where
    all of the flight agrees. The last three are None where nothing was sampled.
    """

    positive: np.ndarray
    standard_error: np.ndarray | None = None
    rhat: np.ndarray | None = None
    ess: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Flight:
    """Chains in one version space. chord: whether their flights are the paper's chords."""

    version_space: VersionSpace
    chains: tuple[Chain, ...]
    chord: bool

    @property
    def bounces(self) -> int:
        """Counted bounces."""
        return sum(int((chain.hit[chain.edges[1] :] >= 0).sum()) for chain in self.chains)

    @property
    def arc(self) -> float:
        """Counted length in radians."""
        return float(sum(chain.arcs.sum() for chain in self.chains))

    def centre(self) -> np.ndarray:
        """(r,) the centre of mass of version space, of length 1: the Bayes point."""
        if not self.chains:
            return self.version_space.start
        centre = sum(chain.centres.sum(axis=0) for chain in self.chains)
        return centre / np.linalg.norm(centre)

    @cached_property
    def _distances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(chains, batches, n) integrals of the distance to each wall, (chains, batches) arcs, (n,) its
        variance within chains."""
        arcs = np.stack([chain.arcs for chain in self.chains])
        levels = np.stack([chain.centres @ self.version_space.walls_t for chain in self.chains])
        wholes = levels.sum(axis=1) / arcs.sum(axis=1)[:, None]
        within = np.mean(np.stack([chain.squares for chain in self.chains]) - wholes**2, axis=0)
        return levels, arcs, within

    @cached_property
    def rhat(self) -> float:
        """The worst split R-hat of the distances to the walls: do the chains agree as a whole?"""
        if not self.chains:
            return 1.0
        levels, arcs, within = self._distances
        between = _halves(levels, arcs).var(axis=0, ddof=1)
        return float(np.sqrt(1.0 + (between[within > 0] / within[within > 0]).max(initial=0.0)))

    @cached_property
    def ess(self) -> float:
        """Independent draws that the flight is worth: the median over the distances to walls."""
        if not self.chains:
            return 1.0
        levels, arcs, within = self._distances
        error = _standard_error(levels, arcs)
        known = (error > 0) & (within > 0)
        return float(np.median(within[known] / error[known] ** 2)) if known.any() else float(self.bounces)

    def shares(self, kernel_block: np.ndarray, own: np.ndarray | None = None) -> Shares:
        """Follow the flight at m test examples x: ``kernel_block`` (n, m) holds k(x_i, x).

        own (m,): squared length of phi(x), noise included; what of it lies outside the span of the walls
        makes the sign less certain. None leaves it out of account, as the paper does.
        """
        coordinates = self.version_space.space.coordinates(kernel_block)
        outside = None if own is None else np.maximum(own - _sum(coordinates**2), 1e-30)
        if not self.chains:
            return self._single_point(coordinates, outside)
        signed = np.ascontiguousarray(self.version_space.targets[:, None] * kernel_block)
        freedom = self.version_space.space.rank
        plus = np.zeros((len(self.chains), BATCHES + 1, signed.shape[1]))
        for chain, total in zip(self.chains, plus, strict=True):
            recorded = (*chain.seen_at(coordinates), self.chord, signed)
            if outside is None:
                followers.follow_signs(*recorded, total)
            else:
                followers.follow_residuals(*recorded, np.sqrt(freedom / outside), freedom, total)
        found = _summarise(plus[:, 1:], np.stack([chain.arcs for chain in self.chains]), self.ess)
        if outside is None:
            # Without a kernel value that is not 0, <w, phi(x)> is 0 in all of version space: for no class.
            found = replace(found, positive=np.where(kernel_block.any(axis=0), found.positive, 0.5))
        return found

    def _single_point(self, coordinates: np.ndarray, outside: np.ndarray | None) -> Shares:
        """One dimension: version space is a single point."""
        level = _sum(self.version_space.start[:, None] * coordinates)
        if outside is None:
            positive = np.where(level > 0, 1.0, np.where(level < 0, 0.0, 0.5))
        else:
            positive = student(1).cdf(level / np.sqrt(outside))
        return Shares(positive, np.zeros_like(positive), np.ones_like(positive), np.ones_like(positive))


def flight_bytes(bounces: int, burn_in: float) -> float:
    """About how much memory the flight of one version space takes."""
    return 1.05 * bounces * (1.0 + burn_in) * (6 * 8 + 4)


def play(version_space: VersionSpace, table: Table, seed: int) -> Flight:
    """Play billiard from the middle of a version space. The same seed gives the same flight."""
    chord = table.sampler == "chord"
    if version_space.space.rank == 1:
        return Flight(version_space, (), chord)
    seeds = np.random.SeedSequence(seed).generate_state(table.chains)
    each = max(-(-table.bounces // (table.chains * BATCHES)), 1)
    burn_in = int(np.ceil(table.burn_in * each * BATCHES))
    chains = tuple(_one_chain(version_space, table, int(one), each, burn_in) for one in seeds)
    return Flight(version_space, chains, chord)


def _one_chain(space: VersionSpace, table: Table, seed: int, each: int, burn_in: int) -> Chain:
    chord = table.sampler == "chord"
    walls = space.gram.shape[0]
    w, v = space.start.copy(), np.empty(space.space.rank)
    F, V = np.empty(walls), np.empty(walls)
    state, flown = np.array([-1, 0, 1]), np.zeros(2)
    kernels.start_chance(seed)
    kernels.draw_direction(w, v, not chord)
    refresh = np.inf if table.refresh is None else float(table.refresh)
    if not chord:
        flown[1] = kernels.draw_arc(refresh)
    own = w, v, F, V, state, flown
    walls_of = space.walls, space.walls_t, space.gram, space.squared

    def fly(bounces: int, *buffers) -> tuple[int, int, int]:
        if chord:
            return kernels.fly_chords(*walls_of, bounces, *own, *buffers)
        return kernels.fly_geodesics(*walls_of, bounces, refresh, _RENEW, *own, *buffers)

    return _record(fly, [burn_in, *[each] * BATCHES], space.walls.shape, flown if chord else None)


def _record(fly: Callable[..., tuple[int, int, int]], batches: list[int], shape, escapes) -> Chain:
    """Fly batch by batch, and keep what is written down. The first batch is the burn-in."""
    walls, rank = shape
    room = int(1.05 * sum(batches)) + 64
    steps, hit = np.empty((room, 6)), np.empty(room, np.int32)
    anchors, anchor_step = np.empty((64, 2, rank)), np.empty(64, np.int64)
    edges, centres, squares, total, moored = [0], [], [], 0, 0
    for bounces in batches:
        centre, square = np.zeros(rank), np.zeros(walls + 1)
        while bounces > 0:
            if total == len(steps):
                steps, hit = _longer(steps), _longer(hit)
            if moored == len(anchors):
                anchors, anchor_step = _longer(anchors), _longer(anchor_step)
            flown, dropped, done = fly(
                bounces, steps[total:], hit[total:], anchors[moored:], anchor_step[moored:], centre, square
            )
            anchor_step[moored : moored + dropped] += total
            total, moored, bounces = total + flown, moored + dropped, bounces - done
        edges.append(total)
        centres.append(centre)
        squares.append(square)
    arcs = [_in_order(steps[first:stop, 2]) for first, stop in zip(edges, edges[1:], strict=False)]
    return Chain(
        steps=steps[:total],
        hit=hit[:total],
        edges=np.array(edges),
        anchors=anchors[:moored].copy(),
        anchor_step=anchor_step[:moored].copy(),
        centres=np.array(centres[1:]),
        arcs=np.array(arcs[1:]),
        squares=np.sum(squares[1:], axis=0)[:-1] / np.sum(squares[1:], axis=0)[-1],
        escapes=0 if escapes is None else int(escapes[0]),
    )


def _longer(array: np.ndarray) -> np.ndarray:
    """The array with as much room again behind it."""
    return np.concatenate([array, np.empty_like(array)])


def _summarise(plus: np.ndarray, arcs: np.ndarray, agreed: float) -> Shares:
    """Shares out of positive arc lengths (chains, batches, m) and all lengths (chains, batches).

    R-hat compares the means of half chains with the variance p (1 - p) of a sign along the way, the limit of
    the usual formula for many draws. agreed: the effective sample size where the error is 0.
    """
    # Sums over the small axes only: each test example's are added in the same order whatever m is.
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
    return Shares(positive, error, np.sqrt(1.0 + spread), ess)


def _halves(integrals: np.ndarray, arcs: np.ndarray) -> np.ndarray:
    """(2 chains, m) means over the first and the second half of each chain."""
    split = arcs.shape[1] // 2
    return np.concatenate(
        [
            _sum(integrals[:, part].transpose(1, 0, 2)) / arcs[:, part].sum(axis=1)[:, None]
            for part in (slice(split), slice(split, None))
        ]
    )


def _standard_error(integrals: np.ndarray, arcs: np.ndarray) -> np.ndarray:
    """(m,) standard errors of sum(integrals) / sum(arcs), (chains, batches, m) over (chains, batches).

    That of a ratio of means over batches, times the root of their autocorrelation time: batches that are
    shorter than the flight's memory are not independent. Autocorrelations are those around the mean of all
    chains, added up in pairs of lags while the pairs are positive and fall (Geyer's initial monotone
    sequence; Vehtari et al. 2021, section 3.2), and never make the error smaller.
    """
    chains, batches = arcs.shape
    total = _sum(_sum(arcs[:, :, None]))
    rest = integrals - _sum(_sum(integrals)) / total * arcs[:, :, None]
    own = _sum(_sum(rest**2))
    time, least, going = np.zeros_like(own), np.full_like(own, np.inf), own > 0
    for lag in range(0, batches - 1, 2):
        pair = np.zeros_like(own)
        for shift in (lag, lag + 1):
            products = _sum(_sum(rest[:, : batches - shift] * rest[:, shift:]))
            pair += products * (batches / (batches - shift))
        going = going & (pair > 0)
        if not going.any():
            break
        least = np.where(going, np.minimum(least, pair), least)
        time += np.where(going, 2.0 * least, 0.0)
    time = np.divide(time, own, out=np.ones_like(own), where=own > 0) - 1.0
    count = chains * batches
    return np.sqrt(own * np.maximum(time, 1.0) * count / max(count - 1, 1)) / total


def _in_order(arcs: np.ndarray) -> float:
    """The sum, one by one as kernels add: an example that is positive all along has exactly all of it."""
    return float(np.add.accumulate(arcs)[-1]) if len(arcs) else 0.0


def _sum(values: np.ndarray) -> np.ndarray:
    """Sum over the first axis, one by one."""
    out = np.zeros(values.shape[1:])
    for value in values:
        out += value
    return out
