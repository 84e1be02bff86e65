"""Class frequencies under label shift: EM against its definition, intervals, and a run."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import confml
from confml.errors import ConfmlError
from confml.methods.conformal import Conformal
from confml.methods.label_shift import bbse_intervals, em_frequencies, em_intervals
from confml.methods.naive_bayes import NaiveBayes
from confml.methods.shift import label_weights


def literal_em(shares, prior, tolerance=1e-12, rounds=20_000):
    """Saerens et al. 2002, one number at a time."""
    pi = list(prior)
    for _ in range(rounds):
        new = [0.0] * len(pi)
        for row in shares:
            joint = [p * pi[j] / prior[j] if prior[j] else 0.0 for j, p in enumerate(row)]
            for j, value in enumerate(joint):
                new[j] += value / sum(joint) / len(shares)
        change = max(abs(a - b) for a, b in zip(new, pi, strict=True))
        pi = new
        if change <= tolerance:
            break
    return pi


def test_em_is_its_definition():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([0.3, 0.5, 1.0], 40)
    shares[:5] = 0, 0.5, 0.5
    prior = np.array([0.5, 0.3, 0.2])
    found, rounds = em_frequencies(shares, prior)
    assert found == pytest.approx(literal_em(shares.tolist(), prior.tolist()), abs=1e-9)
    assert found.sum() == pytest.approx(1) and 1 < rounds < 20_000
    twice, _ = em_frequencies(shares, prior, rows=np.full(40, 2))
    assert twice == pytest.approx(found, abs=1e-9)
    absent = np.array([0.7, 0.3, 0.0])
    assert em_frequencies(shares, absent)[0][2] == 0


def classes(rng, priors, rows):
    y = rng.choice(3, rows, p=priors)
    y[:3] = 0, 1, 2
    return rng.normal(size=(rows, 2)) + 2 * np.column_stack([y % 2, y // 2]), y


def test_intervals_contain_the_true_frequencies():
    """Priors 0.7, 0.2, 0.1 become 0.2, 0.3, 0.5: of 30 draws of three classes most intervals hold them."""
    held = {"em": 0, "naive": 0, "bbse": 0}
    new = np.array([0.2, 0.3, 0.5])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, [0.7, 0.2, 0.1], 1500)
        T, _ = classes(rng, new, 800)
        model = LogisticRegression().fit(X[:700], y[:700])
        prior = np.bincount(y[:700]) / 700
        em = em_intervals(model.predict_proba(T), prior, model.predict_proba(X[700:]), y[700:])
        # Overconfident probabilities, as of correlated features: EM alone is off by many standard errors.
        sharp, mine = (model.predict_proba(Z) ** 3 + [0.02, 0, 0] for Z in (T, X[700:]))
        sharp, mine = (one / one.sum(axis=1, keepdims=True) for one in (sharp, mine))
        naive = em_intervals(sharp, prior, mine, y[700:])
        bbse = bbse_intervals(model.predict(X[700:]), y[700:], model.predict(T), 3)
        for name, found in (("em", em), ("naive", naive), ("bbse", bbse)):
            assert np.all(found.low <= found.estimate) and np.all(found.estimate <= found.high)
            held[name] += int(np.sum((found.low <= new) & (new <= found.high)))
        expected = label_weights(model.predict(X[700:]), y[700:], model.predict(T), 3)
        ratio = bbse.estimate / bbse.training
        own = expected.new[0] / expected.new[0].sum()
        assert ratio / ratio.sum() == pytest.approx(own, abs=1e-6)
    assert held["em"] >= 26 and held["naive"] >= 26 and held["bbse"] >= 24


def test_intervals_of_classes_that_cannot_be_told_apart_hold_everything():
    prior, codes = np.array([0.5, 0.3, 0.2]), np.arange(30) % 3
    same = np.tile(prior, (30, 1))
    found = em_intervals(same, prior, same, codes)
    assert found.low.tolist() == [0] * 3 and found.high.tolist() == [1] * 3
    rng = np.random.default_rng(0)
    shares, labelled = rng.dirichlet([1, 1], 50), rng.dirichlet([1, 1], 30)
    absent = np.array([0.6, 0.4, 0.0])
    found = em_intervals(np.pad(shares, ((0, 0), (0, 1))), absent, np.pad(labelled, ((0, 0), (0, 1))), codes)
    known = codes < 2
    two = em_intervals(shares, absent[:2], labelled[known], codes[known])
    assert found.low[:2].tolist() == two.low.tolist() and found.high[:2].tolist() == two.high.tolist()
    assert found.estimate[2] == 0 and np.isnan(found.low[2]) and np.isnan(found.high[2])
    few = em_intervals(shares, absent[:2], labelled[known][1:2], np.array([1]))  # no row of class 0
    assert np.all(few.low <= few.estimate) and np.all(few.estimate <= few.high) and few.high[0] > few.low[0]


def test_em_repairs_the_coverage():
    wrong = {None: 0, "label-em": 0}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = classes(rng, [0.7, 0.2, 0.1], 800)
        T, truth = classes(rng, [0.2, 0.3, 0.5], 500)
        for shift in wrong:
            method = Conformal(NaiveBayes(), calibration=0.5, shift=shift, random_state=seed).fit(X, y)
            wrong[shift] += np.sum(method.predict_p_values(T)[np.arange(500), truth] <= 0.1)
    assert wrong["label-em"] / 3000 == pytest.approx(0.1, abs=0.03) and wrong[None] / 3000 > 0.15
    prior = method.fitted_[0].class_counts / method.fitted_[0].class_counts.sum()
    method = Conformal(NaiveBayes(), calibration=0.5, shift="label-em", random_state=1).fit(X, y)
    method.predict_p_values(T)
    shares = method.fitted_[0].method.confident_predict(T)["probability"].scores
    prior = method.fitted_[0].class_counts / method.fitted_[0].class_counts.sum()
    found = [row[2] for row in method.fit_details_.other["class_shift"]]
    assert found == pytest.approx(em_frequencies(shares, prior)[0].tolist())


def test_margins_have_no_frequencies():
    rng = np.random.default_rng(0)
    X, y = classes(rng, [0.4, 0.3, 0.3], 60)
    with pytest.raises(ConfmlError, match="needs probabilities"):
        Conformal(confml.Perceptron(), shift="label-em", random_state=1).fit(X, y)


def test_a_run_writes_the_frequencies(tmp_path):
    data = {"name": "d", "generate": "label-shift", "n": 2000, "test-n": 500, "prior": 0.6, "distance": 2.5}
    methods = [
        {"name": "naive-bayes", "conformal": {"kind": "split", "calibration": 0.5, "shift": shift}}
        for shift in ("label", "label-em")
    ]
    config = {
        "name": "em",
        "datasets": [data],
        "methods": methods,
        "protocol": "fixed-split",
        "levels": [0.1],
    }
    confml.run(config, out=tmp_path / "out", jobs=1, engine="serial")
    with (tmp_path / "out" / "shift-classes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    for row in rows[1::2]:
        assert row["class"] == "2" and float(row["training"]) < 0.2
        assert float(row["low"]) < float(row["estimate"]) < float(row["high"])
        assert float(row["estimate"]) == pytest.approx(0.6, abs=0.1)
        assert float(row["observed"]) == pytest.approx(0.6, abs=0.1)
    with (tmp_path / "out" / "shift.csv").open(newline="") as file:
        assert all(float(row["coverage"]) > 0.85 for row in csv.DictReader(file))
