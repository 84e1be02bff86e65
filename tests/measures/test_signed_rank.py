"""The Bayesian signed-rank test against a literal version, and its limits."""

import numpy as np
import pytest

from confml.measures.ranks import DRAWS, PRIOR_STRENGTH, signed_rank


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


def test_it_is_symmetric_and_repeats():
    differences = np.array([0.03, 0.05, -0.01, 0.02, 0.04, 0.08])
    one, other = signed_rank(differences), signed_rank(-differences)
    assert one[:3] == other[:3][::-1]
    assert one == signed_rank(differences) and one != signed_rank(differences, seed=1)
    assert signed_rank(differences, seed=1)[:3] == pytest.approx(one[:3], abs=5 / DRAWS**0.5)


def test_clear_differences():
    assert signed_rank([0.2] * 12).first_larger > 0.999
    assert signed_rank([-0.2] * 12).second_larger > 0.999
    assert signed_rank([0.001, -0.002, 0.0, 0.003] * 3).equivalent == 1.0
    assert signed_rank([0.0, 0.0], rope=0.0).equivalent == 1.0
    wide = signed_rank([0.2, 0.3, 0.1], rope=1.0)
    assert wide.equivalent == 1.0 and wide.rope == 1.0


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
