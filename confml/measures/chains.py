"""Convergence of Markov chains: split R-hat, effective sample size, and warnings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

# Usual limits of convergence for several chains (Vehtari et al. 2021 ask for 1.01 and 100 per chain; at 1.05
# a posterior mean is off by about a third of its standard deviation).
RHAT_LIMIT = 1.05
ESS_LIMIT = 100.0


def split_rhat(draws) -> float:
    """Return the split R-hat (potential scale reduction) of (chains, draws) (Gelman et al. 2013, 11.4).

    1 for draws that are all equal, infinity for constant chains that differ, NaN for fewer than 4 draws per
    chain.
    """
    halves = _halves(draws)
    if halves is None:
        return float("nan")
    length = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean()
    between = length * halves.mean(axis=1).var(ddof=1)
    if within == 0.0:
        return 1.0 if np.ptp(halves) == 0.0 else float("inf")
    return float(np.sqrt(((length - 1) / length * within + between / length) / within))


def effective_sample_size(draws) -> float:
    """Return the effective sample size of (chains, draws) for the mean.

    Split chains, autocorrelations by Geyer's initial monotone sequence (Vehtari et al. 2021, equations 10
    to 13). The number of draws if all are equal; NaN for fewer than 4 draws per chain.
    """
    halves = _halves(draws)
    if halves is None:
        return float("nan")
    chains, length = halves.shape
    total = chains * length
    if np.ptp(halves) == 0.0:
        return float(total)
    within = halves.var(axis=1, ddof=1).mean()
    if within == 0.0:
        return chains / 2  # the limit of the formula below: a constant chain counts as one draw
    covariances = _autocovariances(halves).mean(axis=0)
    pooled = (length - 1) / length * within + halves.mean(axis=1).var(ddof=1)
    correlations = 1.0 - (within - covariances * length / (length - 1)) / pooled
    correlations[0] = 1.0
    pairs = correlations[: length - length % 2].reshape(-1, 2).sum(axis=1)
    sequence = initial_monotone_sequence(pairs)
    time = max(2.0 * sequence[sequence != 0.0].sum() - 1.0, 1.0 / np.log10(total))
    return float(total / time)


def initial_monotone_sequence(pairs: np.ndarray) -> np.ndarray:
    """Return Geyer's initial monotone sequence of an autocorrelation function, along the first axis.

    pairs: (t, ...) sums of the autocorrelations (or autocovariances) at lags 2i and 2i + 1, i = 0, 1, ...
    From the first sum that is not positive on, the sequence is 0; before that, no element is larger than the
    previous one.
    """
    positive = np.logical_and.accumulate(~(pairs <= 0.0), axis=0)
    return np.where(positive, np.minimum.accumulate(pairs, axis=0), 0.0)


@dataclass(frozen=True, eq=False)
class ChainDiagnostics:
    """Convergence diagnostics of the chains of one fit.

    traces: (chains, kept draws) of each quantity. acceptance: (chains,) acceptance rates after burn-in of
    each kind of move (NaN if none was proposed). rare: kinds of move that are expected to be accepted rarely.
    """

    traces: Mapping[str, np.ndarray]
    acceptance: Mapping[str, np.ndarray]
    rare: tuple[str, ...] = ()

    @cached_property
    def rhat(self) -> dict[str, float]:
        """R-hat of each quantity."""
        return {name: split_rhat(draws) for name, draws in self.traces.items()}

    @cached_property
    def ess(self) -> dict[str, float]:
        """Effective sample size of each quantity."""
        return {name: effective_sample_size(draws) for name, draws in self.traces.items()}

    @property
    def worst_rhat(self) -> float:
        """Largest R-hat of all quantities; NaN if one of them is NaN."""
        return float(np.max(list(self.rhat.values())))

    @property
    def least_ess(self) -> float:
        """Smallest effective sample size of all quantities; NaN if one of them is NaN."""
        return float(np.min(list(self.ess.values())))

    def summary(self, quantities: Sequence[str], points: int = 250) -> dict[str, Any]:
        """Return plain data for a report: traces of some quantities, R-hat, ESS and warnings.

        About ``points`` evenly spaced draws per chain are kept, to six digits.
        """
        traces = {name: self.traces[name] for name in quantities if name in self.traces}
        return {
            "traces": {
                name: [
                    [float(f"{value:.6g}") for value in chain] for chain in draws[:, :: _step(draws, points)]
                ]
                for name, draws in traces.items()
            },
            "every": {name: _step(draws, points) for name, draws in traces.items()},
            "rhat": {name: float(self.rhat[name]) for name in traces},
            "ess": {name: float(self.ess[name]) for name in traces},
            "worst_rhat": self.worst_rhat,
            "least_ess": self.least_ess,
            "warnings": list(self.warnings()),
        }

    def warnings(self) -> tuple[str, ...]:
        """Return one sentence for each problem; empty if the chains have converged."""
        problems = []
        if not np.isfinite(list(self.rhat.values())).all() and np.isnan(self.worst_rhat):
            problems.append(
                "too few draws were kept to say whether the chains have converged (at least 4 per chain)"
            )
        else:
            high = [name for name, value in self.rhat.items() if value > RHAT_LIMIT]
            if high:
                worst = max(high, key=self.rhat.__getitem__)
                problems.append(
                    f"the chains have not converged: R-hat is {self.rhat[worst]:.2f} for {worst}"
                    f"{_and_others(len(high) - 1)}, above the limit of {RHAT_LIMIT:g}"
                )
            low = [name for name, value in self.ess.items() if value < ESS_LIMIT]
            if low:
                worst = min(low, key=self.ess.__getitem__)
                problems.append(
                    f"the effective sample size is only {self.ess[worst]:.0f} for {worst}"
                    f"{_and_others(len(low) - 1)}, fewer than {ESS_LIMIT:g}"
                )
        chains = len(next(iter(self.traces.values())))
        if chains == 1:
            problems.append("convergence cannot be checked with one chain; use at least two")
        for move, rates in self.acceptance.items():
            rate = float(np.mean(rates))
            if rate < 0.01 and move not in self.rare:
                problems.append(f"only {100 * rate:.2g} % of the {move} moves were accepted")
        return tuple(problems)


def _step(draws: np.ndarray, points: int) -> int:
    return max(1, draws.shape[1] // points)


def _and_others(count: int) -> str:
    return "" if count == 0 else f" (and beyond the limit for {count} other{'s' * (count > 1)})"


def _halves(draws) -> np.ndarray | None:
    """Return (2 chains, half of the draws), or None for fewer than two draws per half."""
    draws = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    half = draws.shape[1] // 2
    if half < 2:
        return None
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _autocovariances(chains: np.ndarray) -> np.ndarray:
    """Return (chains, lags 0..n-1) biased autocovariances of each chain, by the Fourier transform."""
    length = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    size = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(centred, n=size, axis=1)
    return np.fft.irfft(spectrum * np.conj(spectrum), n=size, axis=1)[:, :length] / length
