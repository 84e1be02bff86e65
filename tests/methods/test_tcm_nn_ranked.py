"""Sorted alphas with waiting changes against counts of a plain list."""

from __future__ import annotations

import numpy as np
import pytest

from confml.methods.tcm_nn import _kernels_ranked as kernels


@pytest.mark.parametrize("groups", [1, 3])
def test_counts_before_and_after_merging(groups):
    rng = np.random.default_rng(groups)
    plain: list[list[list[float]]] = [[[] for _ in range(groups)] for _ in range(2)]
    ranked, first, size = np.empty((2, 300)), np.arange(groups) * (300 // groups), np.zeros(groups, np.int64)
    removed, added, of = np.empty((2, 16)), np.empty((2, 16)), np.empty(16, np.int64)
    arrays = kernels.Ranked(ranked, first, size, removed, added, of)
    waiting = 0
    values = np.array([0.0, 0.5, 1.0, 1.0, 2.0, np.inf])
    for _ in range(90):
        group = int(rng.integers(groups))
        of[waiting] = group
        number = len(plain[0][group])
        leaves = number > 2 and rng.random() < 0.6
        which = int(rng.integers(number)) if leaves else -1
        for q in range(2):
            removed[q, waiting] = plain[q][group].pop(which) if leaves else -np.inf
            added[q, waiting] = rng.choice(values)
            plain[q][group].append(float(added[q, waiting]))
        waiting += 1
        if waiting == 16:
            kernels.merge(arrays, waiting)
            waiting = 0
            for q in range(2):
                for g in range(groups):
                    assert ranked[q, first[g] : first[g] + size[g]].tolist() == sorted(plain[q][g])
        for q in range(2):
            for alpha in (0.0, 0.7, 1.0, 2.0, np.inf):
                found = kernels.count(arrays, waiting, group, q, alpha)
                own = np.array(plain[q][group])
                assert found == (np.sum(own > alpha), np.sum(own == alpha))
