"""Bayesian transduction: volumes against rejection sampling, invariances, soft versions, errors."""

import warnings

import numpy as np
import pytest
from reference import bayes_transduction as naive
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from confml.data import load
from confml.errors import ConfmlError
from confml.measures.bounds import hoeffding_draws
from confml.measures.rejection import band, curve_of
from confml.methods.version_space._kernels_follow import student_cdf
from confml.methods.version_space.bayes_point_machine import BayesPointMachine
from confml.methods.version_space.bayes_transduction import BayesTransduction
from confml.methods.version_space.billiard import BATCHES, BilliardSettings, sample
from confml.methods.version_space.kernel_functions import KernelFunction, median_distance
from confml.methods.version_space.kernel_svm import KernelSVM
from confml.methods.version_space.version_space import RangeSpace, VersionSpace


def separable(d, n, seed, margin=0.0):
    """n rows in d dimensions that a perceptron without bias tells apart."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    X = rng.normal(size=(3 * n, d))
    X = X[np.abs(X @ w) > margin][:n]
    return X, np.where(X @ w > 0, 1, -1), rng.normal(size=(12, d))


def overlapping(n=60, seed=2, d=4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, -1, 1)
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y, rng.normal(size=(15, d))


def linear(**params):
    return BayesTransduction(kernel="linear", **{"random_state": 1, **params})


# ---- volumes


@pytest.mark.parametrize("d, n, seed", [(2, 3, 0), (2, 6, 1), (3, 3, 6), (3, 5, 3), (3, 8, 4)])
def test_shares_are_those_of_rejection_sampling(d, n, seed):
    X, y, X_test = separable(d, n, seed)
    sampled = naive.rejection_sample(X, y, 400_000, np.random.default_rng(9))
    assert len(sampled) > 2000
    expected = (sampled @ X_test.T > 0).mean(axis=0)
    view = linear().fit(X, y).confident_predict(X_test)["probability"]
    error = np.hypot(view.extra["standard_error"], np.sqrt(expected * (1 - expected) / len(sampled)))
    assert (np.abs(view.scores[:, 1] - expected) <= 4.5 * error + 1e-9).all()
    assert (np.abs(view.scores[:, 1] - expected) < 0.02).all()
    assert (view.extra["rhat"] < 1.05).all()


def test_without_fresh_directions_the_billiard_need_not_be_ergodic():
    """A trajectory that repeats itself for ever does not see all of version space; fresh directions do."""
    X, y = np.vstack([np.eye(3), [[-1, 0, 0]]]), np.array([1, 1, 1, -1])
    X_test = np.random.default_rng(3).normal(size=(20, 3))
    sampled = naive.rejection_sample(X, y, 200_000, np.random.default_rng(1))
    expected = (sampled @ X_test.T > 0).mean(axis=0)

    def worst(refresh):
        method = linear(refresh=refresh, n_bounces=50_000)
        return np.abs(method.fit(X, y).predict_proba(X_test)[:, 1] - expected).max()

    assert worst(None) > 0.05  # in an octant every trajectory closes, after an arc of pi
    for refresh in (np.pi, 4 * np.pi, 5.0):
        assert worst(refresh) < 0.015


def test_where_the_whole_trajectory_agrees():
    """The error is 1 / n for the effective sample size n, that of the trajectory and not of the bounces."""
    X, y, X_test = overlapping(40, 6)
    method = BayesTransduction(sigma=2.0, random_state=1, n_bounces=20_000).fit(X, y)
    view, ess = method.confident_predict(X)["probability"], method.fit_metrics_["ess"]
    assert (view.scores.max(axis=1) == 1).all() and (view.labels == y).all()
    assert (view.extra["standard_error"] == 1 / ess).all() and (view.extra["ess"] == ess).all()
    assert 20 < ess < 20_000


def test_the_trajectory_is_the_literal_one():
    """Step by step along the same start, in the space of the rows themselves."""
    X, y, X_test = separable(3, 7, 11)
    space = VersionSpace.of(RangeSpace.of(X @ X.T, 0.0), y.astype(float))
    assert space.space.rank == 3
    trajectory = sample(space, BilliardSettings("geodesic", 320, 0.0, None, 1), 4)
    chain = trajectory.chains[0]
    back = np.linalg.lstsq(space.space.points, X, rcond=None)[0]  # range coordinates to the rows' own
    w, v = chain.anchors[0] @ back
    literal = naive.great_circle_billiard(X, y, w, v, 320)
    assert np.array_equal(chain.hit[:200], [wall for *_, wall in literal[:200]])
    np.testing.assert_allclose(chain.steps[:200, 2], [arc for _, _, arc, _ in literal[:200]], rtol=1e-6)
    expected = [naive.share_of_arcs(literal, row) for row in X_test]
    np.testing.assert_allclose(trajectory.volumes(X @ X_test.T).positive, expected, atol=1e-6)


def test_chords_are_the_papers():
    """The same start and no escape: the paper's formulas in coefficients, with full kernel products."""
    X, y, X_test = overlapping(20, 5)
    K = naive.rbf_matrix(X, X, 2.0)
    space = VersionSpace.of(RangeSpace.of(K, 0.0), y.astype(float))
    trajectory = sample(space, BilliardSettings("chord", 64, 0.0, None, 1), 3)
    chain = trajectory.chains[0]
    to_coefficients = np.linalg.solve(K, space.space.points)
    alpha, beta = (to_coefficients @ vector for vector in chain.anchors[0])
    count = 30 if len(chain.anchors) == 1 else int(min(chain.anchor_step[1], 30))
    assert count >= 5
    literal = naive.chord_billiard(K, y, alpha, beta, count, np.random.default_rng(0))
    np.testing.assert_allclose(chain.steps[:count, 2], [arc for *_, arc in literal], rtol=1e-5, atol=1e-9)


def test_many_bounces_do_not_drift():
    X, y, _ = overlapping(30, 1)
    space = VersionSpace.of(RangeSpace.of(KernelFunction("rbf", 3.0)(X, X), 0.0), y.astype(float))
    chain = sample(space, BilliardSettings("geodesic", 300_000, 0.0, None, 1), 1).chains[0]
    np.testing.assert_allclose(np.linalg.norm(chain.anchors, axis=2), 1.0, atol=1e-12)
    assert (chain.anchors[:, 0] @ space.walls_t).min() > -1e-12
    assert len(chain.anchors) >= 300


def test_singular_kernel_matrices_stay_finite():
    """A kernel matrix of rank 3 among 200 rows, and one with eigenvalues down to rounding."""
    X, y, X_test = separable(3, 200, 4, margin=0.3)
    assert linear().fit(X, y).fit_metrics_["rank"] == 3.0
    wide = BayesTransduction(sigma=30.0, random_state=1, n_bounces=20_000).fit(X, y)
    assert wide.fit_metrics_["rank"] < 200
    assert np.isfinite(wide.predict_proba(X_test)).all()


# ---- what must not matter


@pytest.mark.parametrize("params", [{"sampler": "chord"}, {"predictive": "noisy", "ridge": 0.1}], ids=str)
def test_an_examples_probability_does_not_depend_on_the_others(params):
    X, y, X_test = overlapping()
    if "sampler" in params:
        y = np.arange(len(y)) % 3
    method = BayesTransduction(sigma=2.0, n_bounces=3000, random_state=2, **params).fit(X, y)
    many = np.vstack([X_test, np.random.default_rng(1).normal(size=(600, X.shape[1]))])
    together = method.confident_predict(many)
    for row in (0, 3, 14, 300, 614):
        for view, alone in method.confident_predict(many[[row]]).items():
            assert np.array_equal(alone.scores[0], together[view].scores[row])
            for name, values in alone.extra.items():
                assert values[0] == together[view].extra[name][row]


# ---- parts


def test_of_many_walls_the_start_has_equal_distances():
    X, y, _ = overlapping(1001, 3)
    space = VersionSpace.of(RangeSpace.of(KernelFunction("rbf", 0.2)(X, X), 0.0), y.astype(float))
    np.testing.assert_allclose(space.walls @ space.start, space.margin)


def test_the_start_is_the_hard_margin_machine():
    """Least distance to a wall: that of scikit-learn's SVC where a mirrored set takes its bias away."""
    X, y, _ = overlapping(30, 3)
    gram = naive.rbf_matrix(X, X, 2.0)
    space = VersionSpace.of(RangeSpace.of(gram, 0.0), y.astype(float))
    points = space.space.points
    mirrored = SVC(kernel="linear", C=1e9, tol=1e-8).fit(np.vstack([points, -points]), np.append(y, -y))
    assert space.margin == pytest.approx(1 / np.linalg.norm(mirrored.coef_), rel=1e-3)


def test_full_and_noisy_predictions_are_those_of_the_gaussian_model():
    """Student's distribution of what lies outside the span, by drawing it."""
    X, y, X_test = overlapping(12, 4)
    method = BayesTransduction(sigma=1.5, ridge=0.2, random_state=1, n_bounces=40_000).fit(X, y)
    trajectory = method.trajectories_[0]
    rng = np.random.default_rng(0)
    coordinates = trajectory.version_space.space.basis.T @ naive.rbf_matrix(X, X_test, 1.5)
    w = np.concatenate([chain.anchors[:, 0] for chain in trajectory.chains])
    middle = np.array([s for c in trajectory.chains for s in c.anchor_step]) >= 0
    radius = np.sqrt(rng.chisquare(trajectory.version_space.space.rank, size=(len(w[middle]), 50)))
    for predictive, extra in (("full", 0.0), ("noisy", 0.2)):
        outside = np.sqrt(1 + extra - (coordinates**2).sum(axis=0))
        level = (w @ coordinates)[:, None, :] * radius[:, :, None]
        drawn = level + outside * rng.normal(size=level.shape) > 0
        probabilities = method.set_params(predictive=predictive).predict_proba(X_test)[:, 1]
        assert np.abs(probabilities - drawn.mean(axis=(0, 1))).max() < 0.04


def test_students_distribution():
    t = np.concatenate([-np.logspace(-4, 3, 40), [0.0], np.logspace(-4, 3, 40)])
    for freedom in range(1, 31):
        p = [student_cdf(value, freedom) for value in t]
        np.testing.assert_allclose(p, student(freedom).cdf(t), atol=1e-12 if freedom < 10 else 1.5e-4)


# ---- confidence, centre, several classes


def test_the_bayes_point_is_the_centre_of_mass():
    X, y, X_test = separable(3, 6, 12)
    centre = naive.rejection_sample(X, y, 400_000, np.random.default_rng(3)).mean(axis=0)
    method = linear().fit(X, y)
    margins = method.confident_predict(X_test)["bayes-point"].scores
    expected = X_test @ centre / np.linalg.norm(centre)
    np.testing.assert_allclose(margins[:, 1] - margins[:, 0], expected, atol=0.02)


def test_the_bayes_point_machine_is_the_view():
    X, y, X_test = overlapping()
    y = np.arange(len(y)) % 3
    params = {"sigma": 2.0, "n_bounces": 3000, "random_state": 5, "sampler": "chord"}
    view = BayesTransduction(**params).fit(X, y).confident_predict(X_test)["bayes-point"]
    machine = BayesPointMachine(**params).fit(X, y)
    assert np.array_equal(machine.confident_predict(X_test)["margin"].scores, view.scores)


def test_several_classes_by_hand():
    centres = np.array([[0.0, 4.0], [4.0, 0.0], [-4.0, -4.0]])
    y = np.arange(45) % 3
    X = centres[y] + np.random.default_rng(1).normal(size=(45, 2))
    method = BayesTransduction(sigma=3.0, n_bounces=5000, random_state=1).fit(X, y)
    block = method.kernel_(X, centres)
    shares = np.column_stack([trajectory.volumes(block).positive for trajectory in method.trajectories_])
    expected = shares / shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(method.predict_proba(centres), expected, atol=1e-12)
    assert np.array_equal(expected.argmax(axis=1), [0, 1, 2])


def test_sigma_median_and_auto():
    X, y, _ = overlapping(40)
    distances = [np.linalg.norm(a - b) for i, a in enumerate(X) for b in X[:i]]
    assert median_distance(X) == pytest.approx(np.median(distances))
    fitted = BayesTransduction(sigma="median", n_bounces=100).fit(X, y)
    assert fitted.fit_metrics_["sigma"] == pytest.approx(np.median(distances))
    assert KernelSVM(sigma="median").fit(X, y).sigma_ == pytest.approx(np.median(distances))
    # In one dimension few labellings are within reach of a wide kernel.
    x = np.sort(np.random.default_rng(5).uniform(size=30))[:, None]
    labels = np.random.default_rng(6).integers(0, 2, 30)
    with pytest.raises(ConfmlError, match="version space is empty"):
        BayesTransduction(sigma="median").fit(x, labels)
    sigma = BayesTransduction(sigma="auto", n_bounces=100).fit(x, labels).kernel_.sigma
    halvings = np.log2(median_distance(x) / sigma)
    assert halvings == pytest.approx(round(halvings)) and halvings >= 1


# ---- joint labelling


def test_joint_labelling_against_rejection_sampling():
    X, y, X_test = separable(3, 4, 21)
    working = X_test[:4]
    method = linear(n_bounces=40_000).fit(X, y)
    labellings = method.joint_labelling(np.tile(X_test, (8, 1)))  # 96 points
    np.testing.assert_allclose(labellings.marginals[:12], method.predict_proba(X_test)[:, 1], atol=1e-9)
    joint = method.joint_labelling(working)
    sampled = naive.rejection_sample(X, y, 100_000, np.random.default_rng(2))
    met, counts = np.unique(np.where(sampled @ working.T > 0, 1, -1), axis=0, return_counts=True)
    for labels, count in zip(met, counts, strict=True):
        assert joint.probability(labels) == pytest.approx(count / len(sampled), abs=0.02)
    assert joint.probabilities.sum() == pytest.approx(1)
    assert (np.diff(joint.probabilities) <= 0).all()
    best = met[np.argmax(counts)]
    assert np.array_equal(joint.joint, best)


def test_joint_and_labelwise_labels_differ():
    """Version space is an arc of directions that two points cut at 0.4 and at 0.6 of its length.

    Either point's more probable label holds on 0.6 of it; both together hold on the middle piece only.
    """
    start, length = 0.2, 1.0
    X = np.array([[-np.sin(start), np.cos(start)], [np.sin(start + length), -np.cos(start + length)]])
    cuts = [start + 0.4 * length, start + 0.6 * length]
    working = np.array([[-np.sin(cut), np.cos(cut)] for cut in cuts])
    X, y = np.vstack([X, -X[:1]]), np.array([1, 1, -1])
    joint = linear(n_bounces=20_000).fit(X, y).joint_labelling(working)
    np.testing.assert_allclose(sorted(joint.probabilities), [0.2, 0.4, 0.4], atol=0.01)
    assert joint.labelwise.tolist() == [1, -1]  # the middle piece: the least probable labelling
    assert joint.joint.tolist() in ([1, 1], [-1, -1])
    assert joint.joint_risk(joint.joint) < joint.joint_risk(joint.labelwise)
    assert joint.labelwise_risk(joint.labelwise) < joint.labelwise_risk(joint.joint)
    assert joint.joint_risk(joint.labelwise) == pytest.approx(0.8, abs=0.01)
    assert joint.labelwise_risk(joint.labelwise) == pytest.approx(0.4, abs=0.01)
    assert joint.probability([-1, 1]) == 0.0
    with pytest.raises(ConfmlError, match="expected 2 labels out of -1, 1"):
        joint.probability([1])


# ---- errors


@pytest.mark.parametrize("kernel, sampler, k", [("rbf", "geodesic", 1.0), ("poly", "chord", 3.0)])
def test_identical_rows_with_different_classes_are_a_soft_problem(kernel, sampler, k):
    """With ridge > 0, identical rows in both classes have a version space: compare rejection sampling."""
    X, y = np.ones((6, 2)), np.array([0, 0, 0, 0, 1, 1])
    params = {"kernel": kernel, "degree": 1, "sampler": sampler, "n_bounces": 40_000, "random_state": 0}
    probability = BayesTransduction(ridge=0.5, **params).fit(X, y).predict_proba(X[:1])[0, 1]
    points = np.linalg.cholesky(np.full((6, 6), k) + 0.5 * np.eye(6))
    drawn = naive.rejection_sample(points, 2.0 * y - 1, 400_000, np.random.default_rng(0))
    expected = np.mean(drawn @ np.linalg.solve(points, np.full(6, k)) > 0)
    assert probability == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(
    ("method", "data", "words"),
    [
        (linear(), lambda X, y: (X, y), "no perceptron of the linear kernel .* ridge above 0"),
        (
            BayesTransduction(),
            lambda X, y: (X[np.r_[:7, 2, 8:60]], y),
            "2 and 7 are identical .* ridge above 0",
        ),
        (linear(), lambda X, y: (X * (np.arange(60) != 4)[:, None], y), "training row 4"),
        (linear(ridge=1e-14), lambda X, y: (np.ones((60, 1)), y), "raise ridge: 1e-14"),
        (BayesPointMachine(), lambda X, y: (X, 0 * y + 4), "one class .4.* stratify"),
        (BayesTransduction(sigma=1e-3), lambda X, y: (X, y), "choose a larger sigma"),
        (BayesTransduction(sigma=1e9, ridge=0.1), lambda X, y: (X, y), "rank one"),
        (BayesTransduction(kernel="poly", degree=20), lambda X, y: (X * 1e40, y), "not finite.*standardise"),
    ],
)
def test_errors_name_the_remedy(method, data, words):
    with pytest.raises(ConfmlError, match=words):
        method.fit(*data(*overlapping(60)[:2]))


def test_a_warning_if_the_chains_have_not_converged():
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(150, 2)), rng.integers(0, 2, 150)
    with pytest.warns(ConvergenceWarning, match="sample size .*: raise n_bounces above 3000"):
        BayesTransduction(n_bounces=3000, random_state=1).fit(X, labels)
    X, y, _ = overlapping(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesTransduction(sigma=2.0, random_state=1).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*have not converged")
def test_a_bounce_or_two():
    """Fewer bounces than batches: each batch has one."""
    X, y, X_test = overlapping()
    method = BayesTransduction(n_bounces=1, chains=1, random_state=1).fit(X, y)
    assert method.fit_metrics_["bounces"] == BATCHES
    assert np.isfinite(method.predict_proba(X_test)).all()


# ---- the support vector machine beside it


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("kernel", "params"),
    [("rbf", {"gamma": 1 / 18}), ("linear", {}), ("poly", {"gamma": 1.0, "degree": 3, "coef0": 0.5})],
)
def test_kernel_svm_is_scikit_learns(kernel, params, classes):
    X, y, X_test = overlapping()
    y = y if classes == 2 else np.arange(len(y)) % 3
    model = KernelSVM(kernel=kernel, sigma=3.0, degree=3, coef0=0.5, C=10.0).fit(X, y)
    view = model.confident_predict(X_test)["margin"]
    oracle = SVC(C=10.0, kernel=kernel, break_ties=classes > 2, **params).fit(X, y)
    values = oracle.decision_function(X_test)
    np.testing.assert_allclose(*(np.abs(values), view.confidence) if classes == 2 else (values, view.scores))
    assert np.array_equal(view.labels, oracle.predict(X_test))


def test_the_soft_machine_without_bias_is_the_mirrored_one():
    """A mirrored training set, each row counting half, takes the bias of scikit-learn's SVC away."""
    X, y, X_test = overlapping(60, 4)
    mirrored = SVC(kernel="linear", C=0.35, tol=1e-7).fit(np.vstack([X, -X]), np.append(y, -y))
    values = KernelSVM(kernel="linear", bias=False, C=0.7).fit(X, y).decision_function(X_test)
    np.testing.assert_allclose(values, mirrored.decision_function(X_test), atol=1e-2)


def test_machines_without_bias_of_three_classes_and_of_one():
    y = np.arange(45) % 3
    X = np.array([[0.0, 4.0], [4.0, 0.0], [-4.0, -4.0]])[y] + np.random.default_rng(1).normal(size=(45, 2))
    assert KernelSVM(sigma=2.0, bias=False).fit(X, y).score(X, y) == 1.0
    assert KernelSVM(bias=False).fit(X, np.zeros(45)).predict(X).tolist() == [0.0] * 45


# ---- figures of the paper


@pytest.mark.real_data
def test_transduction_beats_the_svm_margin_on_heart(needs_data):
    """Ten splits of figure 2 (b), 162 standardised rows for training: lower error at every rejection rate."""
    needs_data("heart")
    data = load({"name": "heart"})
    curves = {"svm": [], "transduction": []}
    for split in range(10):
        order = np.random.default_rng(split).permutation(270)
        train, test = order[:162], order[162:]
        X = (data.X - data.X[train].mean(axis=0)) / data.X[train].std(axis=0)
        svm = KernelSVM(sigma=10.0, C=1e6).fit(X[train], data.y[train])
        volumes = BayesTransduction(sigma=10.0, random_state=split).fit(X[train], data.y[train])
        for name, method in (("svm", svm), ("transduction", volumes)):
            first = next(iter(method.confident_predict(X[test]).values()))
            curves[name].append(curve_of(first, data.y[test]))
    errors = {name: band(of, [0.0, 0.1, 0.2, 0.4], what="risk").mean for name, of in curves.items()}
    assert (errors["transduction"] < errors["svm"]).all()
    assert errors["transduction"][0] == pytest.approx(0.225, abs=0.025)
    assert errors["svm"][0] == pytest.approx(0.258, abs=0.03)


@pytest.mark.parametrize("kernel, x, classes", [("linear", 0.0, 2), ("rbf", 1e4, 3)])
def test_an_example_that_the_kernel_does_not_relate_to_training_is_for_no_class(kernel, x, classes):
    X = np.random.default_rng(0).normal(size=(12, 2))
    params = {"kernel": kernel, "sigma": 1.0, "ridge": 0.5, "n_bounces": 2000, "random_state": 0}
    method = BayesTransduction(**params).fit(X, np.arange(12) % classes)
    scores = method.predict_proba(np.array([[x, x], [1.0, 2.0]]))
    assert scores[0] == pytest.approx(1 / classes)
    assert scores[1].max() > 1 / classes + 0.01


# ---- stopping rule


def test_equation_8_counts_the_bounces_of_the_paper():
    assert hoeffding_draws(0.05, 0.01) == 922  # ln(100) / 0.005 = 921.03
    for epsilon, eta in ((1e-200, 0.1), (0.1, 0.0), (1.0, 0.1)):
        with pytest.raises(ValueError, match="expected 1e-9 <= epsilon < 1"):
            hoeffding_draws(epsilon, eta)
    X, y, X_test = overlapping()
    rules = {"stopping": "hoeffding", "epsilon": 0.1, "eta": 0.05}, {"n_bounces": hoeffding_draws(0.1, 0.05)}
    by_rule, by_number = (
        BayesTransduction(sigma=1, sampler="chord", chains=1, random_state=3, **rule).fit(X, y)
        for rule in rules
    )
    assert (by_rule.predict_proba(X_test) == by_number.predict_proba(X_test)).all()
