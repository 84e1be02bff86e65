"""TCM-NN online beside the batch method on every prefix, and beside the definition for labels yet to come."""

import numpy as np
import pytest
from reference import tcm_nn as naive

from confml.errors import ConfmlError
from confml.methods.registry import build
from confml.methods.tcm_nn import TCMNN
from confml.methods.tcm_nn.online import OnlineTCMNN
from confml.methods.tcm_nn.online_pass import OnlinePass


def ties(rng, n=60, classes=3):
    """Whole numbers: full of equal distances, duplicates and contradictory labels; one class is rare."""
    X = rng.integers(0, 3, (n, 3)).astype(float)
    y = rng.integers(0, classes - 1, n)
    y[rng.integers(0, n, 3)] = classes - 1
    return X, y


def smooth(rng, n=60, classes=4):
    return rng.normal(size=(n, 5)) * 10.0 ** rng.integers(-3, 4), rng.integers(0, classes, n)


def huge(rng):
    """Squares of the last rows leave the range of float64, those of the first ones too: rows are scaled."""
    X = rng.normal(size=(60, 2))
    X[:8] *= 1e-250
    X[40:] *= 1e170
    return X, rng.integers(0, 2, 60)


@pytest.mark.parametrize("data", [ties, huge])
@pytest.mark.parametrize("mondrian", [False, True], ids=["all", "mondrian"])
@pytest.mark.parametrize("k", [3, 1000])
def test_each_step_is_the_batch_method_on_the_prefix(data, mondrian, k):
    rng = np.random.default_rng(k + mondrian)
    X, y = data(rng)
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
    X, y = ties(np.random.default_rng(4))
    plain = OnlineTCMNN(np.unique(y)).predict_then_learn(X, y)
    view = OnlineTCMNN(np.unique(y), smoothed=True, random_state=7).predict_then_learn(X, y)
    tau = np.random.default_rng(7).random(len(y))
    assert np.array_equal(view.extra["tau"], tau)
    greater, equal = plain.extra["n_greater"], plain.extra["n_equal"]
    expected = (greater + tau[:, None] * equal) / (1 + np.arange(len(y)))[:, None]
    assert np.array_equal(view.scores, expected)
    one_by_one = OnlineTCMNN(np.unique(y), smoothed=True, random_state=7)
    for n in range(len(y)):
        assert np.array_equal(
            one_by_one.predict_then_learn(X[n : n + 1], y[n : n + 1]).scores[0], expected[n]
        )


def hundredfold(rng):
    """Rows far from the origin, in which products lose most digits; duplicates; rows farther and farther."""
    X = np.repeat(rng.normal(size=(40, 4)), 2, axis=0)[rng.permutation(80)] + 1e4
    X[30] *= 1e3
    X[50:52] *= 1e30
    return X, rng.integers(0, 3, 80)


def turning(rng):
    """Whole numbers first, whose products are exact, then longer ones and others."""
    X = rng.integers(0, 4, (80, 3)).astype(float)
    X[40:] *= 100.0
    X[60:] += 0.25
    return X, rng.integers(0, 3, 80)


@pytest.mark.parametrize("block", [1, 7, 256])
@pytest.mark.parametrize("data", [ties, smooth, hundredfold, huge, turning])
@pytest.mark.parametrize("mondrian", [False, True], ids=["all", "mondrian"])
def test_blocks_and_filters_change_nothing(data, block, mondrian):
    """Each prefix against the literal definition, with labels that have not come yet; ties, duplicates, rows
    that the filter must refuse."""
    X, y = data(np.random.default_rng(11))
    classes = int(y.max()) + 1
    ks = (3, 1)
    counts, _ = OnlinePass(X.shape[1], classes, ks, mondrian, block).step(X, y, predicts=True)
    for n in (0, 1, 2, 7, 16, 33, 52, len(X) - 1):
        # Squares of the definition have no place in float64 there.
        unit = 2.0 ** -np.frexp(np.abs(X[: n + 1]).max())[1] if data is huge else 1.0
        D = naive.distances(X[: n + 1] * unit, X[: n + 1] * unit)
        for q, k in enumerate(ks):
            for j in range(classes):
                completed = np.append(y[:n], j)
                alphas = naive.all_alphas(D, completed, k)
                counted = alphas[completed == j] if mondrian else alphas
                assert counts.alpha[n, j, q] == alphas[-1], (n, j, k)
                assert counts.greater[n, j, q] == np.sum(counted > alphas[-1]), (n, j, k)
                assert counts.equal[n, j, q] == np.sum(counted == alphas[-1]), (n, j, k)


def test_predicting_and_learning_apart():
    rng = np.random.default_rng(6)
    X, y = smooth(rng)
    online = OnlineTCMNN(np.unique(y), k=2).learn(X[:40], y[:40])
    views = [online.predict(X[40:]), online.predict(X[40:])]
    batch = TCMNN(k=2).fit(X[:40], y[:40]).confident_predict(X[40:])["p-value"]
    for view in views:
        assert np.array_equal(view.scores, batch.scores)
        assert np.array_equal(view.labels, batch.labels)
    assert online.learnt == 40 and views[0].extra["learnt"].tolist() == [40] * 20


def test_a_grid_comes_from_one_pass():
    rng = np.random.default_rng(8)
    X, y = ties(rng, n=80)
    X = X + 0.0
    grid = [
        {"k": 1},
        {"k": 4, "mondrian": True},
        {"k": 3, "smoothed": True},
        {"k": 1, "mondrian": True, "smoothed": True},
        {"k": 4},
    ]
    classes = np.unique(y)

    def found(points):
        rng = np.random.default_rng(1)
        return list(build("tcm-nn").evaluate_online(X[:10], y[:10], X[10:], y[10:], classes, points, rng))

    for (point, views), given in zip(found(grid), grid, strict=True):
        assert point == given
        ((_, alone),) = found([given])
        assert np.array_equal(views["p-value"].scores, alone["p-value"].scores)
        params = {name: value for name, value in given.items() if name != "smoothed"}
        online = OnlineTCMNN(classes, **params).learn(X[:10], y[:10])
        expected = online.predict_then_learn(X[10:], y[10:])
        assert np.array_equal(views["p-value"].extra["n_greater"], expected.extra["n_greater"])
        assert np.array_equal(views["p-value"].extra["learnt"], 10 + np.arange(70))


def test_mistakes_are_told():
    with pytest.raises(ConfmlError, match="at least one label"):
        OnlineTCMNN([])
    with pytest.raises(ConfmlError, match="k must be"):
        OnlineTCMNN([0, 1], k=0)
    with pytest.raises(ConfmlError, match="classes are text, numbers or truth values, got 0, 1, 'a'"):
        OnlineTCMNN([0, 1, "a"])
    with pytest.raises(ConfmlError, match=r"classes are 0, 1 \(numbers\), and .* examples are '0', '1'"):
        OnlineTCMNN([0, 1]).learn([[0.0], [1.0]], ["0", "1"])
    online = OnlineTCMNN([0, 1])
    with pytest.raises(ConfmlError, match="label .*2.* is not one of the classes"):
        online.learn([[0.0], [1.0]], [0, 2])
    with pytest.raises(ValueError, match="1d array"):
        online.learn([[0.0]], [[0, 1]])
    with pytest.raises(ValueError, match="NaN"):
        online.predict([[np.nan]])
    online.learn([[0.0]], [0])
    with pytest.raises(ConfmlError, match="2 attributes, expected 1"):
        online.predict([[0.0, 1.0]])
    assert online.learnt == 1
