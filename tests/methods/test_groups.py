"""p-values with a guarantee in groups (``by``), against their definitions."""

import numpy as np
import pandas as pd
import pytest
from reference import tcm_nn as naive
from reference.promises import group_p_value
from sklearn.naive_bayes import GaussianNB

from confml import TCMNN, Conformal
from confml.errors import ConfmlError
from confml.methods.divisions import Column, Divisions, split_columns
from confml.plugins.by import By, divisions_in

COLUMNS = [("site", ("a", "b", "c")), ("age", None)]


def sample(rng, rows, ties=False):
    """Features with the columns site and age at the end, and labels; site c is noisier."""
    X = rng.normal(size=(rows, 2))
    site, age = rng.integers(0, 3, rows), rng.integers(20, 60, rows)
    y = (X[:, 0] + np.where(site == 2, 2.0, 0.4) * rng.normal(size=rows) > 0).astype(int)
    y += (X[:, 1] > 1).astype(int)
    return np.column_stack([X.round(0) if ties else X, site, age]), y


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "by", ["site", ["site", "label"], [{"age": 3}, "predicted"], [["site"], ["age"]], [["label"], ["site"]]]
)
def test_split_p_values_are_their_definition(by, ties):
    rng = np.random.default_rng(len(str(by)) + ties)
    X, y = sample(rng, 150, ties)
    T, _ = sample(rng, 20, ties)
    model = Conformal(GaussianNB(), by=by, random_state=3).in_run(by_columns=COLUMNS).fit(X, y)
    plain = Conformal(GaussianNB(), random_state=3).fit(X[:, :2], y)
    (rows,) = plain._calibration_parts(np.searchsorted([0, 1, 2], y), None, plain._generator("fit"))
    proper = np.setdiff1d(np.arange(len(y)), rows)
    classifier = plain.fitted_[0].method

    def shares(Z):
        return classifier.confident_predict(Z)["probability"].scores

    def category(z, x, label):
        keys = []
        for parts in divisions_in(by):
            key = []
            for name, bins in parts:
                if name == "site":
                    key.append(z[2])
                elif name == "age":
                    cuts = np.quantile(X[proper, 3], np.arange(1, bins or 4) / (bins or 4))
                    key.append(sum(z[3] >= cut for cut in cuts))
                else:
                    key.append(label if name == "label" else int(shares(x[None]).argmax()))
            keys.append(tuple(key))
        return keys

    scores = -shares(X[rows, :2])[np.arange(len(rows)), y[rows]]
    categories = [category(X[i], X[i, :2], y[i]) for i in rows]
    p = model.predict_p_values(T)
    for row, t in enumerate(T):
        for label in range(3):
            score = -shares(t[None, :2])[0, label] * (1 + 1e-12)  # ties up to rounding errors count
            expected = [
                group_p_value(scores, [keys[d] for keys in categories], score, group)
                for d, group in enumerate(category(t, t[:2], label))
            ]
            assert p[row, label] == pytest.approx(max(expected), abs=1e-12)


@pytest.mark.parametrize(
    "by", ["site", ["site", "label"], [["site"], [{"age": [35]}]], [["label"], ["site"]]]
)
def test_tcm_nn_p_values_are_their_definition(by):
    rng = np.random.default_rng(5)
    X, y = sample(rng, 40, ties=True)
    T, _ = sample(rng, 6, ties=True)
    T[0, 2] = 7  # a site that no training row has
    model = TCMNN(k=2, by=by, by_columns=COLUMNS).fit(X, y)
    p = model.predict_p_values(T)
    for row, t in enumerate(T):
        expected = []
        for parts in divisions_in(by):
            names = {part.name for part in parts}
            *groups, group = ((z[2] * ("site" in names), (z[3] >= 35) * ("age" in names)) for z in [*X, t])
            rows, within = np.array([group_of_row == group for group_of_row in groups]), "label" in names
            greater, equal, _ = naive.tcm_nn(X[:, :2], y, t[None, :2], 2, within, rows=rows)
            counted = rows[:, None] & ((y[:, None] == model.classes_) | (not within))
            expected.append((greater[0] + equal[0]) / (counted.sum(axis=0) + 1))
        np.testing.assert_allclose(p[row], np.max(expected, axis=0), atol=1e-12)


def test_data_frames_texts_and_new_categories():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=200), "site": rng.choice(["n", "s"], 200)})
    y = np.where(frame.x > 0, "yes", "no")
    model = Conformal(GaussianNB(), by="site", random_state=1)
    numbers = frame.assign(site=(frame.site == "n").astype(float))
    model.fit(numbers, y)
    view = model.confident_predict(numbers.assign(site=[9.0] * 200))["p-value"]
    assert (view.scores == 1).all() and (view.extra["group"] == -1).all()
    _, values, (column,) = split_columns(frame, "site", None)
    assert column.texts == ("n", "s") and set(values[:, 0]) == {0, 1}


def test_errors_say_what_to_do():
    """tests/methods/test_conformal.py has the settings that cannot be combined."""
    X, y = sample(np.random.default_rng(0), 60)
    for model, message in (
        (TCMNN(by="age", by_columns=COLUMNS), "age has .* values.*would break"),
        (TCMNN(by="predicted", by_columns=COLUMNS), "needs a classifier that is fitted to other examples"),
        (Conformal(GaussianNB(), by={"site": 2}).in_run(by_columns=COLUMNS), "has categories, not numbers"),
    ):
        with pytest.raises(ConfmlError, match=message):
            model.fit(X, y)
    for wrong in ("", [], [[]], {"a": 1}, {"a": [2, 1]}, {"label": 2}, ["a", "a"], [["a"], ["a"]], 1.5):
        assert not By("").accepts(wrong)


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("store", ["store = 10012345", "store = 10012346"]),
        ({"store": [10012345.5]}, ["store < 10012345.5", "10012345.5 <= store"]),
    ],
)
def test_names_of_groups_have_all_digits_of_their_numbers(by, names):
    groups = Divisions(by, [Column("store")], np.array([0, 1]))
    stores = np.repeat([10012345.0, 10012346.0], 20)[:, None]
    groups.cut(stores, quantiles=False)
    groups.learn(stores, None)
    assert groups.details([np.array([20, 20])])[0]["groups"] == names
