"""Bayesian signed-rank test with a region of practical equivalence (Benavoli et al., JMLR 18, 2017)."""

from typing import NamedTuple

import numpy as np

DRAWS = 50_000
PRIOR_STRENGTH = 1.0
_BLOCK = 2_000_000  # numbers per block of draws


class SignedRank(NamedTuple):
    """Posterior probabilities that the first is larger, that both are equivalent, that the second is larger.

    Each is the probability that the statement has the largest mass. cases: number of differences. rope: half
    of the width of the region of practical equivalence.
    """

    first_larger: float
    equivalent: float
    second_larger: float
    cases: int
    rope: float


def signed_rank(differences, rope: float = 0.01, draws: int = DRAWS, seed: int = 0) -> SignedRank:
    """Return the Bayesian signed-rank test of differences (n,), first minus second, one per case.

    The weights of the differences, and of one pseudo-difference of 0 with prior strength 1, have a Dirichlet
    posterior. A draw of the weights w gives the masses of the Walsh averages above ``rope``, within it, and
    below ``-rope``: sum of w_i w_j over all pairs with (z_i + z_j) / 2 there. The result is the fraction of
    draws in which each mass is the largest; tied largest masses count in equal parts. The same ``seed`` gives
    the same result. Raises ValueError for differences that are not finite or a negative rope.
    """
    z = np.asarray(differences, dtype=np.float64)
    if z.ndim != 1 or not len(z) or not np.isfinite(z).all():
        raise ValueError(f"differences must be a nonempty list of finite numbers, got shape {z.shape}")
    if not rope >= 0.0 or not np.isfinite(rope):
        raise ValueError(f"rope must be a finite number of at least 0, got {rope}")
    values = np.concatenate([[0.0], z])
    alpha = np.concatenate([[PRIOR_STRENGTH], np.ones(len(z))])
    averages = 0.5 * (values[:, None] + values[None, :])
    # Rounding must not move an average across an end of the region.
    margin = 1e-12 * max(1.0, float(np.abs(values).max()))
    above, below = averages > rope + margin, averages < -rope - margin
    rng = np.random.default_rng(seed)
    counts = np.zeros(3)
    block = max(1, min(draws, _BLOCK // len(values)))
    for start in range(0, draws, block):
        weights = rng.dirichlet(alpha, min(block, draws - start))
        larger = np.einsum("di,ij,dj->d", weights, above, weights, optimize=True)
        smaller = np.einsum("di,ij,dj->d", weights, below, weights, optimize=True)
        masses = np.column_stack([larger, 1.0 - larger - smaller, smaller])
        largest = masses >= masses.max(axis=1, keepdims=True) - 1e-12
        counts += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    first, same, second = (counts / draws).tolist()
    return SignedRank(first, same, second, len(z), float(rope))
