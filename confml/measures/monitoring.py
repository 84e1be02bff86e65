"""Alarms of a change in a stream of examples, from the smoothed p-values of an online pass.

A martingale answers whether all examples so far are exchangeable, and needs long to notice a change after a
long quiet start. CUSUM and Shiryaev-Roberts statistics raise an alarm, start again after it, and without a
change raise one in at least c examples on average for the threshold c.

All bets are fixed before the p-value is seen, so for independent uniform p-values the capital S_t, which
starts at 1, is a martingale and reaches C with probability at most 1/C. Values are natural logarithms.

Sources: Vovk, Gammerman, Shafer, Algorithmic Learning in a Random World, 2nd ed. 2022, chapter 8; Volkhonskiy
et al., Inductive Conformal Martingales for Change-Point Detection, 2017.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

SLOPES = (-1.0, -0.5, 0.0, 0.5, 1.0)
JUMP, JUMPS = 0.01, (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
BINS = 10
_ROUNDING = 1e-12  # the first bet after a start has factor 1 up to rounding
# CUSUM threshold -> mean number of rows to an alarm without a change, for the simple jumper. Simulated: the
# proved bound is the threshold itself. p-values are uniform for any data, so this holds for every data set.
CUSUM_RUNS = {5: 1_000, 10: 2_500, 20: 5_500, 50: 14_000}


class Bettor(Protocol):
    """A sequence of bets against uniform p-values."""

    def bet(self, p: float) -> float:
        """Return ln(S_t / S_(t - 1)) for the next p-value."""


class SimpleJumper:
    """Bets 1 + b (p - 1/2) with slopes b; a fraction ``jump`` of the capital moves between them each time."""

    def __init__(self, jump: float = JUMP):
        self.jump = jump
        self._capital = [1.0 / len(SLOPES)] * len(SLOPES)  # of total 1: rescaled after each bet

    def bet(self, p: float) -> float:
        mixed = self.jump / len(SLOPES)
        new = [
            ((1.0 - self.jump) * capital + mixed) * (1.0 + slope * (p - 0.5))
            for capital, slope in zip(self._capital, SLOPES, strict=True)
        ]
        total = math.fsum(new)
        self._capital = [capital / total for capital in new]
        return math.log(total)


class CompositeJumper:
    """The mean capital of simple jumpers with `JUMPS`."""

    def __init__(self):
        self._jumpers = [SimpleJumper(jump) for jump in JUMPS]
        self._logs = np.zeros(len(JUMPS))

    def bet(self, p: float) -> float:
        before = np.logaddexp.reduce(self._logs)
        self._logs += [jumper.bet(p) for jumper in self._jumpers]
        return float(np.logaddexp.reduce(self._logs) - before)


class Histogram:
    """Bets the density of the earlier p-values, as a histogram of `BINS` bins with one more count each."""

    def __init__(self):
        self._counts = [1] * BINS

    def bet(self, p: float) -> float:
        cell = min(int(p * BINS), BINS - 1)
        share = self._counts[cell] / sum(self._counts)
        self._counts[cell] += 1
        return math.log(BINS * share)


BETTORS: dict[str, Callable[[], Bettor]] = {
    "simple-jumper": SimpleJumper,
    "composite-jumper": CompositeJumper,
    "histogram": Histogram,
}


class Alarm(NamedTuple):
    """An alarm after ``row`` p-values (counted from 1), with the estimate that the change came after row
    ``change_after``, and the natural logarithm of the statistic."""

    row: int
    change_after: int
    log_value: float


def log_martingale(p, bettor: Callable[[], Bettor] = SimpleJumper) -> np.ndarray:
    """Return (n,) ln S_t after each p-value (n,)."""
    strategy = bettor()
    return np.cumsum([strategy.bet(value) for value in _checked(p)])


def cusum_alarms(p, threshold: float, bettor: Callable[[], Bettor] = SimpleJumper) -> list[Alarm]:
    """Return the alarms of ``gamma_t = max(gamma_(t-1), 1) S_t / S_(t-1)`` at >= threshold.

    Without a change there is one in at least ``threshold`` rows on average; for simulated values of the
    simple jumper see `CUSUM_RUNS`. Everything starts again after an alarm.
    """
    return list(_alarms(p, threshold, bettor, lambda log, increment: max(log, 0.0) + increment))


def shiryaev_roberts_alarms(p, threshold: float, bettor: Callable[[], Bettor] = SimpleJumper) -> list[Alarm]:
    """Return the alarms of ``R_t = (R_(t-1) + 1) S_t / S_(t-1)`` at >= threshold.

    Without a change there is one in at least ``threshold`` rows on average, because R_t - t is a martingale.
    """
    return list(_alarms(p, threshold, bettor, lambda log, increment: _log_add_one(log) + increment))


def _alarms(
    p, threshold: float, bettor: Callable[[], Bettor], update: Callable[[float, float], float]
) -> Iterator[Alarm]:
    if not threshold > 1.0:
        raise ValueError(f"the threshold must be above 1, got {threshold}")
    limit = math.log(threshold)
    strategy, statistic = bettor(), -math.inf
    capital = lowest = 0.0  # ln S_i of the rows since the last alarm, and the smallest one before this row
    lowest_row = 0
    for row, value in enumerate(_checked(p), start=1):
        increment = strategy.bet(value)
        statistic = update(statistic, increment)
        if statistic >= limit:
            yield Alarm(row, lowest_row, statistic)
            strategy, statistic, capital, lowest, lowest_row = bettor(), -math.inf, 0.0, 0.0, row
            continue
        capital += increment
        if capital < lowest - _ROUNDING:
            lowest, lowest_row = capital, row


def _log_add_one(log: float) -> float:
    """Return ln(exp(log) + 1)."""
    return max(log, 0.0) + math.log1p(math.exp(-abs(log))) if log > -math.inf else 0.0


def _checked(p) -> list[float]:
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 1 or not np.all((p >= 0.0) & (p <= 1.0)):
        raise ValueError("p-values must be numbers between 0 and 1 of shape (n,)")
    return p.tolist()
