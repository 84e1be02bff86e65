"""Hierarchies of `smart-svm` beside the one of Bayes errors, and transformers of each binary machine."""

import csv
import itertools
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from confml.bayes_error import pairwise_bayes_error
from confml.errors import ConfigError, ConfmlError
from confml.methods import registry
from confml.methods.svm.class_splits import jensen_shannon_split, margin_split, random_split
from confml.methods.svm.class_tree import ClassTree
from confml.methods.svm.dag_svm import DAGSVM
from confml.methods.svm.machine_steps import fitted_steps, transformed
from confml.methods.svm.ovo_svm import OvOSVM
from confml.methods.svm.ovr_svm import OvRSVM
from confml.methods.svm.smart_svm import SmartSVM
from tests.reference import class_trees

HIERARCHIES = ["random", "random-balanced", "margin", "jensen-shannon"]
SCALER, PCA = "sklearn.preprocessing.StandardScaler", "sklearn.decomposition.KernelPCA"


def nested(tree, child=0):
    """The classes below a child as nested frozensets."""
    if child < 0:
        return int(tree.classes[-1 - child])
    return frozenset([nested(tree, tree.left[child]), nested(tree, tree.right[child])])


# ---- hierarchies


@pytest.mark.parametrize("k", [3, 4])
def test_random_trees_are_equally_probable(k):
    trees = class_trees.all_trees(tuple(range(k)))
    assert len(trees) == len(set(trees)) == {3: 3, 4: 15}[k]
    rng, draws = np.random.default_rng(0), 3000
    counts = Counter(nested(ClassTree.of_splits(np.arange(k), random_split(rng))) for _ in range(draws))
    assert set(counts) == set(trees)
    expected = draws / len(trees)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 3 * len(trees)  # chi square


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_margin_splits_are_the_last_merge_of_complete_linkage(seed, ties):
    rng = np.random.default_rng(seed)
    margins = rng.integers(1, 3, (6, 6)).astype(float) if ties else rng.random((6, 6))
    margins = np.triu(margins, 1) + np.triu(margins, 1).T
    split = margin_split(margins)
    for members in (np.arange(6), np.array([0, 2, 5]), np.array([1, 4])):
        side, value = split(members)
        assert not side[0] and side.any()
        groups, distance = class_trees.last_merge(margins, members.tolist())
        if ties:  # the order of merges is not unique
            assert value == max(margins[a, b] for a in members[side] for b in members[~side])
        else:
            assert {frozenset(members[side].tolist()), frozenset(members[~side].tolist())} == set(
                map(frozenset, groups)
            )
            assert_allclose(value, distance)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_jensen_and_shannon_is_the_smallest(seed):
    rng = np.random.default_rng(seed)
    totals, priors = rng.integers(0, 9, (6, 5)).astype(float), rng.dirichlet(np.ones(6))
    shares = (totals / totals.sum(axis=1, keepdims=True)).tolist()
    side, value = jensen_shannon_split(totals, priors, rng)(np.arange(6))
    bounds = [
        class_trees.jensen_shannon_bound(shares, priors, set(group))
        for size in range(1, 6)
        for group in itertools.combinations(range(1, 6), size)
    ]
    assert_allclose(value, class_trees.jensen_shannon_bound(shares, priors, set(np.flatnonzero(side))))
    assert_allclose(value, min(bounds))


def test_classes_without_counts():
    side, value = jensen_shannon_split(np.zeros((3, 2)), np.full(3, 1 / 3), np.random.default_rng(0))(
        np.arange(3)
    )
    assert not side[0] and side.any() and 0 <= value <= 0.5


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
def test_trees_are_whole_and_repeat(hierarchy):
    X, y = load_wine(return_X_y=True)
    y = np.where(np.arange(len(y)) == 5, 7, np.where(X[:, 0] > 13.5, y + 3, y))  # class 7 has one row
    model = SmartSVM(hierarchy=hierarchy, random_state=3, share_tree=True).fit(X, y)
    model.tree_.check_stored()
    assert len(model.tree_) == len(np.unique(y)) - 1
    again = SmartSVM(hierarchy=hierarchy, random_state=3, share_tree=True).fit(X, y)
    assert nested(model.tree_) == nested(again.tree_)
    assert model.prepare(X, y) is None  # only the tree of Bayes errors is shared
    assert_array_equal(model.predict(csr_matrix(X)), model.predict(X))
    if hierarchy == "random-balanced":
        assert model.tree_.depth == int(np.ceil(np.log2(len(np.unique(y)))))


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
@pytest.mark.parametrize("classes", [1, 2])
def test_one_and_two_classes(hierarchy, classes):
    X, y = load_iris(return_X_y=True)
    rows = y < classes
    model = SmartSVM(hierarchy=hierarchy).fit(X[rows], y[rows])
    assert_array_equal(model.predict(X[rows]), y[rows])


def test_margins_are_those_of_machines_of_pairs():
    X, y = load_iris(return_X_y=True)
    model = SmartSVM(hierarchy="margin", C=8.0).fit(X, y)
    lengths = np.linalg.norm(OvOSVM(C=1.0).fit(X, y).weights_[:, 1:], axis=1)
    assert_allclose(model.tree_.cut[0], (2 / lengths).max())


def test_an_ensemble_of_nested_dichotomies():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = BaggingClassifier(SmartSVM(hierarchy="random"), 7, bootstrap=False, random_state=0).fit(X, y)
    assert len({nested(one.tree_) for one in model.estimators_}) > 1
    votes = np.mean([[one.predict(X) == label for label in range(3)] for one in model.estimators_], axis=0)
    assert_array_equal(model.predict(X), votes.argmax(axis=0))
    assert model.score(X, y) > 0.97


# ---- transformers of each machine


@pytest.mark.parametrize("method", [OvOSVM, OvRSVM, DAGSVM, SmartSVM])
def test_machines_are_fitted_to_transformed_rows(method):
    X, y = load_wine(return_X_y=True)
    steps = [SCALER, {PCA: {"n_components": 3, "kernel": "rbf", "gamma": 0.05}}]
    model = method(solver="newton", pair_steps=steps).fit(X, y)
    values, problems = model._values(X), model._problems(X, y, None)
    for place, problem in enumerate(problems):
        pipeline = make_pipeline(StandardScaler(), KernelPCA(3, kernel="rbf", gamma=0.05, random_state=0))
        inputs = pipeline.fit_transform(X[problem.rows])
        alone = OvRSVM(solver="newton").fit(inputs, problem.targets)
        assert_allclose(values[:, place], alone.decision_function(pipeline.transform(X)), atol=1e-6)
    assert_array_equal(model.predict(csr_matrix(X)), model.predict(X))


def test_each_machine_takes_the_steps_with_the_smallest_bayes_error():
    X, y = load_wine(return_X_y=True)
    lists = [[], [SCALER], [{"sklearn.feature_selection.SelectKBest": {"k": 4}}]]
    model = OvOSVM(solver="newton", pair_steps=lists).fit(X, y)
    taken = []
    for problem, chosen in zip(model._problems(X, y, None), model.steps_, strict=True):
        rates = []
        for steps in lists:
            inputs = transformed(fitted_steps(steps, X[problem.rows], problem.targets, 0), X[problem.rows])
            rates.append(pairwise_bayes_error(inputs, problem.targets > 0).estimate[0, 1])
        best = lists[int(np.argmin(rates))]
        taken.append([type(one).__name__ for one in chosen])
        assert len(taken[-1]) == len(best) and all(name in str(best) for name in taken[-1])
    assert ["StandardScaler"] in taken


def test_paths_of_transformed_machines_are_single_fits():
    X, y = load_wine(return_X_y=True)
    model = OvOSVM(pair_steps=[SCALER], random_state=0)
    path = list(model.evaluate_path(X, y, X, [{"C": 0.1}, {"C": 10.0}]))
    for point, views in path:
        alone = OvOSVM(pair_steps=[SCALER], random_state=0, **point).fit(X, y)
        assert_array_equal(views["vote"].scores, alone.confident_predict(X)["vote"].scores)


def test_one_class_and_one_row():
    X, y = load_iris(return_X_y=True)
    assert_array_equal(OvOSVM(pair_steps=[SCALER]).fit(X[:5], y[:5]).predict(X[:5]), y[:5])
    rows = np.r_[0:50, 60]
    model = OvOSVM(pair_steps=[[SCALER], []]).fit(X[rows], y[rows])
    assert model.predict(X[60:61])[0] == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"pair_steps": "standardise"}, "pair_steps"),
        ({"pair_steps": ["standardise"]}, "pair_steps"),
        ({"pair_steps": [["sklearn.decomposition.PCA"], "sklearn.decomposition.PCA"]}, "pair_steps"),
        ({"pair_steps": ["sklearn.decomposition.PKA"]}, "did you mean 'sklearn.decomposition.PCA'"),
        ({"pair_steps": [{"sklearn.decomposition.PCA": {"components": 2}}]}, "components"),
        ({"pair_steps": [SCALER], "estimator": "knn"}, "Pipeline"),
        ({"hierarchy": "margins"}, "hierarchy"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ConfigError, match=message):
        registry.check("smart-svm", params)


def test_values_that_are_not_finite():
    X, y = load_iris(return_X_y=True)
    steps = [{"sklearn.preprocessing.FunctionTransformer": {"func": np.log}}]
    with np.errstate(all="ignore"), pytest.raises(ConfmlError, match="not finite"):
        OvOSVM(pair_steps=steps).fit(X - X.min(axis=0), y)


def test_the_table_of_the_page_is_the_stored_one():
    root = Path(__file__).resolve().parents[2]
    page = (root / "docs" / "pages" / "howto" / "many-classes.md").read_text(encoding="utf-8")

    def stored(name):
        with (root / "results/reference/smartsvm/hierarchies" / name).open(encoding="utf-8") as file:
            return [row for row in csv.DictReader(file) if row["view"] != "vote"]

    rows = [row for row in stored("leaderboard.csv") if row["column"] == "error"]
    seconds = {row["method"]: float(row["median"]) for row in stored("leaderboard-timings.csv")}
    machines = defaultdict(list)
    for row in stored("smartsvm-hierarchies.csv"):
        if row["metric"] == "machine_rows":
            machines[row["method"], row["params"]].append(float(row["mean"]))
    means = {f"{np.mean(values):,.0f}" for values in machines.values()}
    for row in rows:
        name = row["method"].replace("Jensen-Shannon", "jensen-shannon")
        start = f"| {name} | {100 * float(row['mean']):.1f} % | {float(row['mean_rank']):.1f} |"
        (line,) = [line for line in page.splitlines() if line.startswith(start)]
        machine_rows, time = (cell.strip() for cell in line.removeprefix(start).split("|")[:2])
        assert machine_rows in means | {""} and time == f"{seconds[row['method']]:.3f}"
    far = {row["method"] for row in rows if row["near_best"] != "true"}
    expected = {"margin tree", "random tree", "random halves", "one-vs-rest", "one-vs-one, 5 features"}
    assert far == expected


def test_weights_of_a_model_file_have_the_width_of_their_steps():
    X, y = load_wine(return_X_y=True)
    model = OvOSVM(pair_steps=["sklearn.decomposition.PCA"]).fit(X, y)
    model.check_stored()
    model.weights_ = model.weights_[:, :-1]
    with pytest.raises(ValueError, match="other features or steps"):
        model.check_stored()
