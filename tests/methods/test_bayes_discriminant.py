"""Geisser's Bayesian discriminant: the closed form against draws and a literal version, and priors."""

import numpy as np
import pytest
from scipy.stats import invwishart, multivariate_t

from confml import BayesDiscriminant
from confml.errors import ConfmlError


def rows(seed=0, counts=(14, 9, 20), d=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    centres = rng.normal(scale=1.5, size=(len(counts), d))
    mix = rng.normal(size=(len(counts), d, d)) / 2 + np.eye(d)
    X = centres[y] + np.einsum("nd,nde->ne", rng.normal(size=(len(y), d)), mix[y])
    return X, y, centres[rng.integers(0, len(counts), 12)] + rng.normal(size=(12, d))


def posteriors(X, y, form):
    """Number, mean, scatter matrix and degrees of freedom of each class."""
    classes = range(y.max() + 1)
    parts = [X[y == j] - X[y == j].mean(axis=0) for j in classes]
    scatters = [part.T @ part for part in parts]
    degrees = [len(part) - 1 for part in parts]
    if form == "linear":
        scatters, degrees = [sum(scatters)] * len(parts), [len(X) - len(parts)] * len(parts)
    return [(len(parts[j]), X[y == j].mean(axis=0), scatters[j], degrees[j]) for j in classes]


@pytest.mark.parametrize("form", ["linear", "quadratic"])
def test_the_predictive_is_a_multivariate_t(form):
    X, y, new = rows()
    d = X.shape[1]
    densities = []
    for n, mean, scatter, degrees in posteriors(X, y, form):
        free = degrees - d + 1
        t = multivariate_t(mean, (1 + 1 / n) * scatter / free, df=free)
        densities.append((n + 1) * t.pdf(new))
    expected = np.column_stack(densities)
    model = BayesDiscriminant(form).fit(X, y)
    p = model.predict_proba(new)
    np.testing.assert_allclose(p, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_array_equal(model.confident_predict(new)["reject"].scores, p)


@pytest.mark.parametrize("form", ["linear", "quadratic"])
def test_the_draws_are_those_of_the_posterior(form):
    """Class probabilities of draws of scipy's inverse Wishart distribution."""
    X, y, new = rows(counts=(30, 25, 40), d=2)
    rng, parts = np.random.default_rng(2), posteriors(X, y, form)
    shared = invwishart(parts[0][3], parts[0][2]).rvs(3000, random_state=rng)
    q = rng.dirichlet([n + 1 for n, *_ in parts], 3000)
    columns = []
    for j, (n, mean, scatter, degrees) in enumerate(parts):
        S = shared if form == "linear" else invwishart(degrees, scatter).rvs(3000, random_state=rng)
        m = mean + np.einsum("sde,se->sd", np.linalg.cholesky(S / n), rng.normal(size=(3000, 2)))
        away = new - m[:, None]
        squares = np.einsum("snd,sde,sne->sn", away, np.linalg.inv(S), away)
        columns.append(q[:, j, None] * np.exp(-squares / 2) / np.sqrt(np.linalg.det(2 * np.pi * S))[:, None])
    draws = np.stack(columns, axis=2)
    draws /= draws.sum(axis=2, keepdims=True)
    views = BayesDiscriminant(form, draws=3000, random_state=3).fit(X, y).confident_predict(new)
    mean, sd = draws.mean(axis=0), draws.std(axis=0)
    np.testing.assert_allclose(views["posterior"].scores, mean, atol=6 * sd.max() / np.sqrt(3000))
    np.testing.assert_allclose(views["posterior"].extra["sd"], sd, atol=0.02)
    best = (draws == draws.max(axis=2, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(views["envelope"].scores, best, atol=0.055)  # 4 errors of 2 x 3000 draws
    np.testing.assert_allclose(views["exceedance"].scores, (draws > 0.5).mean(axis=0), atol=0.055)


def test_it_does_not_depend_on_units_and_on_constant_features():
    X, y, new = rows()
    model, units = BayesDiscriminant("quadratic", random_state=1), [1e-6, 3.0, 1e9]
    expected = model.fit(X, y).confident_predict(new)
    moved = np.column_stack([X * units + 5.0, np.full(len(y), 7.0)])
    views = model.fit(moved, y).confident_predict(np.column_stack([new * units + 5.0, np.arange(12.0)]))
    for name, view in views.items():
        np.testing.assert_allclose(view.scores, expected[name].scores, atol=1e-7, err_msg=name)


def test_too_few_examples_have_a_proper_prior():
    X, y, new = rows(counts=(14, 3, 20))
    model = BayesDiscriminant("quadratic").fit(X, y)
    assert model.fit_metrics_["prior_rows"] == 5  # d + 2
    assert np.isfinite(model.predict_proba(new)).all()
    assert BayesDiscriminant("linear").fit(X, y).fit_metrics_["prior_rows"] == 0
    with pytest.raises(ConfmlError, match="prior_rows 0 leaves a covariance of 3 features without"):
        BayesDiscriminant("quadratic", prior_rows=0.0).fit(X, y)
    twice = np.column_stack([X, X[:, 0] + X[:, 1]])  # a singular scatter matrix of many examples
    assert BayesDiscriminant("linear").fit(twice, y).fit_metrics_["prior_rows"] == 6
