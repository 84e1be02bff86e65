"""The k-NN Venn predictor against its literal definition, with ties, duplicates and few rows."""

from __future__ import annotations

import numpy as np
import pytest
from reference.venn import venn_knn
from trials import more_of

from confml.methods.venn_knn import VennKNN

TAXONOMIES = ("votes", "majority", "counts")


def bag(seed, d=2):
    """Rows on a coarse grid, so full of ties and duplicates, of 1 to 4 classes."""
    rng = np.random.default_rng(seed)
    m, c = int(rng.integers(1, 18)), int(rng.integers(1, 5))
    X = rng.integers(0, [2, 4, 9][seed % 3], (m, d)).astype(float)
    X_new = np.concatenate([X[:2], rng.integers(0, 6, (3, d))]).astype(float)
    return X, rng.integers(0, c, m), X_new


@pytest.mark.parametrize("taxonomy", TAXONOMIES)
@pytest.mark.parametrize("seed", [*range(10), *more_of(range(10, 25))])
def test_equals_the_literal_definition(seed, taxonomy):
    X, y, X_new = bag(seed)
    for k in (1, 2, 3, 7):
        labels, codes = np.unique(y, return_inverse=True)
        view = VennKNN(k, taxonomy).fit(X, y).confident_predict(X_new)["venn"]
        minimax = VennKNN(k, taxonomy, "minimax").fit(X, y).confident_predict(X_new)["venn"]
        for r, row in enumerate(X_new):
            P = np.array(venn_knn(X, codes.tolist(), row, k, len(labels), taxonomy), dtype=float)
            np.testing.assert_array_equal(view.extra["lower"][r], P.min(axis=0))
            np.testing.assert_array_equal(view.extra["upper"][r], P.max(axis=0))
            np.testing.assert_allclose(view.scores[r], P.mean(axis=0), rtol=1e-12)
            np.testing.assert_allclose(minimax.scores[r], np.diag(P) / np.trace(P), rtol=1e-12)


@pytest.mark.parametrize("taxonomy", TAXONOMIES)
def test_many_features_and_rows_in_any_order(taxonomy):
    """Sums of many features end early, and search trees are not used."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (30, 40)).astype(float), rng.integers(0, 3, 30)
    X[10:15] = X[5]
    X_new = np.concatenate([X[3:6], rng.integers(0, 3, (3, 40))]).astype(float)
    view = VennKNN(3, taxonomy).fit(X, y).confident_predict(X_new)["venn"]
    order = rng.permutation(30)
    other = VennKNN(3, taxonomy).fit(X[order], y[order]).confident_predict(X_new)["venn"]
    np.testing.assert_array_equal(view.scores, other.scores)
    for r, row in enumerate(X_new):
        P = np.array(venn_knn(X, y.tolist(), row, 3, 3, taxonomy), dtype=float)
        np.testing.assert_array_equal(view.extra["lower"][r], P.min(axis=0))
        np.testing.assert_array_equal(view.extra["upper"][r], P.max(axis=0))


def test_nominal_features_are_compared_as_categories():
    """0/1 columns of two categories have the same distances as the codes, up to their unit."""
    rng = np.random.default_rng(4)
    codes, y = rng.integers(0, 2, (25, 3)).astype(float), rng.integers(0, 2, 25)
    one = VennKNN(2, nominal=[0, 1, 2]).fit(codes, y).confident_predict(codes[:6])["venn"]
    other = VennKNN(2).fit(codes, y).confident_predict(codes[:6])["venn"]
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.extra["upper"], other.extra["upper"])


def test_a_sweep_shares_the_search_and_has_the_same_results():
    X, y, X_new = bag(5)
    grid = [{"k": k, "taxonomy": name} for k in (4, 1, 2) for name in TAXONOMIES]
    method = VennKNN()
    state = method.prepare(X, y, grid)
    for given in (None, state):
        for point, views in method.evaluate_path(X, y, X_new, grid, state=given):
            alone = VennKNN(**point).fit(X, y).confident_predict(X_new)["venn"]
            np.testing.assert_array_equal(views["venn"].scores, alone.scores)
            np.testing.assert_array_equal(views["venn"].extra["lower"], alone.extra["lower"])


def test_no_probability_is_zero_and_bounds_hold_the_mean():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 4, 80)
    for taxonomy in TAXONOMIES:
        view = VennKNN(3, taxonomy).fit(X, y).confident_predict(rng.normal(size=(20, 3)))["venn"]
        assert (view.scores > 0).all()
        assert (view.extra["lower"] <= view.scores).all()
        assert (view.scores <= view.extra["upper"]).all()
        np.testing.assert_allclose(view.scores.sum(axis=1), 1.0)
