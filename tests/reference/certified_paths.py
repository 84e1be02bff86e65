"""The test of a risk and the graphical procedure, with exact fractions and one path at a time."""

from __future__ import annotations

import math
from fractions import Fraction


def binomial(errors, accepted, risk):
    """P(Bin(accepted, risk) <= errors) as a sum of exact fractions of the double ``risk``."""
    r = Fraction(risk)
    terms = (math.comb(accepted, e) * r**e * (1 - r) ** (accepted - e) for e in range(errors + 1))
    return float(sum(terms)) if accepted else 1.0


def paths(p_values, delta, order):
    """Number of certified points of each path. order(able) picks which path that can move does so."""
    budget = {name: Fraction(delta) / len(p_values) for name in range(len(p_values))}
    at = dict.fromkeys(budget, 0)
    while True:
        able = [name for name in budget if Fraction(p_values[name][at[name]]) <= budget[name]]
        if not able:
            return [at[name] for name in sorted(at)]
        name = order(able)
        at[name] += 1
        if at[name] == len(p_values[name]):
            freed = budget.pop(name)
            for other in budget:
                budget[other] += freed / len(budget)
