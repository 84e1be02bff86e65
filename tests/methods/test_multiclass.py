"""Two-class machines put together: problems, votes, probabilities and errors, by hand and by simulation."""

import itertools

import numpy as np
import pytest

from confml.methods.multiclass import (
    class_errors,
    class_probabilities,
    decision_scores,
    vote_scores,
)


def literal_sums(second, first, classes):
    """The sums over each class's pairs, added pair by pair."""
    sums = np.zeros((len(second), classes))
    for place, (a, b) in enumerate(itertools.combinations(range(classes), 2)):
        sums[:, a] += first[:, place]
        sums[:, b] += second[:, place]
    return sums


def some_values(rng, rows, pairs):
    """Decision values of very different sizes, with zeros of both signs and equal numbers."""
    values = rng.normal(size=(rows, pairs)) * 10.0 ** rng.integers(-12, 12, (rows, pairs))
    values[rng.random(values.shape) < 0.3] = 0.0
    values[rng.random(values.shape) < 0.1] = -0.0
    values[::5] = rng.integers(-1, 2, values[::5].shape)
    return values


@pytest.mark.parametrize("classes", [2, 3, 4, 7, 26])
@pytest.mark.parametrize("rows", [0, 1, 60])
def test_votes_and_sums_have_the_bytes_of_literal_ones(classes, rows):
    rng = np.random.default_rng(classes)
    values = some_values(rng, rows, classes * (classes - 1) // 2)
    for_second = (np.sign(values) + 1) / 2
    votes = literal_sums(for_second, 1 - for_second, classes)
    sums = literal_sums(values, -values, classes)
    winners = [max(range(classes), key=lambda j, i=i: (votes[i, j], sums[i, j], -j)) for i in range(rows)]
    for array in (values, np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2]):
        array.flags.writeable = False
        shares, labels = vote_scores(array, classes)
        assert shares.tobytes() == (votes / values.shape[1]).tobytes()
        assert labels.tolist() == winners
        scores = decision_scores(array, classes, "ovo")
        expected = sums / (classes - 1) if classes > 2 else np.hstack([-values, values]) / 2
        assert np.array_equal(scores, expected)
    assert np.array_equal(decision_scores(values, classes, "ovr"), values) or classes == 2


@pytest.mark.parametrize("classes, machines", [(3, 3), (2, 1)])
def test_errors_by_simulation(classes, machines):
    rng = np.random.default_rng(2)
    positive, errors = rng.uniform(0.2, 0.8, machines), rng.uniform(0.002, 0.01, machines)
    draws = positive + errors * rng.normal(size=(200_000, machines))
    expected = class_probabilities(draws, classes).std(axis=0)
    got = class_errors(positive[None], errors[None], classes)[0]
    np.testing.assert_allclose(got, expected, rtol=0.02)
