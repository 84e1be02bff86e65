"""Martingales and statistics of change as products and maxima of their definitions."""

import math

SLOPES = (-1, -0.5, 0, 0.5, 1)


def simple_jumper(p, jump=0.01):
    """S_0, S_1, ..., S_n."""
    capital, path = [1 / 5] * 5, [1.0]
    for value in p:
        total = sum(capital)
        capital = [
            ((1 - jump) * c + jump * total / 5) * (1 + b * (value - 0.5))
            for c, b in zip(capital, SLOPES, strict=True)
        ]
        path.append(sum(capital))
    return path


def composite_jumper(p):
    paths = [simple_jumper(p, jump) for jump in (1e-4, 1e-3, 1e-2, 1e-1, 1)]
    return [sum(values) / 5 for values in zip(*paths, strict=True)]


def histogram(p, bins=10):
    path, capital = [1.0], 1.0
    for t, value in enumerate(p, start=1):
        bin_of = min(int(value * bins), bins - 1)
        before = sum(min(int(earlier * bins), bins - 1) == bin_of for earlier in p[: t - 1])
        capital *= bins * (before + 1) / (t - 1 + bins)
        path.append(capital)
    return path


def cusum(S):
    """max over i < t of S_t / S_i, for t = 1, 2, ..., and minus the first i of it (up to rounding)."""
    return [
        (max(S[t] / S[i] for i in range(t)), max((round(-math.log(S[i]), 11), -i) for i in range(t))[1])
        for t in range(1, len(S))
    ]


def shiryaev_roberts(S):
    """Sum over i < t of S_t / S_i."""
    return [sum(S[t] / S[i] for i in range(t)) for t in range(1, len(S))]


def alarms(p, threshold, kind):
    """(row, change after) of each alarm; everything starts again after one."""
    alarm_rows, start = [], 0
    while True:
        S = simple_jumper(p[start:])
        sums, largest = shiryaev_roberts(S), cusum(S)
        values = [value for value, _ in largest] if kind == "cusum" else sums
        at = next((t for t, value in enumerate(values) if value >= threshold), None)
        if at is None:
            return alarm_rows
        alarm_rows.append((start + at + 1, start - largest[at][1]))
        start += at + 1
