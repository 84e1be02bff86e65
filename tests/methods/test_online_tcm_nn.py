"""TCM-NN online beside the batch method on every prefix, and beside the definition for labels yet to come."""

import numpy as np
import pytest
from reference import tcm_nn as naive
from trials import rows_of

from confml import TCMNN
from confml.methods.registry import build
from confml.methods.tcm_nn.online import OnlineTCMNN
from confml.methods.tcm_nn.online_pass import OnlinePass


def data(kind, seed, n=80):
    """Rows and labels of three classes, of which the last is rare."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, 40, n) // 19, 2)
    X = rows_of("ties" if kind == "turning" else kind, rng, n)
    if kind == "growing":  # squares of the last rows and of the first leave the range of float64
        X[:8] *= 1e-250
        X[40:] *= 1e170
    if kind == "turning":  # whole numbers first, whose products are exact, then longer ones and others
        X[40:] *= 100.0
        X[60:] += 0.25
    return X, y


@pytest.mark.parametrize("kind", ["ties", "growing"])
@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize("k", [3, 1000])
def test_each_step_is_the_batch_method_on_the_prefix(kind, mondrian, k):
    X, y = data(kind, k + mondrian)
    view = OnlineTCMNN(np.unique(y), k=k, mondrian=mondrian).predict_then_learn(X, y)
    assert view.extra["learnt"].tolist() == list(range(len(y)))
    for n in range(1, len(y)):
        batch = TCMNN(k=k, mondrian=mondrian).fit(X[:n], y[:n])
        expected = batch.confident_predict(X[n : n + 1])["p-value"]
        columns = np.searchsorted(view.classes, batch.classes_)
        assert np.array_equal(view.scores[n, columns], expected.scores[0]), n
        for name in ("n_greater", "n_equal", "alpha"):
            assert np.array_equal(view.extra[name][n, columns], expected.extra[name][0]), (n, name)
        if len(columns) == len(view.classes):
            assert view.labels[n] == expected.labels[0]


def test_smoothed_p_values_take_one_number_an_example():
    X, y = data("ties", 4)
    extra = OnlineTCMNN([0, 1, 2]).predict_then_learn(X, y).extra
    tau = np.random.default_rng(7).random(len(y))
    expected = (extra["n_greater"] + tau[:, None] * extra["n_equal"]) / (1 + np.arange(len(y)))[:, None]
    for parts in (1, len(y)):
        online = OnlineTCMNN([0, 1, 2], smoothed=True, random_state=7)
        for rows in np.split(np.arange(len(y)), parts):
            view = online.predict_then_learn(X[rows], y[rows])
            assert np.array_equal(view.scores, expected[rows])
            assert np.array_equal(view.extra["tau"], tau[rows])


@pytest.mark.parametrize("block", [1, 7, 256])
@pytest.mark.parametrize(
    "kind", ["ties", "mixed scales", "distant groups", "one outlier", "growing", "turning"]
)
@pytest.mark.parametrize("mondrian", [False, True])
def test_blocks_and_filters_change_nothing(kind, block, mondrian):
    """Each prefix against the literal definition, with labels that have not come yet; ties, duplicates, rows
    that the filter must refuse."""
    X, y = data(kind, 11)
    ks = (3, 1)
    counts, _ = OnlinePass(X.shape[1], 3, ks, mondrian, block).step(X, y, predicts=True)
    for n in (0, 1, 2, 7, 16, 33, 52, len(X) - 1):
        # Squares of the definition have no place in float64 there.
        unit = 2.0 ** -np.frexp(np.abs(X[: n + 1]).max())[1] if kind == "growing" else 1.0
        prefix, new = X[:n] * unit, X[n : n + 1] * unit
        for q, k in enumerate(ks):
            greater, equal, alpha = naive.tcm_nn(prefix, y[:n], new, k, mondrian, classes=range(3))
            np.testing.assert_array_equal(counts.alpha[n, :, q], alpha[0])
            np.testing.assert_array_equal(counts.greater[n, :, q], greater[0])
            np.testing.assert_array_equal(counts.equal[n, :, q], equal[0])


def test_predicting_and_learning_apart():
    X, y = data("mixed scales", 6)
    online = OnlineTCMNN([0, 1, 2], k=2).learn(X[:40], y[:40])
    batch = TCMNN(k=2).fit(X[:40], y[:40]).confident_predict(X[40:])["p-value"]
    for _ in range(2):
        view = online.predict(X[40:])
        assert np.array_equal(view.scores, batch.scores) and np.array_equal(view.labels, batch.labels)
        assert online.learnt == 40 and view.extra["learnt"].tolist() == [40] * 40


def test_a_grid_comes_from_one_pass():
    X, y = data("ties", 8)
    within = {"mondrian": True}
    grid = [{"k": 1}, {"k": 4} | within, {"k": 3, "smoothed": True}, {"k": 1, "smoothed": True} | within]

    def views_of(points):
        parts = X[:10], y[:10], X[10:], y[10:]
        path = build("tcm-nn").evaluate_online(*parts, np.arange(3), points, np.random.default_rng(1))
        learnt, views = zip(*path, strict=True)
        assert list(learnt) == points
        return [view["p-value"] for view in views]

    for point, view in zip(grid, views_of(grid), strict=True):
        assert np.array_equal(view.scores, views_of([point])[0].scores)
        online = OnlineTCMNN([0, 1, 2], k=point["k"], mondrian="mondrian" in point).learn(X[:10], y[:10])
        expected = online.predict_then_learn(X[10:], y[10:])
        for name in ("n_greater", "learnt"):
            assert np.array_equal(view.extra[name], expected.extra[name])


@pytest.mark.parametrize(
    ("classes", "call", "message"),
    [
        ([], None, "at least one label"),
        ([0, 1, "a"], None, "classes are text, numbers or truth values"),
        (
            [0, 1],
            lambda online: online.learn([[0.0], [1.0]], ["0", "1"]),
            r"\(numbers\), and .* are '0', '1'",
        ),
        (
            [0, 1],
            lambda online: online.learn([[0.0], [1.0]], [0, 2]),
            "label .*2.* is not one of the classes",
        ),
        ([0, 1], lambda online: online.learn([[0.0]], [[0, 1]]), "1d array"),
        ([0, 1], lambda online: online.predict([[np.nan]]), "NaN"),
        ([0, 1], lambda online: online.learn([[0.0]], [0]).predict([[0.0, 1.0]]), "2 attributes, expected 1"),
    ],
)
def test_wrong_classes_labels_and_examples(classes, call, message):
    with pytest.raises(ValueError, match=message):
        call(OnlineTCMNN(classes))
