"""SmartSVM: cuts of the graph of classes, the tree, and the walk down it."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier
from trials import clouds

from confml.bayes_error.rates import pairwise_bayes_error
from confml.methods.svm.class_tree import class_tree, restricted
from confml.methods.svm.graph_cuts import minimum_cut
from confml.methods.svm.ovo_svm import OvOSVM
from confml.methods.svm.ovr_svm import OvRSVM
from confml.methods.svm.smart_svm import SmartSVM


def graph(k, seed, whole=False):
    """A complete graph with random weights; whole numbers 0 to 2 make ties, and parts without any edge."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, (k, k)).astype(float) if whole else rng.random((k, k))
    weights = np.triu(weights, 1)
    return weights + weights.T + np.diag(np.full(k, np.nan))


def cost(weights, side):
    """What a cut costs, edge by edge."""
    inside, outside = np.flatnonzero(side), np.flatnonzero(~np.asarray(side))
    return sum(weights[a, b] for a in inside for b in outside)


def bipartitions(k):
    for bits in itertools.product([False, True], repeat=k - 1):
        if any(bits):
            yield np.array([False, *bits])


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("k", range(2, 9))
def test_no_bipartition_costs_less(whole, k):
    for seed in range(6):
        weights = graph(k, seed, whole)
        side = minimum_cut(weights)
        assert side.shape == (k,) and side.any() and not side[0]
        least = min(cost(weights, bipartition) for bipartition in bipartitions(k))
        assert cost(weights, side) == pytest.approx(least, abs=1e-12)


def test_the_example_of_stoer_and_wagner():
    """Their figure 1: the minimum cut is 4, and parts vertices 3, 4, 7, 8 from the others."""
    weights = np.zeros((8, 8))
    edges = [(1, 2, 2), (1, 5, 3), (2, 3, 3), (2, 5, 2), (2, 6, 2), (3, 4, 4), (3, 7, 2), (4, 7, 2)]
    edges += [(4, 8, 2), (5, 6, 3), (6, 7, 1), (7, 8, 3)]
    for a, b, weight in edges:
        weights[a - 1, b - 1] = weights[b - 1, a - 1] = weight
    side = minimum_cut(weights)
    assert list(np.flatnonzero(side) + 1) == [3, 4, 7, 8]
    assert cost(weights, side) == 4


# ---- the tree


def test_every_node_of_a_tree_is_the_least_cut_of_its_classes():
    weights = graph(8, 5)
    classes = np.array(list("abcdefgh"))
    nodes = list(class_tree(classes, weights).inner_nodes())
    assert len(nodes) == 7
    for node in nodes:
        members, right = (np.searchsorted(classes, side.classes) for side in (node, node.sides[1]))
        part = weights[np.ix_(members, members)]
        assert node.classes[0] == node.sides[0].classes[0]
        least = min(cost(part, side) for side in bipartitions(len(members)))
        assert cost(part, np.isin(members, right)) == pytest.approx(least)
        assert node.cut == pytest.approx(least)


@pytest.mark.parametrize("options", [{}, {"trees": 1, "count": "nontrivial"}])
def test_the_weights_are_estimated_bayes_errors(options):
    X, y, _ = clouds(240, 6, 3)
    model = SmartSVM(**options).fit(X, y)
    rates = pairwise_bayes_error(X, y, **{"trees": 3, "count": "all", **options})
    assert_array_equal(model.bayes_error_, rates.estimate)
    assert model.tree_ == class_tree(np.arange(6), rates.estimate)
    assert model.fit_details_.tree == model.tree_
    assert model.fit_metrics_["machines"] == 5


def test_numbers_and_sizes_of_the_binary_problems():
    """Section 4 on table 2: machines, and their training rows, on the digits of scikit-learn."""
    X, y = load_digits(return_X_y=True)
    for method, machines, rows in ((SmartSVM, 9, 9709), (OvOSVM, 45, 16173), (OvRSVM, 10, 17970)):
        metrics = method().fit(X / 16, y).fit_metrics_
        assert (metrics["machines"], metrics["machine_rows"]) == (machines, rows)


def walk(node, value_at):
    """The label at the end of an example's way, and for each other class minus what excluded it."""
    scores = {}
    while not node.is_leaf:
        value, (left, right) = value_at(node), node.sides
        scores |= dict.fromkeys((left if value > 0 else right).classes, -abs(value))
        node = right if value > 0 else left
    return node.classes[0], scores


def test_an_example_walks_down_from_the_root():
    X, y, X_test = clouds(240, 6, 3)
    model = SmartSVM(C=2.0).fit(X, y)
    view = model.confident_predict(X_test)["margin"]
    values = {}
    for node in model.tree_.inner_nodes():
        rows = np.isin(y, node.classes)
        machine = OvRSVM(C=2.0).fit(X[rows], np.isin(y[rows], node.sides[1].classes))
        values[node.classes] = machine.decision_function(X_test)
    for row in range(len(X_test)):
        label, scores = walk(model.tree_, lambda node, row=row: values[node.classes][row])
        assert view.labels[row] == label
        assert view.confidence[row] == pytest.approx(-max(scores.values()))
        assert view.scores[row].tolist() == pytest.approx([scores.get(code, 0) for code in range(6)])


# ---- other classifiers at the nodes


@pytest.mark.parametrize(
    "options",
    [{"estimator": "knn", "estimator_params": {"k": 3}}, {"estimator": DecisionTreeClassifier(max_depth=3)}],
    ids=str,
)
def test_any_binary_classifier_may_stand_at_the_nodes(options):
    X, y, X_test = clouds(240, 6, 3)
    y = np.array(list("abcdef"))[y]
    model = SmartSVM(random_state=1, **options).fit(X, y)
    assert model.score(X, y) > 0.6
    machines = dict(zip((node.classes for node in model.tree_.inner_nodes()), model.weights_, strict=True))
    for row, label in zip(X_test, model.predict(X_test), strict=True):
        assert label == walk(model.tree_, lambda node, row=row: machines[node.classes].predict([row])[0])[0]


def test_a_random_estimator_has_the_same_seed_alone_and_in_a_path():
    X, y, X_test = clouds(240, 6, 3)
    model = SmartSVM(estimator=DecisionTreeClassifier(max_features=1))
    grid = [{"estimator__max_depth": 1}, {"estimator__max_depth": 6}]
    (_, first), (_, second) = model.evaluate_path(X, y, X_test, grid, np.random.default_rng(4))
    ((_, alone),) = model.evaluate_path(X, y, X_test, grid[1:], np.random.default_rng(4))
    assert_array_equal(second["margin"].scores, alone["margin"].scores)
    assert not np.array_equal(first["margin"].labels, second["margin"].labels)


def test_large_sets_make_do_with_one_tree(monkeypatch):
    X, y, _ = clouds(240, 6, 3)
    monkeypatch.setattr("confml.methods.svm.smart_svm.LARGE", len(X) - 1)
    for rows, trees in ((slice(None), 1), (slice(1, None), 3)):
        rates = pairwise_bayes_error(X[rows], y[rows], trees=trees).estimate
        assert_array_equal(SmartSVM(trees="by-size").fit(X[rows], y[rows]).bayes_error_, rates)


# ---- one tree for the inner folds


def test_inner_folds_share_the_tree_when_asked_to():
    X, y, _ = clouds(240, 6, 3)
    y = np.where((y == 5) & (np.arange(len(y)) > 10), 0, y)  # class 5 is gone with the first rows
    rows, rest = np.arange(12, len(X)), np.arange(12)
    grid = [{"C": 1.0}, {"C": 2.0, "trees": 1}]
    model = SmartSVM(share_tree=True)
    state = model.prepare(X, y, grid)
    assert all(array.dtype != object for array in state.values())
    shared = list(model.evaluate_path(X[rows], y[rows], X[rest], grid, None, state))
    for (_, views), trees in zip(shared, (3, 1), strict=True):
        whole = SmartSVM(trees=trees).fit(X, y).tree_
        assert views.fit_details.tree == restricted(whole, np.unique(y[rows]).tolist())
    assert SmartSVM().prepare(X, y, grid) is None
