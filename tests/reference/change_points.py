"""Posterior of k by change points: the sum over all segmentations, one by one."""

from __future__ import annotations

import itertools
import math


def posterior(labels, groups, classes, change, prior):
    """(P(y = j) for each class, P(k) for k = 0 .. n) of labels (n,) from near to far.

    groups (n,): numbers of the groups of equal distances, in order. Place 0 is the test example, without a
    label. A segmentation is a set of changes between places t and t + 1, t = 0 .. n - 1, none inside a group.
    """
    n = len(labels)
    masses = [0.0] * (n + 1)
    for changes in itertools.product([False, True], repeat=n):
        if any(changes[t] and t > 0 and groups[t] == groups[t - 1] for t in range(n)):
            continue
        mass, segment = 1.0, []
        k = n
        for t in range(n):
            mass *= change if changes[t] else 1.0 - change
            if changes[t]:
                k = min(k, t)
                mass *= evidence(segment, classes, prior)
                segment = []
            segment.append(labels[t])
        masses[k] += mass * evidence(segment, classes, prior)
    total = sum(masses)
    masses = [mass / total for mass in masses]
    chances = [
        sum(mass * (prior + labels[:k].count(j)) / (classes * prior + k) for k, mass in enumerate(masses))
        for j in range(classes)
    ]
    return chances, masses


def evidence(segment, classes, prior):
    """Probability of the labels of one segment: Gamma(ca)/Gamma(ca + N) prod Gamma(a + n_j)/Gamma(a)."""
    found = math.gamma(classes * prior) / math.gamma(classes * prior + len(segment))
    for j in range(classes):
        found *= math.gamma(prior + segment.count(j)) / math.gamma(prior)
    return found
