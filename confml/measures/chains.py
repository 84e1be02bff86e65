"""Has a set of Markov chains converged? Split R-hat, effective sample size, and both in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Limits for "converged", as usual for several chains (Vehtari et al. 2021 ask for 1.01 and 100 a chain;
# 1.05 is where a posterior mean is off by about a third of its standard deviation).
RHAT_LIMIT = 1.05
ESS_LIMIT = 100.0


def split_rhat(draws) -> float:
    """Return the potential scale reduction of (chains, draws) with split chains (Gelman et al. 2013, 11.4).

    It is 1 if all draws are equal, infinity if each chain is constant and the chains differ, and NaN if there
    are fewer than 4 draws per chain.
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
    """Return the number of independent draws with the same standard error of the mean as (chains, draws).

    Chains are split, and autocorrelations are summed by Geyer's initial monotone sequence (Vehtari et al.
    2021, equations 10 to 13). It is the number of draws if all draws are equal, and NaN if there are fewer
    than 4 draws per chain.
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
        return chains / 2  # limit of the formula below: a chain that never moves is worth one draw
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
    """What several chains of one fit say about themselves.

    traces: by quantity, (chains, kept draws). rhat, ess: by quantity. acceptance: by kind of move, (chains,)
    shares of proposals accepted after burn-in (NaN where none was made). rare: kinds of move that are there
    to be accepted now and then only.
    """

    traces: Mapping[str, np.ndarray]
    rhat: Mapping[str, float]
    ess: Mapping[str, float]
    acceptance: Mapping[str, np.ndarray]
    rare: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        traces: Mapping[str, np.ndarray],
        acceptance: Mapping[str, np.ndarray],
        rare: tuple[str, ...] = (),
    ) -> ChainDiagnostics:
        rhat = {name: split_rhat(draws) for name, draws in traces.items()}
        ess = {name: effective_sample_size(draws) for name, draws in traces.items()}
        return cls(dict(traces), rhat, ess, dict(acceptance), rare)

    @property
    def worst_rhat(self) -> float:
        """The largest R-hat of all quantities; NaN if it is not known for one of them."""
        return float(np.max(list(self.rhat.values())))

    @property
    def least_ess(self) -> float:
        """The smallest effective sample size of all quantities; NaN if it is not known for one of them."""
        return float(np.min(list(self.ess.values())))

    def summary(self, quantities: Sequence[str], points: int = 250) -> dict[str, Any]:
        """What a report keeps, as plain data: the traces of some quantities, R-hat, ESS, the warnings.

        Of each chain about ``points`` draws are kept, evenly spaced, to six digits: enough for a figure.
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
        """What is wrong, in words; empty where nothing is."""
        found = []
        if not np.isfinite(list(self.rhat.values())).all() and np.isnan(self.worst_rhat):
            found.append(
                "too few draws were kept to say whether the chains have converged (4 a chain at least)"
            )
        else:
            high = [name for name, value in self.rhat.items() if value > RHAT_LIMIT]
            if high:
                worst = max(high, key=lambda name: self.rhat[name])
                found.append(
                    f"the chains have not converged: R-hat is {self.rhat[worst]:.2f} for {worst}"
                    f"{_and_others(len(high) - 1)}, where {RHAT_LIMIT:g} is the most that can be trusted"
                )
            low = [name for name, value in self.ess.items() if value < ESS_LIMIT]
            if low:
                worst = min(low, key=lambda name: self.ess[name])
                found.append(
                    f"the effective sample size is {self.ess[worst]:.0f} for {worst}"
                    f"{_and_others(len(low) - 1)}, less than {ESS_LIMIT:g}"
                )
        chains = len(next(iter(self.traces.values())))
        if chains == 1:
            found.append("one chain cannot show whether it is stuck: use several")
        for move, rates in self.acceptance.items():
            rate = float(np.mean(rates))
            if rate < 0.01 and move not in self.rare:
                found.append(f"only {100 * rate:.2g} % of the {move} moves were accepted")
        return tuple(found)


def _step(draws: np.ndarray, points: int) -> int:
    return max(1, draws.shape[1] // points)


def _and_others(count: int) -> str:
    return "" if count == 0 else f" (and beyond the limit for {count} other{'s' * (count > 1)})"


def _halves(draws) -> np.ndarray | None:
    """(2 chains, half of the draws), or None for fewer than two draws a half."""
    draws = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    half = draws.shape[1] // 2
    if half < 2:
        return None
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _autocovariances(chains: np.ndarray) -> np.ndarray:
    """(chains, lags 0..n-1) biased autocovariances of each chain, by the Fourier transform."""
    length = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    size = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(centred, n=size, axis=1)
    return np.fft.irfft(spectrum * np.conj(spectrum), n=size, axis=1)[:, :length] / length
