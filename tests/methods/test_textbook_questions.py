"""Exercises and thought experiments of Kubat's chapters 2 and 4 that need no data set."""

import itertools

import numpy as np
import pytest
from scipy.stats import multinomial
from sklearn.datasets import load_iris

from confml import KNN
from confml.methods.linear.perceptron import Perceptron, learn
from confml.methods.linear.polynomial import Polynomial, number_of_weights
from confml.methods.linear.winnow import Winnow
from confml.methods.naive_bayes import m_estimate

# ---- chapter 2, thought experiment 1


def two_levels(counts, m_first, m_rest):
    """Estimate A against the other outcomes, and B against C, with a weight of the prior each."""
    first = m_estimate(counts[0], sum(counts), m_first, 1 / 3)
    second = m_estimate(counts[1], sum(counts[1:]), m_rest, 1 / 2)
    return np.array([first, (1 - first) * second, (1 - first) * (1 - second)])


@pytest.mark.parametrize("counts", [(0, 0, 4), (3, 2, 1), (1, 7, 2)])
@pytest.mark.parametrize("m", [0.5, 3, 12])
def test_one_m_is_the_case_of_two_levels_in_proportion_to_the_priors(counts, m):
    estimates = [m_estimate(count, sum(counts), m, 1 / 3) for count in counts]
    np.testing.assert_allclose(two_levels(counts, m, 2 * m / 3), estimates, atol=1e-15)


def test_two_weights_of_the_prior_suit_an_expectation_that_is_certain_for_one_outcome():
    """Mean squared errors over all outcomes of 10 tosses: A has the expected probability, B and C not."""
    truth, tosses = np.array([1 / 3, 17 / 30, 1 / 10]), 10
    estimates = {
        "m = 0": lambda counts: counts / tosses,
        "m = 3": lambda counts: (counts + 1) / (tosses + 3),
        "m = 30": lambda counts: (counts + 10) / (tosses + 30),
        "two": lambda counts: two_levels(counts, 30, 1),
    }
    errors = dict.fromkeys(estimates, 0.0)
    for first, second in itertools.product(range(tosses + 1), repeat=2):
        if first + second <= tosses:
            counts = np.array([first, second, tosses - first - second])
            share = multinomial.pmf(counts, tosses, truth)
            for name, estimate in estimates.items():
                errors[name] += share * np.sum((estimate(counts) - truth) ** 2)
    rounded = {name: f"{error:.4f}" for name, error in errors.items()}
    assert rounded == {"m = 0": "0.0558", "m = 3": "0.0388", "m = 30": "0.0647", "two": "0.0177"}


# ---- chapter 4, exercises 1 to 4

CUBE = {n: np.array(list(itertools.product([0.0, 1.0], repeat=n))) for n in (5, 6)}


def test_exercise_1_at_least_two_of_five_is_linear():
    positive = CUBE[5].sum(axis=1) >= 2
    np.testing.assert_array_equal(-1.5 + CUBE[5].sum(axis=1) > 0, positive)
    assert Perceptron(random_state=0, epochs=1000).fit(CUBE[5], positive.astype(int)).training_error_ == 0


def test_exercise_1_three_to_five_of_six_is_not_linear():
    """Three, and six, of the attributes true: a plane that is positive for all threes is positive for six."""
    shaded = CUBE[6].sum(axis=1)
    positive = (shaded >= 3) & (shaded <= 5)
    assert Perceptron(random_state=0, epochs=3000).fit(CUBE[6], positive.astype(int)).training_error_ > 0
    # Two linear classifiers, or one of second order, do it.
    np.testing.assert_array_equal((shaded - 2.5 > 0) & (5.5 - shaded > 0), positive)
    assert Polynomial(2, C=1e6).fit(CUBE[6], positive.astype(int)).learner_.training_error_ == 0
    # The vertices with three ones have the mean of those without ones and with six, which are negative.
    np.testing.assert_allclose(
        CUBE[6][shaded == 3].mean(axis=0), (CUBE[6][shaded == 0] + CUBE[6][shaded == 6])[0] / 2
    )


@pytest.mark.parametrize(
    ("start", "rate", "weights", "epochs"),
    [
        ([0.1, 0.3, 0.4], 0.5, [-0.4, 0.3, 0.9], 1),
        ([0.1, 0.3, 0.4], 0.1, [-0.1, 0.1, 0.4], 2),
        ([0.2, -0.1, 0.1], 0.5, [-0.3, -0.1, 0.6], 1),
        ([0.2, -0.1, 0.1], 0.1, [0, -0.1, 0.2], 2),
    ],
)
def test_exercise_2_table_4_2_by_hand(start, rate, weights, epochs):
    X, targets = np.array([[1.0, 0], [1, 1], [0, 0]]), np.array([0.0, 1, 0])
    rows_with_1, literal = np.column_stack([np.ones(3), X]), np.array(start)
    for _ in range(epochs):
        assert ((rows_with_1 @ literal > 0) != targets).any()
        for row, target in zip(rows_with_1, targets, strict=True):
            literal = literal + rate * (target - float(row @ literal > 0)) * row
    np.testing.assert_allclose(literal, weights, atol=1e-12)
    learnt = learn(X, targets, np.array(start), rate, 100)
    np.testing.assert_allclose(learnt.weights, weights, atol=1e-12)
    assert learnt.epochs == epochs


@pytest.mark.parametrize(
    ("alpha", "weights", "presentations"),
    [
        (2, [1, 2, 1, 1 / 2], 2),
        (1.5, [1, 1.5, 1, 1 / 1.5], 2),
        (1.1, [1 / 1.1, 1, 1 / 1.1, 1 / 1.1**2], 3),
    ],
)
def test_exercise_3_winnow_with_opposite_attributes(alpha, weights, presentations):
    """Weights of x1, x2 and their opposites, with the threshold 2 - 0.1."""
    X, y = np.array([[1.0, 0], [1, 1], [0, 0]]), np.array([0, 1, 0])
    fitted = Winnow(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(fitted.weights_, [[-1.9, *weights]])
    assert fitted.training_error_ == 0 and fitted.fit_metrics_["presentations"] == presentations


def test_exercise_4_a_third_order_polynomial_has_ten_weights_and_seven_multipliers():
    assert number_of_weights(2, 3) == 10 == 1 + 2 + len(["11", "12", "22", "111", "112", "122", "222"])


# ---- chapter 4, thought experiment 2


@pytest.mark.parametrize("n", [2, 7])
def test_thought_2_1_nn_on_a_pair_is_linear(n):
    (p, q), new = np.random.default_rng(n).random((2, n)), np.random.default_rng(1).random((500, n))
    np.testing.assert_array_equal(KNN(1).fit([q, p], [0, 1]).predict(new), (new - (p + q) / 2) @ (p - q) > 0)


def test_thought_2_the_best_of_all_pairs():
    """1-NN on a pair, one example of a class and one of the others, is linear: errors of the best pair."""
    X, species = load_iris(return_X_y=True)
    errors = []
    for label in range(3):
        y = (species == label).astype(int)
        pairs = (np.array(pair) for pair in itertools.product(X[y == 0], X[y == 1]))
        nearer = [((X[:, None] - pair) ** 2).sum(axis=2).argmin(axis=1) for pair in pairs]
        learnt = Perceptron(random_state=0, epochs=2000).fit(X, y).training_error_ * len(y)
        errors.append((min(np.sum(labels != y) for labels in nearer), round(learnt)))
    assert errors == [(0, 0), (37, 49), (2, 2)]  # setosa, versicolor, which no plane separates, virginica
