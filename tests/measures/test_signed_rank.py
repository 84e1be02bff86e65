"""The Bayesian signed-rank test against a literal version, and its limits."""

import numpy as np
import pytest

from confml.measures.ranks import PRIOR_STRENGTH, signed_rank


def literal(differences, rope, draws, seed):
    """Loop over draws of Dirichlet weights and over all pairs of differences."""
    values = [0.0, *differences]
    rng = np.random.default_rng(seed)
    wins = [0.0, 0.0, 0.0]
    for weights in rng.dirichlet([PRIOR_STRENGTH] + [1.0] * len(differences), draws):
        mass = [0.0, 0.0, 0.0]
        for one, w in zip(values, weights, strict=True):
            for other, v in zip(values, weights, strict=True):
                average = (one + other) / 2
                side = 0 if average > rope + 1e-12 else 2 if average < -rope - 1e-12 else 1
                mass[side] += w * v
        best = [place for place in range(3) if mass[place] >= max(mass) - 1e-12]
        for place in best:
            wins[place] += 1 / len(best)
    return [win / draws for win in wins]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rope", [0.0, 0.01, 0.1])
def test_it_equals_the_literal_version(seed, rope):
    rng = np.random.default_rng(seed)
    differences = np.round(rng.normal(0.02, 0.05, int(rng.integers(1, 8))), 2)  # ties and zeros
    found = signed_rank(differences, rope, draws=300, seed=seed)
    expected = literal(differences.tolist(), rope, 300, seed)
    assert found[:3] == pytest.approx(expected, abs=1e-12)
    assert sum(found[:3]) == pytest.approx(1) and found.cases == len(differences)


def test_blocks_do_not_change_the_result(monkeypatch):
    differences = np.linspace(-0.1, 0.2, 9)
    whole = signed_rank(differences, draws=500)
    monkeypatch.setattr("confml.measures.ranks._BLOCK", 70)
    assert signed_rank(differences, draws=500) == whole


@pytest.mark.parametrize("wrong", [[], [[1.0]], [np.nan], [np.inf]])
def test_wrong_differences(wrong):
    with pytest.raises(ValueError, match="differences must be"):
        signed_rank(wrong)
    with pytest.raises(ValueError, match="rope must be"):
        signed_rank([0.1], rope=-0.1)
