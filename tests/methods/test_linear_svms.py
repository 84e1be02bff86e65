"""Linear support vector machines put together: one against one, one against the rest, DAG, Crammer-Singer."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import LinearSVC
from trials import clouds

import confml
from confml.bayes_error.rates import bayes_errors
from confml.methods.svm.crammer_singer import CrammerSinger
from confml.methods.svm.dag_svm import DAGSVM
from confml.methods.svm.gen_svm import GenSVM
from confml.methods.svm.ovo_svm import OvOSVM
from confml.methods.svm.ovr_svm import OvRSVM
from confml.methods.svm.smart_svm import SmartSVM

TIGHT = 1e-9


@pytest.mark.parametrize("ours, wrapper", [(OvOSVM, OneVsOneClassifier), (OvRSVM, OneVsRestClassifier)])
@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("classes", [2, 3, 6])
def test_one_against_one_and_the_rest_are_scikit_learns_wrappers(ours, wrapper, classes, solver):
    X, y, X_test = clouds(classes=classes)
    theirs = wrapper(LinearSVC(C=2.0, tol=TIGHT, dual=False, max_iter=10**5)).fit(X, y)
    machines = ours(C=2.0, solver=solver, tolerance=1e-7, random_state=0).fit(X, y)
    if wrapper is OneVsRestClassifier or classes > 2:
        assert_allclose(machines.decision_function(X_test), theirs.decision_function(X_test), atol=1e-3)
    assert_array_equal(machines.predict(X_test), theirs.predict(X_test))


def walk(values, c):
    """One example's way through the graph: (label, {class voted away: by how much})."""
    pairs = list(itertools.combinations(range(c), 2))
    left, out = list(range(c)), {}
    while len(left) > 1:
        f = values[pairs.index((left[0], left[-1]))]
        out[left.pop(0 if f > 0 else -1)] = abs(f)
    return left[0], out


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_graph_votes_one_class_away_at_a_time(classes):
    X, y, X_test = clouds(classes=classes)
    pairs = OneVsOneClassifier(LinearSVC(C=1.0, tol=TIGHT, dual=False, max_iter=10**5)).fit(X, y)
    values = np.column_stack([pair.decision_function(X_test) for pair in pairs.estimators_])
    ours = DAGSVM(C=1.0, tolerance=1e-8).fit(X, y)
    view = ours.confident_predict(X_test)["margin"]
    for row, f in enumerate(values):
        label, out = walk(f, classes)
        assert view.labels[row] == label and view.scores[row, label] == 0
        assert view.confidence[row] == pytest.approx(min(out.values()), abs=1e-3)
        for code, distance in out.items():
            assert view.scores[row, code] == pytest.approx(-distance, abs=1e-3)


def multiclass_objective(W, X, y, C):
    f = X @ W[:, 1:].T + W[:, 0]
    rows = np.arange(len(X))
    gap = f - f[rows, y][:, None] + 1.0
    gap[rows, y] = 0.0
    return 0.5 * np.sum(W**2) + C * np.sum(gap.max(axis=1))


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_crammer_and_singer_as_scikit_learn(classes):
    X, y, X_test = clouds(classes=classes)
    ours = CrammerSinger(C=0.5, tolerance=1e-6, random_state=1).fit(X, y)
    theirs = LinearSVC(C=0.5, multi_class="crammer_singer", tol=1e-6, max_iter=10**5, random_state=0)
    theirs.fit(X, y)
    W = np.column_stack([theirs.intercept_, theirs.coef_])
    if classes == 2:  # scikit-learn keeps the difference of the two
        W = np.vstack([-W / 2, W / 2])
    least = multiclass_objective(W, X, y, 0.5)
    assert multiclass_objective(ours.weights_, X, y, 0.5) == pytest.approx(least, rel=1e-5)
    assert np.mean(ours.predict(X_test) == theirs.predict(X_test)) == 1.0


@pytest.mark.parametrize("method", [OvOSVM, OvRSVM, DAGSVM, SmartSVM, CrammerSinger, GenSVM])
def test_sparse_examples(method):
    X, y, X_test = clouds()
    X[np.abs(X) < 0.7] = 0.0
    params = {} if method is GenSVM else {"random_state": 1}
    dense = method(**params).fit(X, y).confident_predict(X_test)
    sparse = method(**params).fit(csr_matrix(X), y).confident_predict(csr_matrix(X_test))
    for view, expected in dense.items():
        assert_allclose(sparse[view].scores, expected.scores, atol=1e-5 if method is GenSVM else 1e-10)


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("weight", [None, "balanced", {0: 5.0, 1: 0.5}])
@pytest.mark.parametrize("C", [2.0**-14, 1.0, 2.0**5])
def test_penalties_and_class_weights_are_scikit_learns(C, weight, solver):
    X, y, X_test = clouds(classes=2)
    theirs = LinearSVC(C=C, class_weight=weight, tol=TIGHT, dual=False, max_iter=10**5).fit(X, y)
    ours = OvRSVM(C=C, class_weight=weight, solver=solver, tolerance=1e-8).fit(X, y)
    assert_allclose(ours.decision_function(X_test), theirs.decision_function(X_test), atol=1e-4)


@pytest.mark.parametrize("method", [OvRSVM, SmartSVM, CrammerSinger])
def test_weights_by_bayes_error_are_those_of_the_training_part(method):
    X, y, X_test = clouds()
    estimate = bayes_errors(X, y).one_vs_rest.estimate
    assert np.ptp(estimate) > 0
    numbers = (1 + estimate) / np.mean(1 + estimate)
    given = dict(zip(np.unique(y).tolist(), numbers.tolist(), strict=True))
    ours, same, plain = (
        method(class_weight=weight, random_state=1).fit(X, y).confident_predict(X_test)["margin"].scores
        for weight in ("bayes-error", given, None)
    )
    assert_array_equal(ours, same)
    assert not np.allclose(ours, plain)
    assert len(method(class_weight="bayes-error").fit(X[:3], np.zeros(3, int)).classes_) == 1
    method(class_weight={1: 2.0, 99: 3.0}).fit(X, y)  # a fold may lack a class


# ---- threads


@pytest.mark.parametrize("solver", ["primal", "dual"])
@pytest.mark.parametrize("method", [OvOSVM, OvRSVM, SmartSVM])
def test_same_bytes_for_any_number_of_threads(method, solver):
    X, y, X_test = clouds()
    model, grid, results = method(solver=solver, random_state=3), [{"C": 0.1}, {"C": 10.0}], []
    for n in (1, 4):
        with confml.threads(n):
            path = list(model.evaluate_path(X, y, X_test, grid))
        results.append([view.scores.tobytes() for _, views in path for view in views.values()])
    assert results[0] == results[1]


@pytest.mark.parametrize("method", [OvRSVM(solver="dual"), CrammerSinger()])
def test_fits_in_several_threads_have_each_the_numbers_of_its_seed(method):
    X, y, _ = clouds(rows=400, classes=2)

    def fit(seed):
        return clone(method).set_params(random_state=seed).fit(X, y).weights_

    alone = [fit(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert_array_equal(list(pool.map(fit, 3 * [*range(8)])), 3 * alone)
