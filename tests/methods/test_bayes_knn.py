"""Bayesian k-NN: against its literal version, exact against chains, degenerate input, published figures."""

import numpy as np
import pytest
from reference.bayes_knn import class_counts, posterior_summary
from scipy.special import log_softmax, softmax
from scipy.stats import norm
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import confml
from confml import BayesKNN
from confml.data import load
from confml.data.generators import five_gaussians, five_gaussians_probability
from confml.methods.base import Views
from confml.methods.bayes_knn.posterior import Nodes, Training
from confml.runner.check_views import check_views

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def tied_data(seed, n=24, d=2, classes=3, levels=4):
    """Small whole-number attributes: most distances tie, many rows are duplicates."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, levels, (n, d)).astype(float)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return X, y, rng.integers(0, levels, (7, d)).astype(float)


def two_blobs(n=80, seed=0, gap=1.5, d=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.standard_normal((n, d)) + gap * y[:, None] * (np.arange(d) == 0), y


# ---- neighbours and counts


@pytest.mark.parametrize("ties", ["average", "index"])
def test_counts_equal_literal(ties):
    X, y, new = tied_data(0)
    training = Training(X, y, 3, ties == "index")
    for rows, left_out in ((X, range(len(X))), (new, [None] * len(new))):
        counts = training.class_counts(None if rows is X else new, len(X) - 1)
        for k in range(1, len(X)):
            expected = [
                class_counts(row, X, y, 3, k, leave_out=i, ties=ties)
                for row, i in zip(rows, left_out, strict=True)
            ]
            np.testing.assert_allclose(counts[k - 1], np.array(expected, float), rtol=0, atol=1e-12)


# ---- exact inference


def apart(n, classes, gap):
    """Separable classes on a line: the density rises within a few units of beta and falls at 9 scales of the
    prior. One rule over all of it left errors of 5e-6 at the default scale, 3 % of the sd at 100, and more.
    """
    y = np.arange(n) % classes
    X = np.random.default_rng(n).standard_normal((n, 1)) + gap * y[:, None]
    return X, y, np.array([[0.3], [0.5 * gap], [1.1 * gap]])


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        (tied_data(0, n=12, classes=2), {}),
        (tied_data(3, n=12, classes=3), {"simple": True, "ties": "index"}),
        (tied_data(4, n=12, classes=4), {"ties": "index"}),
        (apart(12, 2, 100.0), {"beta_scale": 1.0}),
        (apart(60, 3, 50.0), {"beta_scale": 10.0}),
        (apart(40, 2, 6.0), {"beta_scale": 10_000.0}),
    ],
)
def test_exact_inference_equals_adaptive_integration(data, settings):
    X, y, new = data
    threshold = 0.6 if X.shape[1] == 1 else None
    settings = {"beta_scale": 3.0, "k_max": 200 if threshold is None else 4, **settings}
    mean, sd, exceedance, envelope, ks, evidence = posterior_summary(
        X, y, len(np.unique(y)), new, threshold=threshold, **settings
    )
    simple = settings.pop("simple", False)
    model = BayesKNN(model="simple" if simple else "standard", **settings).fit(X, y)
    views = model.confident_predict(new)
    np.testing.assert_allclose(views["reject"].scores, mean, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(views["posterior"].scores, views["reject"].scores)
    np.testing.assert_allclose(views["posterior"].extra["sd"], sd, rtol=0, atol=2e-8 if simple else 1e-11)
    np.testing.assert_allclose(views["envelope"].scores, envelope, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.k_posterior_, ks, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.log_evidence_, evidence, rtol=1e-12, atol=1e-12)
    if threshold is not None:
        np.testing.assert_allclose(model.exceedance(new, threshold), exceedance, rtol=0, atol=1e-7)


def test_reject_and_envelope_of_a_normal_probability():
    """The paper's example, section 3.2: p ~ N(0.6, 0.1^2) has reject 0.600 and envelope 0.841.

    A new example with its one neighbour in class 0 has p = 1 / (1 + exp(-beta)), so draws of p are draws of
    beta. The class with most neighbours is then not the most probable one where beta < 0, which the model's
    own prior rules out; so the envelope is taken as the paper does, as the share of draws with p > 1/2.
    """
    p = norm.ppf((np.arange(100_000) + 0.5) / 100_000, 0.6, 0.1)
    p = np.clip(p, 1e-9, 1.0 - 1e-9)
    beta = np.log(p / (1.0 - p))
    X, y = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 0, 1, 1])
    model = BayesKNN(k_max=1).fit(X, y)
    nodes = Nodes(np.array([0, len(beta)]), beta, np.full(len(beta), 1.0 / len(beta)))
    model.posterior_ = type(model.posterior_)(model.posterior_.training, nodes, (1, 1.0))
    views = model.confident_predict([[0.2]])
    assert views["reject"].scores[0, 0] == pytest.approx(0.600, abs=5e-4)
    assert views["posterior"].extra["sd"][0, 0] == pytest.approx(0.1, abs=5e-4)
    assert model.exceedance([[0.2]], 0.5)[0, 0] == pytest.approx(0.841, abs=5e-4)


def test_exceedance_is_the_share_of_the_posterior():
    X, y, new = tied_data(8, n=60, classes=4)
    exact = BayesKNN(k_max=20).fit(X, y)
    chain = BayesKNN(k_max=20, inference="mcmc", burn_in=2000, samples=5000, random_state=0).fit(X, y)
    for threshold in (0.3, 0.5, 0.8):
        np.testing.assert_allclose(
            exact.exceedance(new, threshold), chain.exceedance(new, threshold), atol=0.03
        )
    np.testing.assert_allclose(exact.exceedance(new, 0.0), 1.0, atol=1e-12)
    np.testing.assert_allclose(exact.exceedance(new, 1.0), 0.0, atol=1e-12)
    exact, chain = exact.confident_predict(new), chain.confident_predict(new)
    for view in ("reject", "envelope"):
        np.testing.assert_allclose(exact[view].scores, chain[view].scores, atol=0.03)


def test_exceedance_of_a_middle_class_is_one_interval():
    """The probability of a class between two others rises and falls with beta."""
    X = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 50, 51, 52, 53, 54, 55])[:, None]
    y, new = np.array([0, 0, 0, 1, 1, 0, 1, 2, 0, 1, 2]), np.array([[0.05]])
    model = BayesKNN(k_max=5, beta_scale=3.0).fit(X, y)
    expected = posterior_summary(X, y, 3, new, k_max=5, beta_scale=3.0, threshold=0.34)[2]
    np.testing.assert_allclose(model.exceedance(new, 0.34), expected, atol=1e-7)


def test_map_is_one_point_of_the_posterior():
    X, y = two_blobs()
    new = np.random.default_rng(5).standard_normal((9, 3))
    model = BayesKNN(estimate="map").fit(X, y)
    k, beta = model.map_
    counts = np.array([class_counts(x, X, y, 2, k) for x in new], float)
    views = model.confident_predict(new)
    np.testing.assert_allclose(views["reject"].scores, softmax(beta * counts / k, axis=1), atol=1e-12)
    assert np.all(views["posterior"].extra["sd"] < 1e-12)
    assert set(np.unique(views["envelope"].scores)) <= {0.0, 0.5, 1.0}


# ---- chains


@pytest.mark.parametrize(("model", "start_k"), [("simple", 10), ("standard", 1)])
def test_chains_agree_with_exact_from_bad_starts(model, start_k):
    """Noisy classes: the posterior of k lies around 30 to 100, a long way from the starts."""
    X, y = two_blobs(200, seed=4, gap=0.8)
    new = np.random.default_rng(5).standard_normal((20, 3))
    exact = BayesKNN(model=model).fit(X, y)
    assert exact.k_posterior_[:10].sum() < 0.05
    chain = BayesKNN(
        model=model, inference="mcmc", start_k=start_k, burn_in=5000, samples=4000, random_state=start_k
    ).fit(X, y)
    expected, views = exact.confident_predict(new), chain.confident_predict(new)
    error = views["reject"].extra["standard_error"]
    distance = np.abs(views["reject"].scores - expected["reject"].scores)
    # Four chains: Student's t with 3 degrees of freedom exceeds 13 once in 2000 draws.
    assert np.all(distance <= 13.0 * error + 1e-4)
    assert distance.max() < 0.01
    np.testing.assert_allclose(views["envelope"].scores, expected["envelope"].scores, atol=0.05)
    sds = [posterior["posterior"].extra["sd"] for posterior in (views, expected)]
    np.testing.assert_allclose(*sds, atol=0.01)
    assert chain.diagnostics_.worst_rhat < 1.02


def test_adaptive_with_one_attribute_is_standard():
    """A single attribute has one metric only, up to the scale that k-NN ignores."""
    X, y = two_blobs(60, d=1)
    new = np.linspace(-2, 3, 11)[:, None]
    exact = BayesKNN().fit(X, y).confident_predict(new)
    model = BayesKNN(model="adaptive", burn_in=2000, samples=1000, thin=5, random_state=0).fit(X, y)
    views = model.confident_predict(new)
    np.testing.assert_allclose(views["reject"].scores, exact["reject"].scores, atol=0.02)
    np.testing.assert_allclose(views["envelope"].scores, exact["envelope"].scores, atol=0.06)


def test_adaptive_posterior_without_information_is_the_prior():
    """With beta held near 0 by its prior, nothing is learnt: shares of a random metric average 1/d."""
    X, y = two_blobs(30, d=3)
    model = BayesKNN(
        model="adaptive", beta_scale=1e-6, k_max=3, burn_in=1000, samples=2000, thin=5, random_state=0
    ).fit(X, y)
    shares = np.concatenate([draws.shares for draws in model.posterior_.by_chain])
    np.testing.assert_allclose(shares.mean(axis=0), 1 / 3, atol=0.03)
    np.testing.assert_allclose(model.k_posterior_, 1 / 3, atol=0.05)
    # lambda on the simplex is uniform: its largest of three averages 11/18.
    transforms = np.concatenate([draws.transforms for draws in model.posterior_.by_chain])
    lambdas = (transforms**2).sum(axis=1)
    lambdas /= lambdas.sum(axis=1, keepdims=True)
    assert lambdas.max(axis=1).mean() == pytest.approx(11 / 18, abs=0.03)


@pytest.mark.parametrize("proposal", ["improved", "paper"])
def test_metric_counts_stay_those_of_the_metric(proposal):
    """After many moves in place, the kept state's likelihood is the one computed from scratch."""
    X, y = two_blobs(40, d=3)
    model = BayesKNN(
        model="adaptive", proposal=proposal, chains=1, burn_in=200, samples=30, thin=10, random_state=3
    ).fit(X, y)
    draws = model.posterior_.by_chain[0]
    for row in (0, 29):
        k, beta, transform = draws.ks[row], draws.betas[row], draws.transforms[row]
        counts = Training(X @ transform, y, 2, False).class_counts(None, 39)[k - 1]
        log_likelihood = log_softmax(beta * counts / k, axis=1)[np.arange(40), y].sum()
        prior = -0.5 * (beta / 10.0) ** 2 - (proposal == "improved") * (transform**2).sum()
        assert draws.log_densities[row] == pytest.approx(log_likelihood + prior, abs=1e-8)
        metric = transform @ transform.T
        np.testing.assert_allclose(draws.shares[row], np.diag(metric) / np.trace(metric), atol=1e-12)


@pytest.mark.parametrize(
    "settings", [{"inference": "mcmc"}, {"model": "adaptive"}, {"model": "adaptive", "proposal": "paper"}]
)
def test_same_seed_same_bytes_for_any_number_of_threads(settings):
    X, y = two_blobs(40)
    settings = {**settings, "burn_in": 40, "samples": 20, "thin": 2, "chains": 3}
    by_one = BayesKNN(**settings, random_state=0).fit(X, y).confident_predict(X)
    with confml.threads(2):
        by_two = BayesKNN(**settings, random_state=0).fit(X, y).confident_predict(X)
    for view in ("reject", "envelope", "posterior"):
        np.testing.assert_array_equal(by_one[view].scores, by_two[view].scores)
    assert np.any(by_one["reject"].scores != BayesKNN(**settings, random_state=1).fit(X, y).predict_proba(X))


def test_bad_chains_warn_in_words():
    X, y = two_blobs()
    with pytest.warns(ConvergenceWarning, match="have not converged: R-hat is .* for .*1.05"):
        BayesKNN(inference="mcmc", proposal="paper", burn_in=0, samples=30, thin=1, random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="cannot be checked with one chain"):
        BayesKNN(inference="mcmc", chains=1, random_state=0).fit(X, y)


# ---- published data: "figures to expect"


def per_cent_correct(data, train, test, model):
    """On features standardised by the training rows."""
    X = StandardScaler().fit(data.X[train]).transform(data.X)
    return 100.0 * BayesKNN(model=model).fit(X[train], data.y[train]).score(X[test], data.y[test])


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "train_rows", "model", "expected", "within"),
    [
        # Means over 20 random splits of the paper's sizes; `within` is three standard errors of a difference.
        ("pima", 512, "simple", 74.0, 2.3),
        ("pima", 512, "standard", 74.6, 2.3),
        ("sonar", 138, "simple", 85.0, 5.0),
        ("sonar", 138, "standard", 82.7, 5.5),
    ],
)
def test_random_splits(needs_data, name, train_rows, model, expected, within):
    needs_data(name)
    data = load({"name": name})
    orders = [np.random.default_rng(seed).permutation(len(data.y)) for seed in range(20)]
    correct = [per_cent_correct(data, *np.split(order, [train_rows]), model) for order in orders]
    assert np.mean(correct) == pytest.approx(expected, abs=within)
    assert 1.0 < np.std(correct, ddof=1) < 7.5


@pytest.mark.real_data
@pytest.mark.parametrize("model", ["simple", "standard"])
@pytest.mark.parametrize(("name", "rows", "expected"), [("ionosphere", 200, 92.1), ("wisconsin", 455, 99.6)])
def test_splits_by_first_rows(needs_data, name, rows, expected, model):
    needs_data(name)
    data = load({"name": name})
    correct = per_cent_correct(data, np.arange(rows), np.arange(rows, len(data.y)), model)
    assert correct == pytest.approx(expected, abs=0.05)


def test_exceedance_view_accepts_what_the_papers_measure_accepts():
    X, y, new = tied_data(5, n=60)
    model = BayesKNN(exceeding=0.4).fit(X, y)
    views = model.confident_predict(new)
    checked = Views(views, 0.0, 0.0, model.fit_metrics_)
    check_views(checked, "bayes-knn", len(new), np.arange(3))  # a run accepts it: the scores do not sum to 1
    view, above = views["exceedance"], model.exceedance(new, 0.4)
    assert np.abs(view.scores.sum(axis=1) - 1).max() > 0.1
    for s in (0.3, 0.8):
        np.testing.assert_array_equal(view.accepted(s), np.max(above, axis=1) >= s)
    none = above.max(axis=1) == 0  # nowhere above: the label is reject's
    np.testing.assert_array_equal(view.labels[none], views["reject"].labels[none])


def standardised_halves(seed):
    """Wine: standardised (X, y) of 89 random rows and of the others."""
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:89], order[89:]
    X = StandardScaler().fit(X[train]).transform(X)
    return X[train], y[train], X[test], y[test]


def test_exceedance_is_stringent_where_estimates_are_small():
    """Section 3.2, t = 0.7 and s = 0.95: per cent of test examples that are UNSURE, and UNSURE but right.

    Section 4.3: how often reject's estimates are close to 1; with beta = 1 the largest is e / (e + 2).
    """
    unsure: dict = {}
    largest, close = [], []
    for seed in range(5):
        X, y, new, truth = standardised_halves(seed)
        for model in ("simple", "standard"):
            views = BayesKNN(model=model, exceeding=0.7).fit(X, y).confident_predict(new)
            for name in ("envelope", "exceedance"):
                rejected = ~views[name].accepted(0.95)
                right = views[name].labels == truth
                unsure.setdefault((model, name), []).append([rejected.mean(), np.mean(rejected & right)])
            largest.append(views["reject"].scores.max(axis=1))
        close.append([np.mean(largest[-1] > level) for level in (0.9, 0.99, 0.999)])
    means = {key: [f"{100 * value:.0f}" for value in np.mean(part, axis=0)] for key, part in unsure.items()}
    assert means == {
        ("simple", "envelope"): ["9", "4"],
        ("simple", "exceedance"): ["100", "93"],
        ("standard", "envelope"): ["5", "3"],
        ("standard", "exceedance"): ["7", "5"],
    }
    assert np.max(largest[::2]) == pytest.approx(np.e / (np.e + 2), abs=1e-3)
    assert [f"{100 * share:.0f}" for share in np.mean(close, axis=0)] == ["92", "73", "32"]


def test_points_of_figure_1():
    """Border points rarely have the paper's pair of estimates, points inside the classes nearly always do."""
    heights = np.linspace(-1.5, 1.5, 601)
    border = []
    for x in np.linspace(-1.0, 1.0, 21):
        line = np.column_stack([np.full(len(heights), x), heights])
        above = five_gaussians_probability(line)[:, 1] - 0.5
        for i in np.flatnonzero(np.diff(np.sign(above))):
            step = above[i] / (above[i] - above[i + 1])
            border.append((x, heights[i] + step * (heights[i + 1] - heights[i])))
    points = np.array([(0.4, 0.8), (0.3, 0.15), *border])
    reject, envelope = [], []
    for seed in range(20):
        X, y = five_gaussians(250, np.random.default_rng(seed))
        scaler = StandardScaler().fit(X)
        views = BayesKNN().fit(scaler.transform(X), y).confident_predict(scaler.transform(points))
        reject.append(views["reject"].scores[:, 1])
        envelope.append(views["envelope"].scores[:, 1])
    reject, envelope = np.array(reject), np.array(envelope)
    estimates, votes = reject[:, 2:], envelope[:, 2:]
    both = (np.abs(estimates - 0.5) < 0.05) & (np.abs(votes - 0.3) < 0.1)
    assert 0.01 < both.mean() < 0.1
    assert ((votes < 0.05) | (votes > 0.95)).mean() > 0.6
    assert np.median(envelope[:, 0]) > 0.99 and np.median(envelope[:, 1]) < 0.01
    apart = np.median(np.abs(reject - envelope)[:, :2], axis=0)
    assert ((apart > 0.03) & (apart < 0.05)).all()
