"""p-values for many classes: clusters of classes and rank cuts, against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.naive_bayes import GaussianNB

from confml.data import load
from confml.errors import ConfigError, ConfmlError
from confml.methods.conformal import Conformal
from confml.methods.conformal.class_groups import (
    class_clusters,
    divided_by_class,
    enough_rows,
    label_ranks,
    rank_cuts,
)
from confml.methods.registry import build


def literal_numbers(sizes, level):
    """Number of clusters M and share of each class, of Ding et al. 2023."""
    enough = math.ceil(round((1 - level) / level, 9))
    smallest = max(min(sizes), enough)
    K = sum(size >= smallest for size in sizes)
    N = math.floor(smallest * K / (75 + K))
    return N // 2, N / smallest


def test_enough_rows():
    assert [enough_rows(level) for level in (0.01, 0.05, 0.1, 0.2, 0.3)] == [99, 19, 9, 4, 3]


def test_clusters_are_their_definition():
    rng = np.random.default_rng(0)
    sizes = [40] * 60 + [41] * 20 + [12, 3, 0]
    codes = rng.permutation(np.repeat(np.arange(83), sizes))
    scores = (rng.random(len(codes)) ** (1 + codes % 3)).round(2)
    found = class_clusters(scores, codes, 83, 0.2, np.random.default_rng(5))
    # The smallest class has no rows, so classes with 4 rows or more are the large ones.
    M, share = literal_numbers(sizes, 0.2)
    assert M == 1 and found.clusters == 0 and found.members[0].tolist() == list(range(len(codes)))
    assert not found.places.any()
    # Without the small classes there are clusters.
    keep = codes < 80
    codes, scores = codes[keep], scores[keep]
    M, share = literal_numbers(sizes[:80], 0.2)
    assert M == 10
    found = class_clusters(scores, codes, 80, 0.2, np.random.default_rng(5))
    draws = np.random.default_rng(5)
    taken = [draws.permutation(np.flatnonzero(codes == j))[: round(share * sizes[j])] for j in range(80)]
    at = [0.5, 0.6, 0.7, 0.8, 0.9]
    points = [[np.quantile(scores[own], q) for q in at] for own in taken]
    weights = [math.sqrt(len(own)) for own in taken]
    model = KMeans(M, n_init=10, random_state=int(draws.integers(2**31)))
    labels = model.fit(np.array(points), sample_weight=weights).labels_
    assert found.clusters == 10
    for i in range(80):
        for j in range(80):
            assert (found.places[i] == found.places[j]) == (labels[i] == labels[j])
    used = set(np.concatenate(taken).tolist())
    for place, members in enumerate(found.members[:-1]):
        mine = [i for i in range(len(codes)) if i not in used and found.places[codes[i]] == place]
        assert members.tolist() == mine
    assert found.members[-1].tolist() == [i for i in range(len(codes)) if i not in used]


def test_small_classes_share_all_examples():
    sizes = [300] * 30 + [9]
    codes = np.repeat(np.arange(31), sizes)
    scores = np.random.default_rng(1).random(len(codes))
    scores[:5] = np.inf
    M, share = literal_numbers(sizes, 0.1)
    assert (M, share) == (1, 2 / 9)
    sizes = [300] * 30 + [60] * 10
    codes = np.repeat(np.arange(40), sizes)
    scores = np.random.default_rng(1).random(len(codes))
    scores[:5] = np.inf  # k-means takes finite numbers
    M, share = literal_numbers(sizes, 0.03)
    found = class_clusters(scores, codes, 40, 0.03, np.random.default_rng(0))
    assert M == 10 and round(share * 60) < enough_rows(0.03) < round(share * 300)
    assert (found.places[30:] == found.clusters).all() and (found.places[:30] < found.clusters).all()


def test_ranks_are_counted():
    scores = np.array([[0.3, 0.1, 0.1, np.inf], [0.2, 0.2 + 1e-14, np.inf, np.inf], [1.0, 0.5, 0.2, 0.1]])
    assert label_ranks(scores).tolist() == [[3, 2, 2, 4], [2, 2, 4, 4], [4, 3, 2, 1]]
    for row, ranks in zip(scores, label_ranks(scores), strict=True):
        for own, rank in zip(row, ranks, strict=True):
            assert rank == sum(other <= own + 1e-12 for other in row)


@pytest.mark.parametrize("level", [0.05, 0.1, 0.5])
def test_rank_cuts_are_their_definition(level):
    rng = np.random.default_rng(2)
    codes = rng.permutation(np.repeat(np.arange(4), [200, 41, 6, 1]))
    ranks = np.minimum(rng.geometric(0.6, len(codes)), 5)
    found = rank_cuts(ranks, codes, 5, level, np.random.default_rng(3))
    taken, rest = divided_by_class(codes, 5, 0.25, np.random.default_rng(3))
    assert np.array_equal(found.rest, rest)
    assert sorted([*rest.tolist(), *np.concatenate(taken).tolist()]) == list(range(len(codes)))
    for code, own in enumerate(taken):
        assert len(own) == round(0.25 * np.sum(codes == code))
        errors = [np.mean(ranks[own] > k) if len(own) else 0.0 for k in range(1, 6)]
        least = next(k for k, error in zip(range(1, 6), errors, strict=True) if error < level / 2)
        assert found.cuts[code] == (least if len(own) else 5)


def many(seed=0, n=900, classes=20):
    data = load({"name": "m", "generate": "many-classes", "n": n, "classes": classes, "seed": seed})
    return np.asarray(data.X), np.asarray(data.y)


@pytest.mark.parametrize("classes", ["clustered", "rank-cut"])
def test_p_values_are_counted(classes):
    """From the definitions: classifier, calibration examples and groups of the fitted method."""
    X, y = many(classes=40, n=4000)
    T, _ = many(1, 60, 40)
    settings = {"classes": classes, "class_level": 0.2, "calibration": 0.5, "random_state": 1}
    method = Conformal(GaussianNB(), **settings).fit(X, y)
    prediction = method.confident_predict(T)["p-value"]
    (part,) = method.fitted_
    seen = {tuple(row) for row in part.prepared.X}
    rows = [i for i in range(len(X)) if tuple(X[i]) not in seen]
    of_labels = 1 - part.method.predict_proba(X[rows])
    new = 1 - part.method.predict_proba(T)
    codes = y[rows] - 1
    own = of_labels[np.arange(len(rows)), codes]
    rng = method._generator("classes")
    if classes == "clustered":
        found = class_clusters(own, codes, 40, 0.2, rng)
        assert method.fit_metrics_["class_clusters"] == found.clusters > 1
        members = [found.members[found.places[j]] for j in range(40)]
    else:
        cut = rank_cuts(label_ranks(of_labels)[np.arange(len(rows)), codes], codes, 40, 0.2, rng)
        assert method.fit_metrics_["mean_rank_cut"] == cut.cuts.mean() < 5
        members = [[i for i in cut.rest if codes[i] == j] for j in range(40)]
        # Scores are at most 1: with 2 more, a label is behind all that are not cut.
        own = own + 2 * (label_ranks(of_labels)[np.arange(len(rows)), codes] > cut.cuts[codes])
        new = new + 2 * (label_ranks(new) > cut.cuts)
    for i in range(len(T)):
        for j in range(40):
            at_least = sum(own[m] >= new[i, j] - 1e-12 for m in members[j])
            assert prediction.scores[i, j] == (at_least + 1) / (len(members[j]) + 1)


@pytest.mark.parametrize("classes", ["rank-cut"])
def test_rank_cut_is_valid_for_every_class(classes):
    """60 draws of the data; each class, of which some are hard, errs in 20 % of the cases at most."""
    wrong, rows = np.zeros(10), np.zeros(10)
    for seed in range(60):
        X, y = many(seed, 400, 10)
        T, truth = many(1000 + seed, 100, 10)
        settings = {"classes": classes, "class_level": 0.2, "calibration": 0.6, "smoothed": True}
        p = Conformal(GaussianNB(), random_state=seed, **settings).fit(X, y).predict_p_values(T)
        np.add.at(wrong, truth - 1, p[np.arange(100), truth - 1] <= 0.2)
        np.add.at(rows, truth - 1, 1)
    assert np.all(np.abs(wrong / rows - 0.2) < 5 * np.sqrt(0.16 / rows) + 0.02)


def test_combinations_are_refused():
    X, y = many()
    for other in ({"mondrian": True}, {"shift": "covariate"}, {"kind": "cross"}):
        with pytest.raises(ConfmlError):
            Conformal(GaussianNB(), classes="clustered", **other).fit(X, y)
    config = {"conformal": "split", "conformal__classes": "clustered"}
    for other in ({"conformal__mondrian": True}, {"conformal": "cross"}):
        with pytest.raises(ConfigError):
            build("knn", config | other)
    with pytest.raises(ConfigError, match="class_level needs"):
        build("knn", {"conformal": "split", "conformal__class_level": 0.2})
