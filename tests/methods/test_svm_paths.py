"""Exact paths of Crammer and Singer's machine and of GenSVM, against slow references and other solvers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import crammer_singer as literal
from reference import gen_svm as naive
from scipy.sparse import csr_matrix

from confml.errors import ConfmlError
from confml.methods.svm import (
    _kernels_cholesky,
    _kernels_crammer_singer,
    _kernels_gen_newton,
    _kernels_rows,
)
from confml.methods.svm._kernels_line_search import LARGE, flat_enough, next_point
from confml.methods.svm.crammer_singer import CrammerSinger
from confml.methods.svm.crammer_singer_path import RUNGS
from confml.methods.svm.gen_svm import GenSVM
from confml.methods.svm.linear_rows import labels_with_ties, linear_rows

CS = [2.0**power for power in range(-18, 19, 2)]


def clouds(rows=60, classes=4, d=3, seed=0):
    """Overlapping classes of unequal size with features in [0, 1], duplicates and a constant feature."""
    rng = np.random.default_rng(seed)
    y = np.concatenate(
        [np.arange(classes), rng.choice(classes, rows - classes, p=rng.dirichlet([3.0] * classes))]
    )
    X = rng.normal(scale=1.5, size=(classes, d))[y] + rng.normal(size=(rows, d))
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    X[:, -1] = 0.25
    X[rows // 2 : rows // 2 + 5] = X[:5]  # the same examples, some with another label
    return X, y


def sparse_clouds(**options):
    X, y = clouds(d=8, **options)
    X[X < 0.7] = 0.0
    return X, y


def path_of(X, y, Cs=CS, **params):
    model = CrammerSinger(solver="path", **params)
    model._fit_path(X, y, Cs)
    return model.path_


# ---- Crammer and Singer


@pytest.mark.parametrize("classes", range(2, 11))
@pytest.mark.parametrize("C", [2.0**-10, 0.25, 16.0, 2.0**12])
def test_the_minimum_is_that_of_the_quadratic_program(classes, C):
    X, y = clouds(rows=26, classes=classes, d=2, seed=classes)
    ours = path_of(X, y, [C])[C]
    least = literal.minimum(X, y, classes, C, np.ones(len(y)))
    assert ours.objective == pytest.approx(
        literal.objective(ours.weights, X, y, C, np.ones(len(y))), rel=1e-9
    )
    assert ours.objective <= least * (1 + 1e-6)


@pytest.mark.parametrize("make", [clouds, sparse_clouds])
def test_the_duality_gap_is_within_the_tolerance_at_each_C(make):
    X, y = make(rows=120, classes=5)
    for tolerance in (1e-4, 1e-2):
        for C, solution in path_of(X, y, tolerance=tolerance).items():
            value, at_zero = solution.objective, C * len(y)
            assert 0 <= solution.gap + 1e-9 * value
            assert solution.gap <= 0.01 * tolerance * max(min(value, at_zero - value), 0.1 * value)
            true = literal.objective(solution.weights, X, y, C, np.ones(len(y)))
            assert true == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("C", [2.0**-6, 1.0, 16.0])
def test_the_minimum_is_that_of_liblinear(C):
    X, y = clouds(rows=150, classes=5)
    costs = np.ones(len(y))
    ours = path_of(X, y, [C])[C]
    theirs = CrammerSinger(C=C, tolerance=1e-6, random_state=1).fit(X, y)
    least = literal.objective(theirs.weights_, X, y, C, costs)
    assert ours.objective <= least * (1 + 1e-6)
    assert ours.objective >= least * (1 - 1e-3)


def test_class_weights_multiply_the_cost_of_the_class():
    X, y = clouds(rows=30, classes=3, d=2)
    weights = {0: 3.0, 1: 0.5}
    costs = np.array([weights.get(label, 1.0) for label in y])
    ours = path_of(X, y, [2.0], class_weight=weights)[2.0]
    assert ours.objective == pytest.approx(literal.minimum(X, y, 3, 2.0, costs), rel=1e-5)


def test_a_point_of_a_path_is_the_fit_alone():
    X, y = clouds(rows=80)
    grid = [{"C": C} for C in (3.0, RUNGS[0] / 8, RUNGS[0], RUNGS[4], 2.0**17, 2.0**20)]
    model = CrammerSinger(solver="path")
    path = [views for _, views in model.evaluate_path(X, y, X, grid)]
    back = [views for _, views in model.evaluate_path(X, y, X, grid[::-1])][::-1]
    for point, views, other in zip(grid, path, back, strict=True):
        alone = CrammerSinger(solver="path", **point).fit(X, y)
        scores = alone.confident_predict(X)["margin"].scores
        assert_array_equal(scores, views["margin"].scores)
        assert_array_equal(scores, other["margin"].scores)
        assert alone.fit_metrics_ == views.fit_metrics == other.fit_metrics
        assert views.fit_metrics["gap"] <= 1e-6 * views.fit_metrics["objective"]


@pytest.mark.parametrize("method", [CrammerSinger, GenSVM])
def test_sparse_rows_give_the_same_minimum(method):
    X, y = sparse_clouds(rows=100, classes=4)
    assert linear_rows(X)[0].size == 0 and linear_rows(X[:, :0] + 1.0)[0].size > 0
    for inputs in (X, X + 0.5):  # many zeros; no zeros, kept as an array
        dense = method(solver="path").fit(inputs, y)
        sparse = method(solver="path").fit(csr_matrix(inputs), y)
        scores = dense.decision_function(inputs)
        assert_allclose(sparse.decision_function(csr_matrix(inputs)), scores, atol=1e-12)
        assert sparse.fit_metrics_ == dense.fit_metrics_


def test_compiled_products_and_grams_are_numpys():
    rng = np.random.default_rng(3)
    X, y = sparse_clouds(rows=70, classes=4)
    for inputs in (X, rng.random((70, 8))):
        rows = linear_rows(inputs)
        whole, W, S = np.hstack([np.ones((70, 1)), inputs]), rng.normal(size=(9, 4)), rng.normal(size=(70, 4))
        assert_allclose(_kernels_rows.products(rows, W), whole @ W, atol=1e-12)
        assert_allclose(_kernels_rows.back_products(rows, S, 9), whole.T @ S, atol=1e-12)
        chosen = np.array([5, 1, 69, 5])
        taken = _kernels_rows.take_rows(rows, chosen)
        assert_allclose(_kernels_rows.products(taken, W), whole[chosen] @ W, atol=1e-12)
        G, factors = np.zeros((3, 45)), rng.normal(size=(16, 3))
        _kernels_rows.add_grams(rows, chosen, 4, factors, G)
        for q in range(3):
            full = (whole[chosen].T * factors[:4, q]) @ whole[chosen]
            assert_allclose(G[q], full[np.tril_indices(9)], atol=1e-12)


@pytest.mark.parametrize("columns", [1, 3, 4, 5, 9])
def test_sparse_products_with_any_number_of_columns(columns):
    rng = np.random.default_rng(columns)
    X, _ = sparse_clouds(rows=40, classes=4)
    rows, whole = linear_rows(X), np.hstack([np.ones((40, 1)), X])
    assert rows[0].size == 0
    W, S = rng.normal(size=(9, columns)), rng.normal(size=(40, columns))
    assert_allclose(_kernels_rows.products(rows, W), whole @ W, atol=1e-12)
    assert_allclose(_kernels_rows.back_products(rows, S, 9), whole.T @ S, atol=1e-12)
    G, factors, chosen = np.zeros((45, columns)), rng.normal(size=(16, columns)), np.array([7, 2, 39, 7])
    for _ in range(2):  # sums are added to G
        _kernels_rows.add_sparse_grams(rows, chosen, 4, factors, G)
    for q in range(columns):
        full = (whole[chosen].T * factors[:4, q]) @ whole[chosen]
        assert_allclose(G[:, q], 2 * full[np.tril_indices(9)], atol=1e-12)


@pytest.mark.parametrize("unknowns", [1, 2, 127, 128, 129, 256, 300, 385])
def test_factors_in_tiles_solve_the_equations(unknowns):
    rng = np.random.default_rng(unknowns)
    A, b = rng.normal(size=(unknowns, unknowns + 3)), rng.normal(size=unknowns)
    H, tiles = A @ A.T, _kernels_cholesky.tiles_for(unknowns)
    for factor in (1.0, 3.0):  # the tiles are used again
        lower = np.tril(factor * H)
        lower[np.triu_indices(unknowns, 1)] = np.nan  # nothing above the diagonal counts
        assert _kernels_cholesky.factorise(lower, tiles)
        x = _kernels_cholesky.solve_factorised(tiles, b)
        assert_allclose(factor * H @ x, b, atol=1e-8 * np.abs(x).max() * factor * np.abs(H).max())


@pytest.mark.parametrize("unknowns", [3, 200])
def test_factors_of_singular_and_of_indefinite_matrices(unknowns):
    rng = np.random.default_rng(unknowns)
    A = rng.normal(size=(unknowns, unknowns - 1))
    tiles = _kernels_cholesky.tiles_for(unknowns)
    for row, column in ((0, 0), (unknowns - 1, 0), (unknowns - 1, unknowns - 1)):
        spoilt = np.eye(unknowns)
        spoilt[row, column] = np.nan
        assert not _kernels_cholesky.factorise(spoilt, tiles)
    for last, found in ((-5.0, False), (-1e-9, True)):  # a small multiple of the identity is added
        spoilt = np.eye(unknowns)
        spoilt[-1, -1] = last
        assert _kernels_cholesky.factorise(spoilt, tiles) == found
    assert _kernels_cholesky.factorise(A @ A.T, tiles)  # the tiles are used again after failures
    x = _kernels_cholesky.solve_factorised(tiles, A[:, 0].copy())
    assert_allclose(A @ (A.T @ x), A[:, 0], atol=1e-3)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("make", [clouds, sparse_clouds])
def test_newton_steps_of_crammer_singer_solve_the_equations_of_all_classes(make, classes):
    rng = np.random.default_rng(classes)
    X, _ = make(rows=40, classes=classes)
    rows, whole, C, tau = linear_rows(X), np.hstack([np.ones((len(X), 1)), X]), 3.0, 0.2
    n, D, K = len(X), X.shape[1] + 1, classes - 1
    costs, support = rng.random(n) + 0.5, np.zeros((n, classes), dtype=bool)
    G = np.zeros((K * (K + 1) // 2, D * (D + 1) // 2))
    for _ in range(2):  # the second update changes the supports of the first
        P = np.maximum(rng.dirichlet(np.ones(classes), n) - 0.25, 0.0)
        P[np.arange(n), rng.integers(0, classes, n)] += 0.1
        _kernels_crammer_singer.update_grams(rows, costs, P, support, G)
    assert_array_equal(support, P > 0)
    H, tiles = np.empty((K * D, K * D)), _kernels_cholesky.tiles_for(K * D)
    _kernels_crammer_singer.fill_system(G, classes, D, C / tau, H)
    assert _kernels_cholesky.factorise(H, tiles)
    gradient = rng.normal(size=(D, classes))
    gradient -= gradient.mean(axis=1, keepdims=True)
    step = _kernels_crammer_singer.newton_step(tiles, gradient)
    full = np.eye(classes * D)
    for i in range(n):
        inside = support[i].astype(float)
        M = np.diag(inside) - np.outer(inside, inside) / inside.sum()
        full += C / tau * costs[i] * np.kron(M, np.outer(whole[i], whole[i]))
    assert_allclose(step.T.ravel(), -np.linalg.solve(full, gradient.T.ravel()), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("make", [clouds, sparse_clouds])
def test_the_hessian_of_gen_svms_loss_is_that_of_its_products(make, classes):
    rng = np.random.default_rng(classes)
    X, y = make(rows=40, classes=classes)
    rows, U, K, D = linear_rows(X), naive.corners(classes), classes - 1, X.shape[1] + 1
    V = rng.normal(size=(D, K))
    slopes, A, B = np.empty((40, classes)), np.empty((40, classes)), np.empty((40, classes))
    whole = np.hstack([np.ones((40, 1)), X])
    gen = _kernels_gen_newton
    gen.derivatives(whole @ V @ U.T, y, np.full(40, 1 / 40), 0.5, 1.5, slopes, A, B)
    blocks, H = np.empty((K * (K + 1) // 2, D * (D + 1) // 2)), np.zeros((K * D, K * D))
    gen.loss_hessian(rows, y, A, B, U, blocks)
    _kernels_rows.fill_blocks(blocks, K, D, 1.0, H)
    H = np.tril(H) + np.tril(H, -1).T
    for place in range(K * D):
        unit = np.zeros(K * D)
        unit[place] = 1.0
        changes = whole @ unit.reshape(K, D).T @ U.T
        gen.curvature_products(changes, y, A, B)
        assert_allclose(H[place], (whole.T @ changes @ U).T.ravel(), atol=1e-12)


@pytest.mark.parametrize("jump", [1.0, 1e4])
def test_points_of_a_line_search_approach_the_zero_of_the_slope(jump):
    def slope(far):
        return -1.0 + 0.1 * far if far < 0.3 else jump

    ends, far, seen = (0.0, 1.0, -1.0, 0.0, 0.0), 1.0, []
    for _ in range(150):
        far, ends = next_point(ends, far, slope(far))
        low, high = ends[:2]
        assert low < far < high and low <= 0.3 <= high
        seen.append(high - low)
        if high - low < 1e-9:
            break
    assert seen == sorted(seen, reverse=True) and seen[-1] < 1e-9
    assert flat_enough(0, -0.5, -1.0) and not flat_enough(1, -0.5, -1.0)
    assert flat_enough(1, 0.1, -1.0) and not flat_enough(1, 0.2, -1.0) and flat_enough(30, 0.2, -1.0)


def with_many_unknowns(X, classes):
    """Add enough features that are 0 for the line search of many unknowns; they have no weights."""
    wide = np.hstack([X, np.zeros((len(X), LARGE // (classes - 1)))])
    assert (classes - 1) * (wide.shape[1] + 1) > LARGE
    return wide[:, np.random.default_rng(5).permutation(wide.shape[1])]


@pytest.mark.parametrize(("kappa", "p"), [(-0.9, 1.0), (-0.9, 1.5), (0.5, 1.5), (5.0, 2.0)])
def test_gen_svm_with_many_unknowns_reaches_the_same_minima(kappa, p, monkeypatch):
    X, y = clouds(rows=150, classes=6, d=5, seed=5)

    def none_needed(*_):
        raise AssertionError("Newton's method did not converge")

    monkeypatch.setattr("confml.methods.svm.gen_svm.Problem.minimise", none_needed)
    found = []
    for inputs in (X, with_many_unknowns(X, 6)):
        model = GenSVM(solver="path", kappa=kappa, p=p)
        model._fit_path(inputs, y, CS)
        found.append(model.path_)
    for ridge in CS:
        assert found[1][ridge][1] == pytest.approx(found[0][ridge][1], rel=2e-7)


def test_machines_with_many_unknowns_reach_the_same_minima():
    X, y = clouds(rows=250, classes=6, d=5, seed=5)
    wide = with_many_unknowns(X, 6)
    narrow = path_of(X, y)
    for C, solution in path_of(wide, y).items():
        value, at_zero = solution.objective, C * 250
        assert solution.gap <= 1e-6 * max(min(value, at_zero - value), 0.1 * value)
        assert value == pytest.approx(narrow[C].objective, rel=2e-6)
        assert literal.objective(solution.weights, wide, y, C, np.ones(250)) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("method", [CrammerSinger, GenSVM])
def test_hard_training_sets(method):
    X, y = clouds(rows=40, classes=4)
    one = method(solver="path").fit(X[y == 1], y[y == 1])
    assert_array_equal(one.predict(X[:3]), [1, 1, 1])
    absent = method(solver="path").fit(X[y != 2], y[y != 2])
    assert 2 not in absent.predict(X) and list(absent.classes_) == [0, 1, 3]
    single = np.concatenate([np.flatnonzero(y == 0)[:1], np.flatnonzero(y != 0)])
    assert set(method(solver="path").fit(X[single], y[single]).classes_) == {0, 1, 2, 3}
    same = np.full((6, 2), 0.5)
    labels = method(solver="path").fit(same, [0, 1, 1, 1, 2, 2]).predict(same)
    assert_array_equal(labels, np.ones(6))
    for column in (np.zeros((40, 1)), np.ones((40, 1))):  # no example tells the classes apart
        assert len(set(method(solver="path").fit(column, y).predict(column))) == 1


def test_both_methods_refuse_too_many_unknowns():
    X, y = np.zeros((8, 2100)), np.arange(8) % 4
    X[:, :8] = np.eye(8)
    for method, other in ((CrammerSinger, "dual"), (GenSVM, "lbfgs")):
        with pytest.raises(ConfmlError, match="up to 8000 unknowns") as caught:
            method(solver="path").fit(np.hstack([X, X]), y)
        assert f"solver: {other}" in str(caught.value.hint)


def test_the_default_solver_is_liblinears():
    X, y = clouds(rows=80)
    grid = [{"C": 0.5}, {"C": 2.0}]
    found = CrammerSinger().evaluate_path(X, y, X, grid, np.random.default_rng(3))
    mixed = [{"C": 0.5}, {"C": 2.0, "solver": "path"}]
    first = next(iter(CrammerSinger().evaluate_path(X, y, X, mixed, np.random.default_rng(3))))[1]
    views = next(iter(found))[1]
    assert views.fit_metrics == {} and CrammerSinger.version == 3
    assert_array_equal(views["margin"].scores, first["margin"].scores)
    assert CrammerSinger().fit(X, y).fit_metrics_ == {}


# ---- ties


def test_tied_scores_go_to_the_class_with_more_rows_then_to_the_first():
    classes, counts = np.array(["a", "b", "c"]), np.array([2, 5, 5])
    scores = np.array([[0, 0, 0], [1, 1 - 1e-10, 0], [1, 1 - 1e-8, 0], [-1, -1 - 1e-10, -3], [0, 1, 1.0]])
    assert list(labels_with_ties(scores, classes, counts)) == ["b", "b", "a", "b", "b"]


def test_a_solution_that_tells_nothing_predicts_the_largest_class():
    """The features have the same distribution in each class, so that W = 0 is a minimum for each C."""
    X = np.tile(np.random.default_rng(0).random((6, 2)), (4, 1))
    y = np.repeat([0, 1, 2, 2], 6)
    y_equal = np.repeat([0, 1, 2, 3], 6)
    for solution in path_of(X, y_equal).values():
        assert_array_equal(solution.weights, 0)
    model = CrammerSinger(solver="path").fit(X, y_equal)
    assert_array_equal(model.predict(X), np.zeros(len(X)))
    model = GenSVM(solver="path", weights="group", ridge=2.0**18).fit(X, y)
    assert_array_equal(model.coefficients_, 0)
    assert_array_equal(model.predict(X), np.full(len(X), 2))


# ---- GenSVM

POINTS = list(itertools.product((-0.9, 0.5, 5.0), (1.0, 1.2, 1.5, 2.0), ("unit", "group")))


@pytest.mark.parametrize(  # by default, each point with dense or with sparse rows
    ("make", "kappa", "p", "weights"),
    [
        pytest.param(
            make, *point, marks=() if (place // 2 + place // 8 + sparse) % 2 else pytest.mark.exhaustive
        )
        for sparse, make in enumerate([clouds, sparse_clouds])
        for place, point in enumerate(POINTS)
    ],
)
def test_gen_svm_reaches_the_objective_of_lbfgs_on_the_whole_path(kappa, p, weights, make):
    X, y = make(rows=60, classes=4, seed=int(10 * p))
    found = {}
    for solver in ("path", "lbfgs"):
        model = GenSVM(solver=solver, kappa=kappa, p=p, weights=weights)
        model._fit_path(X, y, CS)
        found[solver] = model.path_
    for ridge in CS:
        V, ours, _ = found["path"][ridge]
        assert ours == pytest.approx(naive.objective(V, X, y, ridge, kappa, p, weights), rel=1e-9)
        assert ours <= found["lbfgs"][ridge][1] * (1 + 1e-6)


@pytest.mark.parametrize("classes", range(2, 11))
def test_gen_svm_with_any_number_of_classes(classes):
    X, y = clouds(rows=60, classes=classes, seed=classes)
    for ridge, kappa in ((2.0**-12, -0.99), (0.01, 0.0), (0.5, -0.9)):
        ours, theirs = (
            GenSVM(solver=solver, ridge=ridge, kappa=kappa, p=1.3).fit(X, y).objective_
            for solver in ("path", "lbfgs")
        )
        assert ours <= theirs * (1 + 1e-6)


def test_a_point_of_gen_svms_path_is_the_fit_alone():
    X, y = clouds(rows=80)
    grid = [{"ridge": ridge, "kappa": kappa} for ridge in (2.0**20, 3.0, 2.0**-17) for kappa in (-0.9, 5.0)]
    path = list(GenSVM(solver="path", p=1.5).evaluate_path(X, y, X, grid))
    back = list(GenSVM(solver="path", p=1.5).evaluate_path(X, y, X, grid[::-1]))[::-1]
    for (point, views), (_, other) in zip(path, back, strict=True):
        alone = GenSVM(solver="path", p=1.5, **point).fit(X, y)
        assert_array_equal(alone.confident_predict(X)["margin"].scores, views["margin"].scores)
        assert_array_equal(other["margin"].scores, views["margin"].scores)
        assert alone.fit_metrics_ == views.fit_metrics == other.fit_metrics


def test_gen_svm_with_a_kernel():
    X, y = clouds(rows=60)
    ours, theirs = (
        GenSVM(solver=solver, kernel="rbf", components=30, random_state=1, ridge=1e-3).fit(X, y).objective_
        for solver in ("path", "lbfgs")
    )
    assert ours == pytest.approx(theirs, rel=1e-6)
