"""Comparison of models on a table of outcomes: false differences, intervals, detectable difference."""

from __future__ import annotations

import functools

import numpy as np
from _entries import AT_LEAST, MEASURED, Claim, Entry, grid
from scipy.special import ndtri

from confml.data.outcomes import TaskOutcomes
from confml.report.answers.outcomes import TaskComparison

OWN = 0.3  # share of the variance that a model has to itself, by item, or by group if there are groups


def compared(rng, gap, models, items, right=0.0, seeds=1, groups=0, unequal=False):
    """Return the comparison of models of which the last one is worse by ``gap``.

    Difficulty is shared by the models. right: share of right answers of the others; 0 for scores. groups: of
    equal size, or in fixed Pareto proportions if ``unequal``, in which a model is better or worse altogether.
    """
    shares = np.random.default_rng(groups + 4).pareto(1.2, groups) + 0.1 if unequal else np.ones(groups)
    ends = np.cumsum(shares) / shares.sum() if groups else np.ones(1)
    group = np.searchsorted(ends, (np.arange(items) + 0.5) / items) if groups else None
    alone = rng.normal(size=(models, items)) if group is None else rng.normal(size=(models, groups))[:, group]
    ability = np.sqrt(0.3) * rng.normal(size=items) + np.sqrt(OWN) * alone
    splits = []
    for _ in range(seeds):
        scores = ability + np.sqrt(0.7 - OWN) * rng.normal(size=(models, items))
        if right:
            rates = np.append(np.full(models - 1, right), right - gap)
            scores = (scores < ndtri(rates)[:, None]).astype(float)
        else:
            scores[-1] -= gap
        splits.append((np.arange(items), scores))
    return TaskComparison.of(TaskOutcomes("", list(map(str, range(models))), splits, group, []))


@functools.cache
def stated_difference(**setting):
    """Return the difference that tables of equal models state as detectable, at most the share of right."""
    rng = np.random.default_rng(0)
    draws = 100 if "groups" in setting else 25
    drawn = [compared(rng, 0.0, **setting) for _ in range(draws)]
    values = [abs(task.sign) * task.comparison.detectable for task in drawn]
    gap = float(np.median([value for value in values if np.isfinite(value)] or [np.inf]))
    return min(gap, 0.98 * setting["right"]) if "right" in setting else gap


def outcomes(rng, **setting):
    """Any significant difference of equal models; an interval from the best one without the true difference;
    whether a model that is worse by the stated difference is found."""
    equal = compared(rng, 0.0, **setting).comparison
    gap = stated_difference(**setting)
    task = compared(rng, gap, **setting)
    shifted = task.comparison
    true = np.append(np.zeros(setting["models"] - 1), gap / abs(task.sign))  # losses, in their unit
    true = true - true[int(shifted.best[0])]
    ends = np.array([difference.interval(shifted.pairs) for difference in shifted.differences]).T
    missed = (true < ends[0] - 1e-12) | (true > ends[1] + 1e-12)
    return [bool((equal.corrected < 0.05).any()), bool(missed.any()), shifted.corrected[0, -1] < 0.05]


def claims(setting):
    # With few groups, or very different ones, one table states much more or less than another.
    few = 0 < setting.get("groups", 0) < 20 or setting.get("unequal", False)
    return [
        Claim("any difference of equal models is significant", 0.05),
        Claim("any simultaneous interval from the best model misses", 0.05),
        Claim("stated difference is found", 0.0 if few else 0.75, MEASURED if few else AT_LEAST, True),
    ]


SIZES = [*grid(models=(2, 5), items=(50, 200, 1000, 5000)), *grid(models=20, items=(200, 1000))]
SEEDS = [(2, 100, 2), (2, 200, 5), (5, 500, 5), (20, 500, 3)]
GROUPS = [(2, 500, 5), (2, 500, 10), (5, 500, 10), (5, 500, 20), (5, 2000, 200)]
UNEQUAL = [(2, 500, 10), (2, 500, 20), (5, 500, 50), (20, 1000, 50), (2, 2000, 30)]
DESIGNS = [  # 40 of them
    *grid(SIZES, right=(0.9, 0.6)),
    *grid(models=100, items=(500, 2000), right=0.8),
    *({"models": m, "items": n, "right": 0.8, "seeds": seeds} for m, n, seeds in SEEDS),
    *({"models": m, "items": n, "right": 0.7, "groups": g} for m, n, g in GROUPS),
    *({"models": m, "items": n, "right": 0.7, "groups": g, "unequal": True} for m, n, g in UNEQUAL),
    *({"models": models, "items": items} for models, items in ((2, 100), (5, 500), (20, 500))),
    {"models": 5, "items": 500, "groups": 50},
]
ENTRIES = (
    Entry("outcomes", "differences of models, confml compare of a table of outcomes",
          "significant at 5 % after Holm's correction over all pairs; simultaneous 95 % intervals; "
          "80 % power at the stated difference", DESIGNS, claims, outcomes, fraction=0.04),
)  # fmt: skip
