"""Methods made conformal: scores and p-values against literal definitions, coverage, and no leak."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from trials import blobs

import confml
from confml import KNN, Conformal, LinearSVM
from confml.errors import ConfigError, ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.methods.conformal.scores import (
    ROUNDING,
    aps_scores,
    counts_against,
    margin_scores,
    margin_scores_of_shares,
)
from confml.methods.registry import build, check
from confml.methods.svm.ovo_svm import OvOSVM

ENSEMBLE = "sklearn.ensemble"
FOREST = f"{ENSEMBLE}.RandomForestClassifier"
LOGISTIC = "sklearn.linear_model.LogisticRegression"


class Seen(Method):
    """A classifier that tells what it was fitted to: probabilities by distance to class means."""

    name = "seen"
    parameters = {}

    def fit(self, X, y):
        self.X_seen_, self.y_seen_ = X.copy(), y.copy()
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def confident_predict(self, X, rng=None):
        weights = np.exp(-((X[:, None] - self.means_) ** 2).sum(axis=2))
        return {
            "probability": Prediction(self.classes_, weights / weights.sum(axis=1)[:, None], "probability")
        }


# ---- scores


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.integers(0, 4, n) / 3,  # ties
        lambda rng, n: 1 - rng.random(n) ** 40,  # most scores near 1
        lambda rng, n: rng.choice([0.3, 0.3 + 1e-13, 0.3 + 1e-6, -np.inf, np.inf, 1e300, -1e308], n),
        lambda rng, n: np.full(n, np.inf),
    ],
)
@pytest.mark.parametrize("size", [0.0, 7.5])
def test_counts_are_those_of_comparisons(draw, size):
    rng = np.random.default_rng(3)
    for n in (0, 1, 400):
        calibration = np.sort(draw(rng, n))
        scores = np.append(draw(rng, 60), calibration[:20])
        near = ROUNDING * np.maximum(np.abs(scores), size)
        near[np.isinf(near)] = 0.0
        above, tied = counts_against(calibration, scores, size)
        assert above.tolist() == (calibration[:, None] > scores + near).sum(axis=0).tolist()
        assert (above + tied).tolist() == (calibration[:, None] >= scores - near).sum(axis=0).tolist()


@pytest.mark.parametrize("randomised", [True, False])
@pytest.mark.parametrize("penalty, k_reg", [(0.0, 0), (0.1, 0), (0.1, 2), (0.5, 9)])
def test_aps_and_raps_are_their_definitions(randomised, penalty, k_reg):
    shares = np.random.default_rng(0).integers(0, 4, (30, 4)) + [1.0, 0, 0, 0]  # with ties
    shares /= shares.sum(axis=1, keepdims=True)
    u = np.random.default_rng(1).random(len(shares)) if randomised else None
    scores = aps_scores(shares, u, penalty, k_reg)
    for i, row in enumerate(shares.tolist()):
        ranking = sorted(range(len(row)), key=lambda j: (-row[j], j))
        for j in range(len(row)):
            rank = ranking.index(j) + 1
            before = sum(row[label] for label in ranking[: rank - 1])
            share = row[j] * (1 if u is None else u[i])
            assert scores[i, j] + 1 == pytest.approx(before + share + penalty * max(rank - k_reg, 0))


def test_margins():
    values = np.array([[1.0, 3.0, 3.0], [5.0, -1.0, 2.0], [-np.inf, 0.0, 1.0]])
    assert margin_scores(values).tolist() == [[2, 0, 0], [-3, 6, 3], [np.inf, 1, -1]]
    assert margin_scores(np.array([[2.0]])).tolist() == [[-2.0]]


def test_margins_of_probabilities_have_the_order_of_exact_fractions():
    """1 minus the margin is below the last digit of 1 where a probability is close to 0 or 1."""
    small = [Fraction(1, 2**exponent) for exponent in (70, 60, 40, 2, 1)]
    exact = [(p, q, 1 - p - q) for p in small for q in small]
    margins = [max(row[:j] + row[j + 1 :]) - row[j] for row in exact for j in range(3)]
    scores = margin_scores_of_shares(np.array(exact, float)).ravel()
    for i, j in itertools.combinations(range(len(margins)), 2):
        same_order = (margins[i] < margins[j]) == (scores[i] < scores[j])
        assert same_order or np.isclose(scores[i], scores[j], rtol=1e-12)
    assert margins[0] > margins[15] and scores[0] > scores[15]  # of the probabilities 2^-70 and 2^-60
    assert float(margins[0]) == float(margins[15])


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_saturated_probabilities_are_told_from_each_other(score):
    """Naive Bayes gives most labels of a digit a probability below 1e-16: regions had all ten labels."""
    X, y = load_digits(return_X_y=True)
    method = Conformal(GaussianNB(), "split", nonconformity=score, random_state=1).fit(X[::2], y[::2])
    region = method.confident_predict(X[1::2])["p-value"].region(0.05)
    assert region.sum(axis=1).mean() < 4
    assert 0.92 < region[np.arange(len(region)), y[1::2]].mean() < 0.98


# ---- p-values


@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize("score", ["lac", "aps", "raps", "margin"])
@pytest.mark.parametrize("kind", ["split", "cross"])
def test_p_values_are_counted(kind, score, mondrian):
    """The counts of each fold, from its classifier, its examples and the scores' definitions."""
    X, y = blobs(3, 60)
    X_test, _ = blobs(4, 20)
    folds = {"folds": 3} if kind == "cross" else {}
    method = Conformal(Seen(), kind, nonconformity=score, mondrian=mondrian, random_state=5, **folds)
    prediction = method.fit(X, y).confident_predict(X_test)["p-value"]
    rng = method._generator("fit")
    parts = method._calibration_parts(y, None, rng)
    u, (u_test, _) = rng.random(60), method._generator("predict").random((2, 20))

    definitions = {
        "lac": lambda shares, u: -shares,
        "aps": aps_scores,
        "raps": lambda shares, u: aps_scores(shares, u, 0.01, 1),
        "margin": lambda shares, u: margin_scores_of_shares(shares),
    }

    def scores(fitted, X_new, u):
        return definitions[score](fitted.confident_predict(X_new)["probability"].scores, u)

    greater, equal, counted = np.zeros((20, 3), int), np.ones((20, 3), int), np.ones((20, 3), int)
    for (fitted, *_), rows in zip(method.fitted_, parts, strict=True):
        assert {*map(tuple, fitted.X_seen_)} == {*map(tuple, np.delete(X, rows, axis=0))}
        alphas, new = scores(fitted, X[rows], u[rows]), scores(fitted, X_test, u_test)
        for row, i in enumerate(rows):
            for j in [y[i]] if mondrian else range(3):
                alpha = alphas[row, y[i]]
                same = np.isclose(alpha, new[:, j], rtol=0, atol=1e-12) | (alpha == new[:, j])
                greater[:, j] += (alpha > new[:, j]) & ~same  # sums of shares are 1 up to rounding only
                equal[:, j] += same
                counted[:, j] += 1
    assert np.array_equal(prediction.extra["n_greater"], greater)
    assert np.array_equal(prediction.extra["n_equal"], equal)
    assert np.array_equal(prediction.scores, (greater + equal) / counted)
    assert method.fit_metrics_["calibration_rows"] == (60 if kind == "cross" else 18)
    smooth = method.set_params(smoothed=True).fit(X, y).confident_predict(X_test)["p-value"]
    assert np.array_equal(smooth.extra["n_greater"], greater)
    assert np.array_equal(smooth.scores, (greater + smooth.extra["tau"][:, None] * equal) / counted)


class Rounded(Seen):
    """A linear classifier whose last digits depend on the size of the batch, as those of BLAS do."""

    name = "rounded"

    def confident_predict(self, X, rng=None):
        first = 0.3 * X[:, 0] * (1 + 4e-16 * len(X))
        shares, margins = np.column_stack([first, 1 - first]), 1e7 * np.column_stack([first, -first])
        shares = Prediction(self.classes_, shares, "probability")
        return {"probability": shares, "margin": Prediction(self.classes_, margins, "margin")}


@pytest.mark.parametrize("score", ["lac", "margin"])
def test_scores_of_equal_examples_are_equal_in_every_batch(score):
    """Examples without differences have p-values of at least the share of their label, not 1 / (n + 1)."""
    X, y = np.ones((60, 1)), np.arange(60) % 2
    conformal = Conformal(Rounded(), nonconformity=score, calibration=0.5, random_state=1).fit(X, y)
    p = conformal.predict_p_values(X)
    assert p.min() > 0.3 and np.array_equal(p, np.repeat(conformal.predict_p_values(X[:1]), 60, axis=0))


def test_a_class_without_proper_training_examples_is_the_most_nonconforming():
    """Classes of one row: some are calibrated on, and then their p-values are those of the worst scores."""
    X, y = blobs(3, 60)
    y[:6] = [10, 11, 12, 13, 14, 15]
    method = Conformal(Seen(), nonconformity="lac", random_state=3).fit(X, y)
    unseen = np.unique(y, return_counts=True)[1] == method.calibration_counts_
    assert unseen.sum() > 1
    p = method.predict_p_values(blobs(4, 20)[0])
    assert np.allclose(p[:, unseen], (unseen.sum() + 1) / 19)


@pytest.mark.parametrize("score", ["lac", "aps", "margin", None])
def test_a_proper_training_part_of_one_class(score):
    """Logistic regression refuses one class; its part is then certain of that class."""
    X, y = np.random.default_rng(0).normal(size=(10, 2)), np.array([0] * 9 + [1])
    method = Conformal(LogisticRegression(), "cross", score, folds=10, random_state=0).fit(X, y)
    assert any(len(part.method.classes_) == 1 for part in method.fitted_)
    p = method.predict_p_values(X)
    assert np.isfinite(p).all() and (p > 0).all() and (p <= 1).all()


@pytest.mark.parametrize("kind", ["split", "cross"])
@pytest.mark.parametrize("sizes", [(1,), (1, 1), (2, 1, 30)])
def test_a_class_that_cannot_be_calibrated_on_is_in_every_region(kind, sizes):
    y = np.repeat(["a", "b", "c"][: len(sizes)], sizes)
    X, X_test = np.split(np.random.default_rng(0).normal(size=(len(y) + 4, 2)), [len(y)])
    p = Conformal(KNN(), kind, mondrian=True).fit(X, y).predict_p_values(X_test)
    assert (p > 0).all() and (p <= 1).all() and (p[:, np.array(sizes) == 1] == 1).all()


# ---- seeds, parameters, tuning


def test_votes_with_margins_are_calibrated_by_the_margins():
    X, y = blobs(5, 600, c=6)
    X_test, _ = blobs(6, 200, c=6)

    def p_values(score):
        return Conformal(OvOSVM(), nonconformity=score, random_state=1).fit(X, y).predict_p_values(X_test)

    assert np.array_equal(p_values(None), p_values("margin"))
    assert (p_values(None) > 0.1).sum() < (p_values("lac") > 0.1).sum()


def test_seeds():
    X, y = blobs(3, 80)
    method = build(LOGISTIC, {"conformal": "split", "conformal__nonconformity": "aps"})

    def p_values(seed):
        return clone(method).set_params(random_state=seed).fit(X, y).predict_p_values(X)

    assert np.array_equal(p_values(1), p_values(1)) and not np.array_equal(p_values(1), p_values(2))
    grid = [{"C": 1.0}, {"C": 0.1}]
    both = list(method.evaluate_path(X, y, X[:9], grid, np.random.default_rng(3)))
    ((_, alone),) = method.evaluate_path(X, y, X[:9], grid[1:], np.random.default_rng(3))
    assert np.array_equal(both[1][1]["p-value"].scores, alone["p-value"].scores)
    assert method.get_params()["estimator__C"] == 1.0 and method.random_state is None


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("knn", {"kind": None, "nonconformity": "aps"}, "needs the parameter 'conformal'"),
        ("tcm-nn", {}, "already conformal"),
        ("ovr-svm", {"nonconformity": "aps"}, "has margins"),
        ("knn", {"view": "envelope"}, "needs a posterior"),
        ("knn", {"kind": "cross", "shift": "covariate"}, "shift needs kind: split"),
        ("knn", {"shift": "label", "mondrian": True}, "valid under label shift without weights"),
        ("knn", {"by": "site", "best_of": ["knn"]}, "by and best_of cannot be combined"),
        ("knn", {"kind": "cross", "by": "predicted"}, "by: predicted needs kind: split"),
        ("knn", {"best_of_level": 0.1}, "best_of_level needs"),
        ("knn", {"best_of": ["tcm-nn"]}, "already conformal"),
        ("knn", {"best_of": ["external"]}, "external is not fitted"),
        (LOGISTIC, {"kind": "oob"}, "LogisticRegression has no out-of-bag rows"),
        (f"{ENSEMBLE}.ExtraTreesClassifier", {"kind": "oob"}, "with bootstrap: false"),
    ],
)
def test_settings_that_cannot_be(name, settings, message):
    settings = {"kind": "split", **settings}
    params = {f"conformal__{key}".replace("__kind", ""): value for key, value in settings.items()}
    with pytest.raises(ConfigError, match=message):
        check(name, {key: value for key, value in params.items() if value is not None})


def test_settings_that_do_not_fit_the_data():
    X, y = blobs(3, 60)
    with pytest.raises(ConfigError, match="trees that saw other rows of the group"):
        Conformal(RandomForestClassifier(9), "oob").fit(X, y, groups=np.arange(60) // 2)
    with pytest.raises(ConfmlError, match="tune needs kind 'split'"):
        tuned("cross", [{"k": 1}]).fit(X, y)
    with pytest.raises(ConfmlError, match="only calibrated"):
        Conformal(FrozenEstimator(GaussianNB().fit(X, y)), best_of=[KNN()]).fit(X, y)


# ---- out-of-bag calibration


@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(30),
        ExtraTreesClassifier(30, bootstrap=True),
        BaggingClassifier(GaussianNB(), n_estimators=30),
    ],
)
def test_out_of_bag_p_values_are_their_definition(ensemble, mondrian):
    X, y = blobs(3, 60)
    labels, T = np.array(["a", "b", "c"])[y], blobs(4, 12)[0]
    method = Conformal(ensemble, "oob", mondrian=mondrian, random_state=1).fit(X, labels)
    fitted = method.fitted_[0].method.estimator_
    shares = np.stack([tree.predict_proba(X)[np.arange(60), y] for tree in fitted.estimators_])
    unseen = np.array([~np.isin(np.arange(60), rows) for rows in fitted.estimators_samples_])
    scores = -(shares * unseen).sum(axis=0) / unseen.sum(axis=0)  # by the trees that did not draw a row
    p, new = method.predict_p_values(T), -fitted.predict_proba(T)
    for label in range(3):
        counted = scores[y == label] if mondrian else scores
        conforming = (counted[:, None] >= new[:, label] - 1e-12).sum(axis=0)
        assert np.array_equal(p[:, label], (conforming + 1) / (len(counted) + 1))
    assert method.fit_metrics_["calibration_rows"] == 60 and "oob_score" not in str(ensemble)


@pytest.mark.parametrize("ensemble", [RandomForestClassifier(3), BaggingClassifier(n_estimators=3)])
def test_rows_in_every_bag_do_not_calibrate(ensemble):
    X, y = blobs(3, 60)
    with pytest.warns(UserWarning, match="of 60 training rows are in every bag") as caught:
        method = Conformal(ensemble, "oob", random_state=1).fit(X, y)
    bags = method.fitted_[0].method.estimator_.estimators_samples_
    outside = [i for i in range(60) if any(i not in rows for rows in bags)]
    assert len(caught) == 1 and method.calibration_counts_.tolist() == np.bincount(y[outside]).tolist()
    assert len(outside) < 60


def test_tuning_never_sees_the_calibration_part():
    X, y = blobs(8, 90)
    grid = [{"k": 1}, {"k": 15}, {"k": 40}]
    method = clone(tuned("split", grid)).fit(X, y)
    (rows,) = method._calibration_parts(y, None, method._generator("fit"))
    assert np.array_equal(method.calibration_counts_, np.bincount(y[rows]))
    moved = X.copy()
    moved[rows] += 1e6
    assert tuned("split", grid).fit(moved, y).tuning_["scores"] == method.tuning_["scores"]
    assert method.fitted_[0].method.k == method.tuning_["chosen"]["k"]


def tuned(kind, grid):
    inner = {"folds": 4, "stratify": True, "select_by": "accuracy"}
    return Conformal(build("knn"), kind, random_state=3).in_run(tune=grid, inner=inner)


# ---- groups


def near_duplicates(groups, rng):
    """Groups of six rows that hardly differ, with a random label each: X (n, 2), y (n,), groups (n,)."""
    centres, labels = rng.normal(size=(groups, 2)), rng.integers(0, 2, groups)
    numbers = np.repeat(np.arange(groups), 6)
    return centres[numbers] + 1e-3 * rng.normal(size=(len(numbers), 2)), labels[numbers], numbers


@pytest.mark.parametrize("kind", ["split", "cross"])
def test_groups_are_kept_back_whole(kind):
    errors = {True: [], False: []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y, groups = near_duplicates(60, rng)
        X_test, y_test, _ = near_duplicates(60, rng)
        for whole, shares in errors.items():
            method = Conformal(KNN(k=1), kind, random_state=1).fit(X, y, groups=groups if whole else None)
            p = method.predict_p_values(X_test)[np.arange(len(y_test)), y_test]
            shares.append(np.mean(p <= 0.2))
            assert not (whole and any(len(part.lists[0][0]) % 6 for part in method.scores_))
    assert np.mean(errors[True]) < 0.25
    assert np.mean(errors[False]) > 0.4, "copies of what the classifier knows look too ordinary"


@pytest.mark.parametrize("kind", ["split", "cross"])
def test_predict_proba_is_that_of_the_classifier(kind):
    X, y = blobs(3, 80)
    model = Conformal(GaussianNB(), kind=kind, folds=4, random_state=1).fit(X, y)
    probabilities = np.mean([part.method.predict_proba(X) for part in model.fitted_], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), probabilities, atol=1e-15)
    assert not hasattr(Conformal(LinearSVM()).fit(X, y), "predict_proba")
    with pytest.raises(ConfmlError, match="KNN has no probabilities"):
        Conformal(KNN()).fit(X, y).predict_proba(X)


# ---- runs


def run_of(folder, datasets, methods, **values):
    """Return the run of a config at one level, without the majority class."""
    values |= {"datasets": datasets, "methods": methods, "baseline": False, "levels": [0.2], "figures": []}
    return confml.run(values, out=folder / "out", engine="serial")


def test_steps_are_learnt_beside_the_calibration_part(tmp_path):
    """Classes that overlap much: Tomek links take out whoever lies wrong, and what is left looks easy."""
    run = run_of(
        tmp_path,
        [{"generate": "two-gaussians", "n": 400, "distance": 1}],
        [{"name": "knn", "k": 5, "conformal": "split"}, {"name": LOGISTIC, "conformal": "cross"}, "tcm-nn"],
        steps=["standardise", {"tomek-links": {"repeat": True}}],
        protocol={"kind": "holdout", "repeats": 6, "test-size": 0.5},
    )
    means = run.metrics.groupby(["method", "metric"])["value"].mean()
    limit = binom.ppf(0.999, 200, 0.2) / 200 + 0.02
    assert 1 - means["knn", "coverage"] < limit and 1 - means[LOGISTIC, "coverage"] < limit
    assert 1 - means["tcm-nn", "coverage"] > 0.3, "it compares test examples with cleaned ones"
    assert means["knn", "calibration_rows"] == 60 and means["knn", "tomek-links.removed_rows"] > 20
    words = "tomek-links makes training examples conform better than test examples"
    assert words in (tmp_path / "out" / ".run" / "notes.txt").read_text()


def test_inner_folds_learn_their_own_steps(tmp_path):
    """Labels are random: a step that saw the inner validation rows would make them predictable."""
    run_of(
        tmp_path,
        [{"generate": "two-gaussians", "n": 300, "distance": 1e-9}],
        [{"name": "knn", "conformal": "split", "tune": {"k": [1, 3]}}],
        steps=[{"tomek-links": {"repeat": True}}],
        protocol={"kind": "holdout", "repeats": 2, "test-size": 0.2, "inner-folds": 4},
    )
    means = pd.read_csv(tmp_path / "out" / "tables/tuning.csv")["mean"]
    assert len(means) == 4
    assert means.max() < binom.ppf(0.9999, 168, 0.5) / 168, "168 rows are not kept back"


def test_a_run_says_that_out_of_bag_calibration_is_approximate(tmp_path):
    data, method = ["wine-sklearn"], {"name": FOREST, "n_estimators": 20, "conformal": "oob"}
    run_of(tmp_path, data, [method], steps=["standardise"], protocol="holdout")
    notes = (tmp_path / "out" / ".run" / "notes.txt").read_text()
    assert "the trees that did not see it, and standardise is fitted" in notes
    with pytest.raises(ConfigError, match="oob scores every training row, and the step tomek-links drops"):
        run_of(tmp_path / "dropped", data, [method], steps=["tomek-links"], protocol="holdout")
    with pytest.raises(ConfigError, match="has no out-of-bag rows with warm_start: true"):
        run_of(tmp_path / "warm", data, [{**method, "warm_start": True}], protocol="holdout")
