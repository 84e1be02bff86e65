"""The graphical procedure with exact fractions, one path at a time."""

from fractions import Fraction


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
            for rest in budget:
                budget[rest] += freed / len(budget)
