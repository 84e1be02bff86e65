"""Repeated estimates on made Gaussian data."""

from __future__ import annotations

import numpy as np
import pytest

from confml.bayes_error.trials import gaussian_trials
from confml.errors import ConfigError


def test_trials_are_the_estimates_of_the_library_and_independent_of_jobs():
    found = gaussian_trials([0.5, 0.2], [0.0, 2.0], [1, 3], rows=60, trials=4, seed=3)
    assert found.estimate.shape == (2, 2, 2, 4)
    alone = gaussian_trials([0.2], [2.0], [3], rows=60, trials=2, seed=3, jobs=2)
    np.testing.assert_array_equal(alone.estimate[0, 0, 0], found.estimate[1, 1, 1, :2])
    assert found.truth[0, 0] == 0.5 and found.truth[1, 0] == pytest.approx(0.2)
    assert (found.uncorrected >= found.estimate - 1e-12).all()
    assert (found.bhattacharyya >= found.truth - 1e-12).all()
    with pytest.raises(ConfigError, match="fewer than 2 rows"):
        gaussian_trials([0.01], [1.0], [1], rows=60, trials=2)
    with pytest.raises(ConfigError, match="finite"):
        gaussian_trials([0.5], [np.nan], [1], rows=60, trials=2)
    with pytest.raises(ConfigError, match="orthogonal"):
        gaussian_trials([0.5], [1.0], [5], rows=4, trials=2)
