"""The classical classifiers: worked numbers of Kubat's book, recomputed, and properties of their rules."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from trials import SIGNS, TABLE_3_7

from confml import KNN
from confml.data import load
from confml.methods.knn.weighted_knn import WeightedKNN
from confml.methods.linear._kernels import LARGEST, SMALLEST
from confml.methods.linear.linear_svm import LinearSVM
from confml.methods.linear.perceptron import Perceptron, learn
from confml.methods.linear.polynomial import Polynomial, number_of_weights
from confml.methods.linear.winnow import Winnow
from confml.methods.naive_bayes import NaiveBayes, m_estimate
from confml.neighbours.distance_kinds import prepare_rows
from confml.steps.scaling import MinMax

SIX = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1]], float)
SIX_LABELS = np.array(["pos", "pos", "pos", "neg", "neg", "neg"])


# ---- distances


@pytest.mark.parametrize(
    ("a", "b", "nominal", "distance"),
    [
        ([1, 1, 0, 0], [1, 0, 1, 0], 4, 2),  # the Hamming distance
        ([0, 2, 1.5], [1, 1, 0.5], 1, np.sqrt(3)),  # (summer, 2, 1.5) and (winter, 1, 0.5)
    ],
)
def test_distances_by_hand(a, b, nominal, distance):
    """Of two rows whose first ``nominal`` attributes are nominal."""
    assert distances_to([a], [b], 1, range(nominal))[0, 0] == distance


def distances_to(X, new, k=2, nominal=()):
    """The distances that k-NN finds, nearest first."""
    X = np.array(X, dtype=float)
    mask = np.isin(np.arange(X.shape[1]), list(nominal))
    rows = prepare_rows(X, np.zeros(len(X), np.int64), 1, mask, "euclidean", 2.0)
    return rows.query(np.array(new, dtype=float), k).distances


@pytest.mark.parametrize(
    ("rows", "new", "squares", "label"),
    [
        ([[10.0, 10.0], [20.0, 0.0]], [[32.0, 20.0]], [544, 584], "neg"),  # centigrade
        ([[10.0, 50.0], [20.0, 32.0]], [[32.0, 68.0]], [808, 1440], "pos"),  # Fahrenheit
    ],
)
def test_units_decide_who_is_nearest(rows, new, squares, label):
    np.testing.assert_array_equal(distances_to(rows, new)[0], np.sqrt(squares))
    assert KNN().fit(rows, ["pos", "neg"]).predict(new) == label


def test_min_max_by_hand():
    values = np.array([[7.0], [4.0], [25.0], [-5.0], [10.0]])
    scaled = MinMax().fit(values, np.zeros(5)).transform(values)
    np.testing.assert_allclose(scaled[:, 0], [0.4, 0.3, 1, 0, 0.5])


def test_naive_bayes_of_the_pies():
    """Computer assignment 2 of chapter 2, with relative frequencies: counts of six, by hand."""
    data = load({"name": "pies"})
    words = ["square", "thick", "gray", "thin", "white"]
    new = [[categories.index(word) for categories, word in zip(data.categories, words, strict=True)]]
    bayes = NaiveBayes(m=0, nominal=list(range(5))).fit(data.table, data.y)
    pos = (1 / 6) * (5 / 6) * (1 / 6) * (3 / 6) * (1 / 6)
    neg = (2 / 6) * (5 / 6) * (2 / 6) * (1 / 6) * (2 / 6)
    np.testing.assert_allclose(bayes.predict_proba(new), [[neg / (neg + pos), pos / (neg + pos)]])
    assert bayes.predict(new) == "neg"


def test_exercises_3_9_1_and_2():
    assert KNN(1).fit(TABLE_3_7, SIGNS).predict([[1, 2.2]]) == "-"
    assert KNN(3).fit(TABLE_3_7, SIGNS).predict([[1, 2.2]]) == "+"
    np.testing.assert_allclose(KNN(5).fit(TABLE_3_7, SIGNS).predict_proba([[3, 3]]), [[2 / 5, 3 / 5]])
    # Distances 1, 1, sqrt 2, 2, 2: weights 1, 1, 2 - sqrt 2, 0, 0.
    weights = np.array([2, 2 - np.sqrt(2)])
    weighted = WeightedKNN(5).fit(TABLE_3_7, SIGNS)
    np.testing.assert_allclose(weighted.predict_proba([[3, 3]]), [weights / weights.sum()])


@given(st.data())
@settings(max_examples=60)
def test_mixed_neighbours_equal_a_literal_search(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    d = data.draw(st.integers(1, 5))
    nominal = sorted(data.draw(st.sets(st.integers(0, d - 1), min_size=1)))
    m, k = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 6))
    X, new = rng.integers(0, 3, (m, d)).astype(float), rng.integers(0, 4, (5, d)).astype(float)
    for row, distances in zip(new, distances_to(X, new, k, nominal), strict=True):
        differences = np.where(np.isin(np.arange(d), nominal), X != row, (X - row) ** 2)
        squares = np.sort(differences.sum(axis=1))[:k]
        np.testing.assert_array_equal(distances, squares if len(nominal) == d else np.sqrt(squares))


# ---- weighted votes


def test_table_3_4_weighted_5_nn():
    X, y = [[1.0], [3.0], [4.0], [5.0], [8.0]], ["pos", "pos", "neg", "neg", "neg"]
    weighted = WeightedKNN(5).fit(X, y)
    np.testing.assert_allclose(weighted.predict_proba([[0.0]]), [[7 / 19, 12 / 19]])  # 1 against 12/7
    assert weighted.predict([[0.0]]) == "pos"
    assert KNN(5).fit(X, y).predict([[0.0]]) == "neg"
    each = WeightedKNN(5).fit(X, np.arange(5)).predict_proba([[0.0]])[0]
    np.testing.assert_allclose(each / each[0], [1, 5 / 7, 4 / 7, 3 / 7, 0])


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.integers(1, 14))
def test_weights_are_those_of_equation_3_4(distances, k):
    """Every training example has a class of its own, so shares are weights over their sum."""
    x = np.array(distances, float)
    shares = WeightedKNN(k).fit(x[:, None], np.arange(len(x))).predict_proba([[0.0]])[0]
    weights = shares / shares[np.argmin(x)]
    first, *_, last = np.sort(x)[[0, *range(min(k, len(x)))]]
    expected = np.maximum((last - x) / (last - first), 0) if first < last else x == last
    np.testing.assert_allclose(weights, expected, atol=1e-12)


def test_weights_of_section_3_5_are_summed_by_class():
    """0.6 + 0.7 against 0.1 + 0.2 + 0.3; equation (3.4) also needs neighbours of weights 1 and 0."""
    distances = 10 - 10 * np.array([1, 0.7, 0.6, 0.3, 0.2, 0.1, 0])[:, None]
    weighted = WeightedKNN(7).fit(distances, ["third", "pos", "pos", "neg", "neg", "neg", "third"])
    np.testing.assert_allclose(weighted.predict_proba([[0]]) * 2.9, [[0.6, 1.3, 1.0]])


def test_equal_weights_go_to_the_smaller_sum_of_distances():
    # d = 0, 2, 2, 4: a has the weight 4, b has 2 + 2; the sums of distances are 0 and 4.
    X, y = [[0.0], [2.0], [-2.0], [4.0]], ["b", "a", "a", "c"]
    assert WeightedKNN(4).fit(X, y).predict([[0.0]]) == "b"


# ---- naive Bayes


def test_m_estimate_of_heads_tails_tails():
    assert m_estimate(1, 3, 3, 0.5) == 2.5 / 6 and m_estimate(2, 3, 3, 0.5) == 3.5 / 6


def test_exercise_2_8_2_bells():
    """Five examples, bells with standard deviation 1; densities recomputed term by term."""
    X = np.array([[2.1, 0.2, 3.0], [3.3, 1.0, 2.9], [2.7, 1.2, 3.4], [0.5, 5.3, 0.0], [1.5, 4.7, 0.5]])
    y, new = np.array(["c1", "c1", "c1", "c2", "c2"]), np.array([1.4, 3.3, 3.0])
    bells = norm.pdf(new - X)
    first, second = 3 / 5 * np.prod(bells[:3].mean(axis=0)), 2 / 5 * np.prod(bells[3:].mean(axis=0))
    probabilities = NaiveBayes(numeric="bells", bandwidth=1).fit(X, y).predict_proba([new])
    np.testing.assert_allclose(probabilities, [[first / (first + second), second / (first + second)]])
    np.testing.assert_allclose(probabilities[0, 0], 0.8787, atol=5e-5)


@pytest.mark.parametrize("prior, a, b", [("equal", 1, 1), ("frequency", 0.8, 1.2)])
def test_nominal_attributes_by_hand(prior, a, b):
    # P(pos) 3/5; attribute 0: pos has a, a, b; neg has b, b. m = 2: the priors of the two categories are 1/2,
    # or their shares of all, 2/5 and 3/5; one that is only in the test set has 1/2.
    X, y = [[0], [0], [1], [1], [1]], ["pos", "pos", "pos", "neg", "neg"]
    shares = NaiveBayes(m=2, prior=prior, nominal=[0]).fit(X, y).predict_proba([[0], [1], [9]])
    pos, neg = 3 / 5 * np.array([2 + a, 1 + b, 1]) / 5, 2 / 5 * np.array([a, 2 + b, 1]) / 4
    np.testing.assert_allclose(shares, np.column_stack([neg, pos]) / (neg + pos)[:, None])


@pytest.mark.parametrize("power", [-1020, 600])
@pytest.mark.parametrize(
    ("numeric", "width"), [("gaussian", 1.0), ("bells", "normal-reference"), ("bells", 0.5), ("bins", 1.0)]
)
def test_naive_bayes_does_not_depend_on_the_scale_of_a_feature(power, numeric, width):
    """Squares of such values leave the range of double precision."""
    X, y = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, 5.0], [3.0, 6.0]]), [0, 0, 1, 1]
    for d in (1,) if width == 0.5 else (1, 2):  # a number is the bandwidth of all features, in their units
        expected = NaiveBayes(numeric=numeric, bandwidth=width).fit(X[:, :d], y).predict_proba(X[:, :d])
        scaled = np.ldexp(X, [power, 0])[:, :d]
        same = width if isinstance(width, str) else np.ldexp(width, power if numeric == "bells" else 0)
        probabilities = NaiveBayes(numeric=numeric, bandwidth=same).fit(scaled, y).predict_proba(scaled)
        np.testing.assert_allclose(probabilities, expected, rtol=1e-9)


def test_without_an_m_estimate_an_unknown_category_leaves_the_other_attributes():
    X, y = np.array([[0, 0.0], [0, 1.0], [1, 5.0], [1, 6.0]]), ["a", "a", "b", "b"]
    both, second = NaiveBayes(m=0, nominal=[0]).fit(X, y), NaiveBayes().fit(X[:, 1:], y)
    np.testing.assert_array_equal(both.predict_proba([[7, 2.0]]), second.predict_proba([[2.0]]))
    # Without another attribute the prior is left.
    alone = NaiveBayes(m=0, nominal=[0]).fit([[0], [0], [1]], ["a", "a", "b"])
    np.testing.assert_allclose(alone.predict_proba([[5], [0]]), [[2 / 3, 1 / 3], [1, 0]])
    # Each of these two values rules the other's class out: 0 for both.
    clash = NaiveBayes(m=0, nominal=[0, 1]).fit([[0, 0], [0, 0], [1, 1]], ["a", "a", "b"])
    np.testing.assert_allclose(clash.predict_proba([[0, 1]]), [[2 / 3, 1 / 3]])


def test_gaussians_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 3)) * [1, 5, 0.2] + y[:, None]
    ours, theirs = NaiveBayes().fit(X, y), GaussianNB(var_smoothing=0).fit(X, y)
    theirs.var_ *= 40 / 39  # n - 1 below
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_bins_count_what_falls_into_them():
    X, y = [[0.0], [1.0], [9.0], [10.0]], ["a", "a", "b", "b"]
    shares = NaiveBayes(numeric="bins", bins=2, m=2).fit(X, y).predict_proba([[-5.0], [4.9], [5.0], [99.0]])
    np.testing.assert_allclose(shares, [[3 / 4, 1 / 4]] * 2 + [[1 / 4, 3 / 4]] * 2)


@pytest.mark.parametrize(("bayes_error", "expected"), [(0.05, "10.0"), (0.3, "49.7"), (0.9, "89.9")])
def test_1_nn_against_the_bayes_error_of_ten_classes(bayes_error, expected):
    """Figure 3.4, many classes: labels of ten intervals, a share of them replaced by another class."""
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(2):
        x, wrong = rng.random(20_000), rng.random(20_000) < bayes_error
        labels = (10 * x).astype(int)
        parts.append((x[:, None], np.where(wrong, (labels + rng.integers(1, 10, 20_000)) % 10, labels)))
    error = 1 - KNN(1).fit(*parts[0]).score(*parts[1])
    assert f"{100 * error:.1f}" == expected
    assert error == pytest.approx(2 * bayes_error - 10 / 9 * bayes_error**2, abs=0.01)


# ---- learning from mistakes


@pytest.mark.parametrize(
    "shown, weights", [(1, [-0.4, -0.2, 0.4]), (2, [0.1, 0.3, 0.9]), (3, [-0.4, 0.3, 0.9])]
)
def test_table_4_2_perceptron_step_by_step(shown, weights):
    X, targets = np.array([[1.0, 0], [1, 1], [0, 0]])[:shown], np.array([0.0, 1, 0])[:shown]
    learnt = learn(X, targets, np.array([0.1, 0.3, 0.4]), 0.5, 1)
    np.testing.assert_allclose(learnt.weights, weights, atol=1e-15)
    assert learnt.epochs == 1


def test_table_4_4_winnow_step_by_step():
    X = np.array(list(itertools.product([1.0, 0.0], repeat=3)))
    y = np.where((X[:, 1] == 1) & (X[:, 2] == 1), "pos", "neg")
    # After four examples the weights are still (1, 1, 1); e5 doubles w2 and w3.
    for shown, expected in ((4, [1, 1, 1]), (5, [1, 2, 2])):
        winnow = Winnow(doubled=False, threshold=2.9, epochs=1).fit(X[:shown], y[:shown])
        assert winnow.weights_[0, 1:].tolist() == expected
    assert "presentations" not in winnow.fit_metrics_  # one epoch was too few
    winnow = Winnow(doubled=False).fit(X, y)
    np.testing.assert_allclose(winnow.weights_, [[-2.9, 0.5, 1, 2]])
    assert winnow.fit_metrics_ == {"presentations": 10, "epochs": 2, "training_error": 0, "converged": 1}


def test_table_4_6_the_master_takes_the_largest_sum():
    group = Perceptron(random_state=0).fit(np.eye(4), ["C1", "C2", "C3", "C4"])
    group.weights_ = np.array(
        [[-1.5, 1, 0.5, -1, -5], [0.5, 1.5, -1, 3, -1], [1, -2, 4, -1, 0.5], [-2, 1, 1, -3, -1]]
    )
    new = np.array([[1.0, 1, 1, 0]])
    np.testing.assert_allclose(group.decision_function(new), [[-1, 4, 2, -3]])
    assert group.predict(new) == "C2"


def test_six_examples_that_no_line_separates():
    """Computer assignment 1 of chapter 4."""
    for method in (Perceptron(random_state=1, epochs=2000), Winnow(epochs=2000), LinearSVM(C=1e4)):
        assert method.fit(SIX, SIX_LABELS).training_error_ > 0
    assert Polynomial(2, C=1e6).fit(SIX, SIX_LABELS).fit_metrics_["training_error"] == 0


def test_two_of_the_sixteen_labellings_of_figure_4_1_are_not_separable():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    fits = {
        labels: Perceptron(random_state=1, epochs=10_000).fit(X, np.array(labels)).training_error_
        for labels in itertools.product([0, 1], repeat=4)
        if 0 < sum(labels) < 4  # two more labellings have a single class
    }
    assert [labels for labels, error in fits.items() if error > 0] == [(0, 1, 1, 0), (1, 0, 0, 1)]


@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.1, 0.5, 1.0]))
@settings(max_examples=25)
def test_the_perceptron_converges_where_a_line_separates(seed, rate):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (20, 5)).astype(float)
    y = (X.sum(axis=1) >= 3).astype(int)
    perceptron = Perceptron(rate=rate, random_state=seed, epochs=10**5).fit(X, y)
    assert perceptron.fit_metrics_["converged"] == 1
    assert perceptron.fit_metrics_["presentations"] <= 20 * perceptron.fit_metrics_["epochs"]
    assert (perceptron.predict(X) == y).all()


@given(st.integers(0, 10**6), st.floats(1.01, 50), st.booleans())
@settings(max_examples=40)
def test_winnows_weights_stay_positive(seed, alpha, doubled):
    rng = np.random.default_rng(seed)
    X, y = rng.random((12, 3)), rng.integers(0, 3, 12)
    weights = Winnow(alpha=alpha, doubled=doubled, epochs=300).fit(X, y).weights_[:, 1:]
    assert (weights >= SMALLEST).all() and (weights <= LARGEST).all()


def test_winnow_learns_negative_weights_by_opposites():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    y = (X[:, 0] == 0).astype(int)  # x1 is false
    assert Winnow().fit(X, y).training_error_ == 0
    assert Winnow(doubled=False, epochs=2000).fit(X, y).training_error_ > 0


@pytest.mark.parametrize("rule", ["perceptron", "no-input", "delta", "delta-no-input"])
def test_update_rules_of_assignment_7(rule):
    """One step of each by hand: weights (0.1, 0.2), rate 0.5, the negative example x = 0.4."""
    weights = learn(np.array([[0.4]]), np.array([0.0]), [0.1, 0.2], 0.5, 1, rule).weights
    difference = -1.0 if rule in ("perceptron", "no-input") else -(0.1 + 0.2 * 0.4)
    factor = 0.4 if rule in ("perceptron", "delta") else 1.0
    np.testing.assert_allclose(weights, [0.1 + 0.5 * difference, 0.2 + 0.5 * difference * factor])


def test_a_rule_that_overflows_ends():
    X, y = np.random.default_rng(1).random((30, 40)), np.arange(30) % 2
    perceptron = Perceptron(rule="delta-no-input", rate=1.0, random_state=1).fit(X, y)
    assert np.isfinite(perceptron.weights_).all()


# ---- polynomials


def test_equation_4_14_number_of_weights():
    assert number_of_weights(100, 3) == 176_851
    X, y = np.random.default_rng(2).random((30, 4)), np.arange(30) % 2
    fitted = Polynomial(3).fit(X, y)
    assert fitted.learner_.weights_.shape == (1, number_of_weights(4, 3))


def test_order_1_is_the_linear_svm():
    rng = np.random.default_rng(4)
    X, y = rng.random((40, 3)), rng.integers(0, 3, 40)
    expected = LinearSVM(random_state=1).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(Polynomial(1, random_state=1).fit(X, y).decision_function(X), expected)


# ---- LIBLINEAR


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_linear_svm_agrees_with_scikit_learns_liblinear(solver):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(90, 4)), rng.integers(0, 3, 90)
    ours = LinearSVM(C=0.7, solver=solver, tolerance=1e-8, random_state=3).fit(X, y)
    theirs = LinearSVC(C=0.7, dual=False, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
