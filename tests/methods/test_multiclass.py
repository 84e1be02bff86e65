"""Two-class machines put together: problems, votes, probabilities and errors, by hand and by simulation."""

import numpy as np
import pytest

from confml.methods.multiclass import (
    class_errors,
    class_probabilities,
    decision_scores,
    vote_scores,
)


def test_votes_and_sums_by_hand():
    """Pairs (0, 1), (0, 2), (1, 2): equal votes go to the larger sum, then to the first class; 0 is a tie."""
    values = np.array([[-1.0, 2.0, -3.0], [-1.0, 1.0, -1.0], [0.0, -1.0, -1.0]])
    shares, labels = vote_scores(values, 3)
    np.testing.assert_array_equal(shares, np.array([[1, 1, 1], [1, 1, 1], [1.5, 1.5, 0]]) / 3)
    assert labels.tolist() == [1, 0, 0]
    sums = decision_scores(values, 3, "ovo") * 2
    np.testing.assert_array_equal(sums, [[-1, 2, -1], [0, 0, 0], [1, 1, -2]])


@pytest.mark.parametrize("classes, machines", [(3, 3), (2, 1)])
def test_errors_by_simulation(classes, machines):
    rng = np.random.default_rng(2)
    positive, errors = rng.uniform(0.2, 0.8, machines), rng.uniform(0.002, 0.01, machines)
    draws = positive + errors * rng.normal(size=(200_000, machines))
    expected = class_probabilities(draws, classes).std(axis=0)
    got = class_errors(positive[None], errors[None], classes)[0]
    np.testing.assert_allclose(got, expected, rtol=0.02)
