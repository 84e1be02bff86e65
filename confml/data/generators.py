"""Synthetic data sets whose true distribution is known, with a random seed and their Bayes error.

Every example is drawn independently: first its class, then its features. ``bayes_probability`` returns the
true probability of each class at a point; ``bayes_error`` is the lowest error of any classifier.
"""

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml.data import concepts
from confml.data.dataset import DataSet
from confml.errors import ConfigError, DataError
from confml.plugins.parameters import Choice, Integer, Number, Parameter, check_parameters

COMMON: Mapping[str, Parameter] = {
    "n": Integer("number of examples; those of the training part if test-n is given", low=2),
    "test_n": Integer("number of examples of a test part; 0 for no parts", low=0),
    "seed": Integer("random seed", low=0),
}


@dataclass(frozen=True)
class Generator:
    """A distribution of examples.

    make(n, rng, **parameters) -> X (n, d), y (n,).
    classes: the labels, in the order of the columns of bayes_probability(X, **parameters) -> (n, c), which
    distributions in the plane have.
    bayes_error(**parameters) -> fraction.
    parameters: those of ``make``, with its defaults. default_n: default number of examples. of_training:
    values of parameters in the training part; the test part has the given ones.
    """

    about: str
    make: Callable[..., tuple[np.ndarray, np.ndarray]]
    bayes_probability: Callable[..., np.ndarray] | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    classes: tuple[int | str, ...] = (1, 2)
    bayes_error: Callable[..., float] = lambda **parameters: 0.0
    default_n: int = 250
    of_training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def defaults(self) -> dict[str, Any]:
        """Default values of the parameters."""
        arguments = inspect.signature(self.make).parameters
        return {name: arguments[name].default for name in self.parameters}


def load_generated(spec: Mapping[str, Any]) -> DataSet:
    """Return the data set of ``{"name": ..., "generate": GENERATOR, "n": ..., "test-n": ..., ...}``.

    ``test-n`` adds a test part with its own random stream, so the training part does not depend on it.
    Hyphens and underscores in keys are equivalent. Raises ConfigError for an unknown generator or parameter,
    DataError if all training examples have the same class.
    """
    generator, parameters = _checked(spec)
    name, seed = str(spec["generate"]), parameters.pop("seed", 1)
    n, test_n = parameters.pop("n", generator.default_n), parameters.pop("test_n", 0)
    streams = [stable_generator("generate", name, seed, part) for part in ("train", "test")]
    X, y = generator.make(n, streams[0], **{**parameters, **generator.of_training})
    if len(np.unique(y)) < 2:
        hint = "raise n or try another seed"
        raise DataError(f"all {n} examples are of class {y[0]}", where=name, hint=hint)
    if test_n:
        X_test, y_test = generator.make(test_n, streams[1], **parameters)
        X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
    attributes = tuple(f"x{column + 1}" for column in range(X.shape[1]))
    rows = np.arange(len(y))
    return DataSet(
        name=str(spec.get("name", name)),
        X=X,
        y=y,
        attributes=attributes,
        table=X,
        table_attributes=attributes,
        nominal=np.zeros(len(attributes), dtype=bool),
        categories=(None,) * len(attributes),
        train_rows=rows[:n] if test_n else None,
        test_rows=rows[n:] if test_n else None,
    )


def true_probability(spec: Mapping[str, Any]) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return a function of the true class probabilities, (n, d) -> (n, c) in the order of the classes.

    None where they are not known: they are for distributions in the plane, and for Ripley's data set.
    """
    if spec.get("generate") is None:
        is_ripley = str(spec.get("card") or spec.get("name")) == "ripley-synth"
        return ripley_probability if is_ripley else None
    generator, values = _checked(spec)
    parameters = {name: value for name, value in values.items() if name in generator.parameters}
    probability = generator.bayes_probability
    return None if probability is None else functools.partial(probability, **parameters)


def _checked(spec: Mapping[str, Any]) -> tuple[Generator, dict[str, Any]]:
    name = str(spec["generate"])
    if name not in GENERATORS:
        raise ConfigError(f"unknown generator '{name}'", near=(name, GENERATORS))
    generator = GENERATORS[name]
    parameters = {
        str(key).replace("-", "_"): value for key, value in spec.items() if key not in ("name", "generate")
    }
    check_parameters(name, {**COMMON, **generator.parameters}, parameters)
    return generator, parameters


# ---- five Gaussians in the plane, two classes


# The first four are Ripley's (1994): two isotropic Gaussians per class with variance 0.03. The fifth, with
# correlated features, was added here. Both classes have probability 1/2, divided equally among
# their Gaussians.
_ROUND = ((0.03, 0.0), (0.0, 0.03))
LABELS, WEIGHTS = np.array([1, 1, 2, 2, 1]), np.array([1 / 6, 1 / 6, 1 / 4, 1 / 4, 1 / 6])
MEANS = np.array([(-0.7, 0.3), (0.3, 0.3), (-0.3, 0.7), (0.4, 0.7), (0.9, 0.9)])
COVARIANCES = np.array([_ROUND] * 4 + [((0.0625, -0.015), (-0.015, 0.0144))])
FACTORS = np.linalg.cholesky(COVARIANCES)


def five_gaussians(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return n examples of the mixture of five Gaussians: X (n, 2) and classes 1 and 2."""
    which = rng.choice(len(WEIGHTS), size=n, p=WEIGHTS)
    standard = rng.standard_normal((n, 2))
    return MEANS[which] + (FACTORS[which] * standard[:, None, :]).sum(axis=2), LABELS[which]


def five_gaussians_probability(X: np.ndarray) -> np.ndarray:
    """Return (n, 2) true probabilities of classes 1 and 2 at X (n, 2)."""
    return _normalised(_five_gaussians_joint(X))


def ripley_probability(X: np.ndarray) -> np.ndarray:
    """Return (n, 2) true probabilities of classes 0 and 1 of Ripley's set (1994): 4 isotropic Gaussians."""
    densities = _densities(X) / WEIGHTS[:, None]
    return _normalised(np.column_stack([densities[0] + densities[1], densities[2] + densities[3]]))


def _densities(X: np.ndarray) -> np.ndarray:
    """Return (5, n) the density of each Gaussian at X (n, 2) times its weight."""
    whitened = np.linalg.solve(FACTORS, (np.asarray(X, dtype=np.float64) - MEANS[:, None]).transpose(0, 2, 1))
    scale = 2 * math.pi * FACTORS[:, 0, 0] * FACTORS[:, 1, 1]
    return WEIGHTS[:, None] * np.exp(-0.5 * (whitened**2).sum(axis=1)) / scale[:, None]


def _five_gaussians_joint(X: np.ndarray) -> np.ndarray:
    densities = _densities(X)
    return np.column_stack([densities[LABELS == label].sum(axis=0) for label in (1, 2)])


def _normalised(joint: np.ndarray) -> np.ndarray:
    total = joint.sum(axis=1, keepdims=True)
    # Where both densities underflow, the prior is returned.
    return np.divide(joint, total, out=np.full_like(joint, 0.5), where=total > 0)


def five_gaussians_bayes_error(step: float = 0.0025) -> float:
    """Return the integral of the smaller of the two joint densities, by the trapezoid rule: 0.098595.

    The region is [-1.4, 1.5] x [-0.4, 1.8]; class 2, which has the smaller density far out, has probability
    below 1e-8 outside it. The integrand has a kink where the classes are equally likely, so the error
    decreases with the square of the step; it is 2e-7 at 0.0025.
    """
    axis = np.arange(-0.4, 1.8 + step / 2, step)
    columns = (np.column_stack([np.full_like(axis, x), axis]) for x in np.arange(-1.4, 1.5 + step / 2, step))
    return sum(float(_five_gaussians_joint(column).min(axis=1).sum()) for column in columns) * step * step


# ---- two Gaussians with the same covariance


def two_gaussians(
    n: int, rng: np.random.Generator, d: int = 2, distance: float = 2.0, prior: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Return n examples of two unit Gaussians: X (n, d) and classes 1 and 2.

    The means are ``distance`` apart on the diagonal, symmetric around the origin, so that all features are
    equally informative. prior: probability of class 2.
    """
    second = rng.random(n) < prior
    standard = rng.standard_normal((n, d))
    return standard + np.where(second, 0.5, -0.5)[:, None] * distance / math.sqrt(d), second + 1


def two_gaussians_probability(
    X: np.ndarray, d: int = 2, distance: float = 2.0, prior: float = 0.5
) -> np.ndarray:
    """Return (n, 2) true probabilities of classes 1 and 2: logistic along the diagonal."""
    from scipy.special import expit

    along = np.asarray(X, dtype=np.float64).sum(axis=1) / math.sqrt(d)
    odds = distance * along + math.log(prior / (1 - prior))
    return np.column_stack([expit(-odds), expit(odds)])


def two_gaussians_bayes_error(d: int = 2, distance: float = 2.0, prior: float = 0.5) -> float:
    """Return the closed form, which does not depend on d; Phi(-distance / 2) with equal priors."""
    from scipy.special import ndtr

    shift = math.log(prior / (1 - prior)) / distance
    return float((1 - prior) * ndtr(-distance / 2 + shift) + prior * ndtr(-distance / 2 - shift))


# ---- a figure in the unit square


def unit_square(
    n: int, rng: np.random.Generator, shape: str = "circle", area: float = 0.4
) -> tuple[np.ndarray, np.ndarray]:
    """Return n points, uniform in the unit square: X (n, 2), ``pos`` inside the figure and ``neg`` outside.

    Kubat, An Introduction to Machine Learning, computer assignment 3 of chapter 3, which leaves the choice
    of the figure to the reader. Here it is in the middle: a circle, a square, or a triangle as high as wide.
    """
    X = rng.random((n, 2))
    return X, np.where(_inside(X, shape, area), "pos", "neg")


def unit_square_probability(X: np.ndarray, shape: str = "circle", area: float = 0.4) -> np.ndarray:
    """Return (n, 2) true probabilities of ``neg`` and ``pos``: 0 or 1."""
    inside = _inside(np.asarray(X, dtype=np.float64), shape, area)
    return np.column_stack([~inside, inside]).astype(np.float64)


def _inside(X: np.ndarray, shape: str, area: float) -> np.ndarray:
    x, y = X[:, 0] - 0.5, X[:, 1] - 0.5
    if shape == "circle":
        return x * x + y * y <= area / math.pi
    if shape == "square":
        return np.maximum(abs(x), abs(y)) <= math.sqrt(area) / 2
    side = math.sqrt(2 * area)  # of the triangle: width and height; its tip is up
    height = y + side / 2
    return (height >= 0) & (abs(x) <= (side - height) / 2)


IRRELEVANT = Integer("number of appended features that are independent of the class", low=0)
BOOLEAN = ("neg", "pos")
OF_TWO_GAUSSIANS = {
    "d": Integer("number of features, all equally informative", low=1),
    "distance": Number("distance of the two means in standard deviations", low=0, low_open=True),
    "prior": Number("probability of class 2", low=0, high=1, low_open=True, high_open=True),
}

GENERATORS: Mapping[str, Generator] = {
    "five-gaussians": Generator(
        about="five Gaussians in the plane, three of class 1 and two of class 2 (Bayes error 9.86 %)",
        make=five_gaussians,
        bayes_probability=five_gaussians_probability,
        bayes_error=five_gaussians_bayes_error,
    ),
    "two-gaussians": Generator(
        about="two unit Gaussians in d dimensions, a given distance apart (Bayes error in closed form)",
        parameters=OF_TWO_GAUSSIANS,
        make=two_gaussians,
        bayes_probability=two_gaussians_probability,
        bayes_error=two_gaussians_bayes_error,
    ),
    "covariate-shift": Generator(
        about="two classes, harder the larger the first feature, which is larger in the test part (Bayes"
        " error by quadrature)",
        parameters={
            "d": Integer("number of features, of which two matter", low=2),
            "shift": Number("mean of the first feature in the test part; 0 in the training part", low=-10),
        },
        make=concepts.covariate_shift,
        bayes_error=concepts.covariate_shift_bayes_error,
        of_training={"shift": 0.0},
    ),
    "label-shift": Generator(
        about="two unit Gaussians as two-gaussians; class 2 has probability 0.1 in the training part, and"
        " prior in the test part (Bayes error of the test part in closed form)",
        parameters=OF_TWO_GAUSSIANS,
        make=two_gaussians,
        bayes_probability=two_gaussians_probability,
        bayes_error=two_gaussians_bayes_error,
        of_training={"prior": 0.1},
    ),
    "unit-square": Generator(
        about="points in the unit square, positive inside a figure and negative outside (Bayes error 0)",
        parameters={
            "shape": Choice("figure", options=("circle", "square", "triangle")),
            "area": Number("area of the figure", low=0, high=0.5, low_open=True),
        },
        classes=BOOLEAN,
        make=unit_square,
        bayes_probability=unit_square_probability,
        default_n=1000,
    ),
    "taught-circle": Generator(
        about="points in the unit square, positive in a circle; a teacher has labelled those whose third"
        " feature is 1, a fifth of a training part (Bayes error in closed form)",
        parameters={
            "taught": Number(
                "fraction of examples of the test part that a teacher has labelled", low=0, high=1
            ),
            "noise": Number("probability of a wrong label of the other examples", low=0, high=0.5),
        },
        classes=BOOLEAN,
        make=concepts.taught_circle,
        bayes_error=lambda taught=1.0, noise=0.3: (1 - taught) * noise,
        default_n=500,
        of_training={"taught": 0.2},
    ),
    "at-least": Generator(
        about="d boolean features, positive if at least k of them are 1 (Bayes error 0)",
        parameters={
            "d": Integer("number of relevant boolean features", low=1),
            "k": Integer("number of them that must be 1", low=0),
            "irrelevant": IRRELEVANT,
        },
        classes=BOOLEAN,
        make=concepts.at_least,
        default_n=20,
    ),
    "counted": Generator(
        about="six boolean features, four classes by the number of ones (Bayes error 0)",
        parameters={"irrelevant": IRRELEVANT},
        classes=("C1", "C2", "C3", "C4"),
        make=concepts.counted,
    ),
    "half-cube": Generator(
        about="points in the unit cube, positive on one side of a plane (Bayes error 0)",
        parameters={
            "d": Integer("number of relevant features", low=1),
            "threshold": Number("threshold of their sum", low=0),
            "irrelevant": IRRELEVANT,
        },
        classes=BOOLEAN,
        make=concepts.half_cube,
        default_n=100,
    ),
    "arcs": Generator(
        about="points on a circle, whose equal arcs are the classes, separable by lines (Bayes error 0)",
        parameters={"classes": Integer("number of arcs", low=2), "irrelevant": IRRELEVANT},
        classes=(1, 2, 3, 4),
        make=concepts.arcs,
    ),
    "six-examples": Generator(
        about="six examples of four boolean features that are not linearly separable (Bayes error 0)",
        classes=BOOLEAN,
        make=concepts.six_examples,
        default_n=60,
    ),
    "coin-tosses": Generator(
        about="normal features and two classes that are independent of them (Bayes error 1/2)",
        parameters={"d": Integer("number of features", low=1)},
        make=concepts.coin_tosses,
        bayes_error=lambda d=10: 0.5,
        default_n=20,
    ),
}
