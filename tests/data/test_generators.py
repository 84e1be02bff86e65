"""Made data sets: seeds, parts, parameters, and the distributions that they claim to have."""

import math

import numpy as np
import pytest

from confml.data import load
from confml.data.generators import GENERATORS, five_gaussians_bayes_error, load_generated


@pytest.mark.parametrize("name", GENERATORS)
def test_the_seed_decides(name):
    first, same, differs = (load_generated({"name": "made", "generate": name, "seed": s}) for s in (4, 4, 5))
    assert first.checksum == same.checksum != differs.checksum
    assert len(first) == GENERATORS[name].default_n and first.train_rows is None
    assert first.name == "made" and first.attributes[:2] == ("x1", "x2")
    assert tuple(first.classes.tolist()) == GENERATORS[name].classes


@pytest.mark.parametrize("name", GENERATORS)
def test_the_test_part_stands_behind_and_leaves_the_training_part_alone(name):
    alone = load({"name": "a", "generate": name, "n": 60, "seed": 2})
    both = load({"name": "a", "generate": name, "n": 60, "test-n": 40, "seed": 2})
    larger = load({"name": "a", "generate": name, "n": 60, "test_n": 80, "seed": 2})
    assert both.train_rows.tolist() == list(range(60)) and both.test_rows.tolist() == list(range(60, 100))
    assert (both.X[:60] == alone.X).all() and (larger.X[:60] == alone.X).all()
    assert larger.test_rows.tolist() == list(range(60, 140))
    numbers = [column for column in range(alone.X.shape[1]) if len(np.unique(alone.X[:, column])) > 2]
    assert not np.isin(both.X[60:, numbers], both.X[:60, numbers]).any()  # boolean features repeat


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("five-gaussians", {}),
        ("two-gaussians", {"d": 3, "distance": 1.5, "prior": 0.3}),
        ("unit-square", {"shape": "triangle", "area": 0.3}),
        ("label-shift", {"prior": 0.8}),
    ],
)
def test_the_true_probability_fits_what_is_drawn(name, parameters):
    """Calibration within groups of like probability, and the Bayes rule's error, on many examples."""
    generator = GENERATORS[name]
    n = 200_000
    X, y = generator.make(n, np.random.default_rng(1), **parameters)
    p = generator.bayes_probability(X, **parameters)
    assert p.shape == (n, 2) and np.allclose(p.sum(axis=1), 1)
    second = y == generator.classes[1]
    for low in np.arange(0, 1, 0.1):
        group = (p[:, 1] >= low) & (p[:, 1] <= low + 0.1)
        if group.sum() > 500:
            error = 4 * 0.5 / math.sqrt(group.sum())
            assert second[group].mean() == pytest.approx(p[group, 1].mean(), abs=error)
    error = np.mean(second != (p[:, 1] > 0.5))
    exact = generator.bayes_error(**parameters)
    assert error == pytest.approx(exact, abs=5 * math.sqrt(max(exact, 1e-12) / n))


@pytest.mark.parametrize("name", [name for name in GENERATORS if "irrelevant" in GENERATORS[name].parameters])
def test_irrelevant_attributes_leave_the_others_alone(name):
    make = GENERATORS[name].make
    (X, y), (wider, labels) = (make(50, np.random.default_rng(3), irrelevant=count) for count in (0, 4))
    assert wider.shape == (50, X.shape[1] + 4) and np.array_equal(wider[:, : X.shape[1]], X)
    assert np.array_equal(labels, y)


def test_the_counted_classes_by_hand():
    X, y = GENERATORS["counted"].make(3000, np.random.default_rng(1))
    by_count = {1: "C4", 2: "C3", 3: "C2", 4: "C2", 5: "C1", 6: "C1"}
    assert y.tolist() == [by_count[int(count)] for count in X.sum(axis=1)]
    assert X.any(axis=1).all() and len(np.unique(X, axis=0)) == 63


def test_the_bayes_error_of_five_gaussians_does_not_hang_on_the_step():
    # The limit for small steps, 0.0985945, is of steps down to 0.00125.
    assert five_gaussians_bayes_error() == pytest.approx(0.0985945, abs=3e-7)
    assert five_gaussians_bayes_error(0.01) == pytest.approx(0.0985945, abs=1e-5)


def test_shifted_generators_shift_the_test_part_alone():
    far = load({"name": "a", "generate": "covariate-shift", "n": 4000, "test-n": 4000, "shift": 2.0})
    assert far.X[:4000].mean(axis=0) == pytest.approx([0, 0], abs=0.08)
    assert far.X[4000:].mean(axis=0) == pytest.approx([2, 0], abs=0.08)
    rare = load({"name": "a", "generate": "label-shift", "n": 4000, "test-n": 4000, "prior": 0.6})
    assert np.mean(rare.y[:4000] == 2) == pytest.approx(0.1, abs=0.03)
    assert np.mean(rare.y[4000:] == 2) == pytest.approx(0.6, abs=0.04)
