"""Posterior draws of any classifier: sources of draws, wrappers, errors, and stored models."""

import numpy as np
import pytest
from reference.posterior import metropolis, summary_of_draws
from scipy.special import log_softmax, ndtr, softmax
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from trials import clouds, more_of

from confml import KNN, Conformal, NaiveBayes, Samples
from confml.config import make_config
from confml.errors import ConfigError, ConfmlError
from confml.methods.registry import build, check
from confml.methods.samples.laplace import contrasts, negative_hessian

FOREST = "sklearn.ensemble.RandomForestClassifier"
POSTERIOR = ["reject", "envelope", "posterior", "exceedance"]


def blobs(rows=90, classes=3, features=4):
    X, y, new = clouds(rows, classes, features)
    return X, y, new[:25]


def agrees(views, draws):
    mean, sd, envelope, exceedance, entropies = summary_of_draws(draws, [1.0] * len(draws), 0.5)
    for name, value in (("reject", mean), ("envelope", envelope), ("exceedance", exceedance)):
        np.testing.assert_allclose(views[name].scores, value, atol=1e-11, err_msg=name)
    np.testing.assert_allclose(views["posterior"].extra["sd"], sd, atol=1e-11)
    information = views["reject"].extra["mutual_information"]
    np.testing.assert_allclose(information, np.array(entropies)[:, 2], atol=1e-11)


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_the_draws_of_a_forest_are_its_trees(forest):
    X, y, new = blobs()
    labels = np.array(["x", "y", "z"])[y]
    model = forest(n_estimators=50, max_depth=3, random_state=1)
    views = Samples(model, "ensemble").fit(X, labels).confident_predict(new)
    assert list(views) == POSTERIOR
    agrees(views, [tree.predict_proba(new).tolist() for tree in model.fit(X, labels).estimators_])


def test_members_of_bagging_may_lack_classes_and_features():
    X, y, new = blobs()
    model = BaggingClassifier(KNeighborsClassifier(1), 60, max_samples=3, max_features=2, random_state=1)
    views = Samples(model, "ensemble").fit(X, y).confident_predict(new)
    np.testing.assert_allclose(views["reject"].scores, model.fit(X, y).predict_proba(new), atol=1e-12)
    assert any(len(member.classes_) < 3 for member in model.estimators_)


def test_the_bootstrap_has_dirichlet_weights_where_they_are_taken():
    X, y, new = blobs()
    model, rng = Samples(GaussianNB(), random_state=4).fit(X, y), np.random.default_rng(4)
    weights = [90 * rng.dirichlet(np.ones(90)) for _ in range(60)]
    draws = [GaussianNB().fit(X, y, weight).predict_proba(new).tolist() for weight in weights]
    agrees(model.confident_predict(new), draws)
    assert model.fit_metrics_ == {"effective_draws": 60.0, "share_error": pytest.approx(0.0645, abs=1e-4)}


def test_the_bootstrap_of_other_classifiers_draws_rows():
    X, y, new = blobs()
    with pytest.warns(UserWarning, match="20 effective draws: the Monte Carlo error of a share is up to 0.1"):
        model = Samples(NaiveBayes(), draws=20, random_state=4).fit(X, y)
    rng = np.random.default_rng(4)
    members = [NaiveBayes().fit(X[rows], y[rows]) for rows in (rng.integers(90, size=90) for _ in range(20))]
    agrees(model.confident_predict(new), [member.predict_proba(new).tolist() for member in members])


def test_a_resample_may_lack_a_class():
    X, y, new = blobs()
    y = np.r_[1, 2, np.zeros(88, int)]
    p = Samples(NaiveBayes(), draws=50, random_state=0).fit(X, y).predict_proba(new)
    np.testing.assert_allclose(p @ np.ones(3), 1)


@pytest.mark.parametrize("classifier", [LinearSVC(), KNN()], ids=["margin", "vote"])
def test_a_classifier_without_probabilities_has_the_envelope_of_its_labels(classifier):
    X, y, new = blobs()
    model = Samples(classifier, draws=50, random_state=0).fit(X, y)
    views = model.confident_predict(new)
    assert list(views) == ["envelope"]
    labels = np.array([member.predict(new) for member in model.members_])
    shares = [(labels == j).mean(axis=0) for j in range(3)]
    np.testing.assert_allclose(views["envelope"].scores, np.transpose(shares), atol=1e-11)


# ---- Laplace


def logits_of(theta, X, c):
    """Of scikit-learn's logistic regression with c classes; theta: (k (d + 1),), the intercepts last."""
    weights = theta.reshape(-1, X.shape[1] + 1)
    logits = X @ weights[:, :-1].T + weights[:, -1]
    return np.column_stack([np.zeros(len(X)), logits[:, 0]]) if c == 2 else logits


def log_posterior(theta, X, y, c, C):
    penalty = 0.5 / C * np.sum(theta.reshape(-1, X.shape[1] + 1)[:, :-1] ** 2)
    return log_softmax(logits_of(theta, X, c), axis=1)[np.arange(len(X)), y].sum() - penalty


@pytest.mark.parametrize("classes", [2, 3])
def test_the_hessian_is_that_of_the_log_posterior(classes):
    X, y, _ = blobs(classes=classes, features=2)
    fitted = LogisticRegression(C=0.7, tol=1e-10).fit(X, y)
    A = contrasts(classes) if classes > 2 else np.eye(1)
    both = np.column_stack([fitted.coef_, fitted.intercept_])
    unit = 1e-3 * np.eye(A.shape[1] * 3)

    def at(phi):
        return log_posterior((both + A @ phi.reshape(-1, 3)).ravel(), X, y, classes, 0.7)

    differences = [[at(i + j) - at(i - j) - at(j - i) + at(-i - j) for j in unit] for i in unit]
    expected = -np.array(differences) / (4 * 1e-6)
    hessian = negative_hessian(fitted, X, np.ones(len(y)))
    np.testing.assert_allclose(hessian, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("classes", [*more_of([2]), 3])
def test_laplace_agrees_with_a_long_markov_chain(classes, exhaustive):
    """Five features: the means of the class probabilities are within 0.01."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(400) % classes)
    centres = rng.normal(scale=0.6, size=(classes, 5))
    X = centres[y] + rng.normal(size=(400, 5))
    new = centres[rng.integers(0, classes, 40)] + rng.normal(size=(40, 5))
    fitted = LogisticRegression(tol=1e-8).fit(X, y)

    def log_density(theta):
        # With three classes the intercepts have a flat direction, on which probabilities do not depend.
        flat = 0.0 if classes == 2 else -0.5 * theta.reshape(classes, -1)[:, -1].sum() ** 2
        return log_posterior(theta, X, y, classes, 1.0) + flat

    start = np.column_stack([fitted.coef_, fitted.intercept_]).ravel()
    chain = metropolis(log_density, start, 0.12, 100_000 if exhaustive else 40_000, rng)[::20]
    means = np.mean([softmax(logits_of(theta, new, classes), axis=1) for theta in chain], axis=0)
    view = Samples(LogisticRegression(tol=1e-8), "laplace", random_state=1).fit(X, y).confident_predict(new)
    distances = np.abs(view["reject"].scores - means)
    assert distances.max() < 0.01 + 3 * view["reject"].extra["standard_error"].max()
    assert distances.mean() < 0.008


def test_laplace_has_weights_of_classes_and_no_intercept():
    X, y, new = blobs(classes=2)

    def views(rows, **settings):
        model = Samples(LogisticRegression(**settings), "laplace", random_state=1)
        return model.fit(X, y).confident_predict(rows)

    heavy, light = views(new, class_weight={0: 100, 1: 100}), views(new)
    assert heavy["posterior"].extra["sd"].mean() < 0.5 * light["posterior"].extra["sd"].mean()
    np.testing.assert_allclose(views(np.zeros((1, 4)), fit_intercept=False)["reject"].scores, 0.5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"solver": "liblinear"}, "penalise the intercept"),
        ({"solver": "saga", "l1_ratio": 0.5, "C": 0.1}, "l1"),
        ({"C": np.inf}, "flat in a direction"),
    ],
)
def test_laplace_needs_a_posterior_with_a_hessian(settings, reason):
    X, y, _ = blobs(classes=2)
    with pytest.raises(ConfmlError, match=reason):
        Samples(LogisticRegression(**settings), "laplace").fit(np.column_stack([X, np.zeros(len(X))]), y)


# ---- configs, wrappers, models


@pytest.mark.parametrize(
    ("name", "params", "reason"),
    [
        ("sklearn.ensemble.GradientBoostingClassifier", {"samples": "ensemble"}, "needs an ensemble"),
        ("knn", {"samples": "ensemble"}, "needs an ensemble"),
        (FOREST, {"samples": "laplace"}, "LogisticRegression"),
        (FOREST, {"samples": "ensemble", "samples__draws": 9}, "draws needs kind: bootstrap"),
        ("bayes-knn", {"samples": "bootstrap"}, "posterior of its parameters"),
        ("tcm-nn", {"samples": "bootstrap"}, "no posterior"),
        ("external", {"samples": "bootstrap", "probabilities": "p.csv"}, "not fitted"),
        ("knn", {"samples__draws": 9}, "samples"),
        (FOREST, {"samples": "bootstrap", "conformal": "oob"}, "no out-of-bag"),
    ],
)
def test_settings_without_draws_are_refused(name, params, reason):
    with pytest.raises(ConfigError, match=reason):
        check(name, params)


def test_a_number_of_samples_is_a_parameter_of_the_method():
    method = {"name": "bayes-knn", "inference": "mcmc", "samples": 500}
    values = {"datasets": ["iris"], "protocol": "holdout"}
    with pytest.raises(ConfigError):
        make_config({**values, "methods": [{**method, "samples__draws": 3}]})
    entry = make_config({**values, "methods": [method]}).methods[0]
    assert entry.given == {"inference": "mcmc", "samples": 500}
    assert make_config({**values, "methods": [entry.as_dict()]}).methods[0] == entry


@pytest.mark.parametrize("view", [None, *POSTERIOR])
def test_conformal_on_top_of_each_view(view):
    X, y, _ = blobs(rows=400)
    params = {"samples": "bootstrap", "samples__draws": 50, "m": 2.0, "conformal": "split"}
    method = build("naive-bayes", params | ({} if view is None else {"conformal__view": view}))
    assert isinstance(method, Conformal) and isinstance(method.estimator, Samples)
    assert method.get_params()["estimator__estimator__m"] == 2.0
    prediction = method.set_params(random_state=3).fit(X[:300], y[:300]).confident_predict(X[300:])["p-value"]
    covered = prediction.region(0.1)[np.arange(100), y[300:]]
    assert covered.mean() > 0.8  # 0.9 expected, with a standard deviation of 0.04
    shown = method.fitted_[0].method.confident_predict(X[300:])[view or "reject"]
    scores = shown.scores[:, 0]
    if view == "posterior":
        scores = ndtr((scores - 0.5) / shown.extra["sd"][:, 0])
    order = np.argsort(prediction.extra["nonconformity"][:, 0])
    assert np.all(np.diff(scores[order]) <= 1e-9)
