"""Synthetic data sets whose true distribution is known, with a random seed and their Bayes error.

Every example is drawn independently: first its class, then its attributes. ``bayes_probability`` is the true
probability of each class at a point, and ``bayes_error`` the error that no classifier can beat.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml.data import concepts
from confml.data.dataset import DataSet
from confml.errors import ConfigError, DataError, did_you_mean
from confml.plugins.parameters import Choice, Integer, Number, Parameter, check_parameters

COMMON: Mapping[str, Parameter] = {
    "n": Integer("examples; the training part where test-n is given", low=2),
    "test_n": Integer("examples of a test part besides; 0 for no parts", low=0),
    "seed": Integer("which examples are drawn", low=0),
}


@dataclass(frozen=True)
class Generator:
    """A distribution to draw from.

    make(n, rng, **parameters) -> X (n, d), y (n,).
    classes: the labels, in the order of the columns of bayes_probability(X, **parameters) -> (n, c).
    bayes_error(**parameters) -> fraction.
    parameters: its own ones; their defaults are those of ``make``. default_n: how many examples unless said.
    """

    about: str
    parameters: Mapping[str, Parameter]
    classes: tuple[int | str, ...]
    make: Callable[..., tuple[np.ndarray, np.ndarray]]
    bayes_probability: Callable[..., np.ndarray]
    bayes_error: Callable[..., float]
    default_n: int = 250

    @property
    def defaults(self) -> dict[str, Any]:
        """The value of each of its own parameters where it is not given."""
        given = inspect.signature(self.make).parameters
        return {name: given[name].default for name in self.parameters}


def load_generated(spec: Mapping[str, Any]) -> DataSet:
    """The data set of ``{"name": ..., "generate": GENERATOR, "n": ..., "test-n": ..., "seed": ..., ...}``.

    ``test-n`` adds a test part, drawn apart: the training part is the same whatever its size. Hyphens and
    underscores in keys are the same. Raises ConfigError for an unknown generator or parameter, DataError
    where so few examples were asked for that they came out as one class.
    """
    generator, given = _checked(spec)
    name, seed = str(spec["generate"]), given.pop("seed", 1)
    sizes = {"train": given.pop("n", generator.default_n), "test": given.pop("test_n", 0)}
    parts = [
        generator.make(size, stable_generator("generate", name, seed, part), **given)
        for part, size in sizes.items()
        if size
    ]
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if len(set(parts[0][1].tolist())) < 2:
        raise DataError(
            f"all {sizes['train']} examples came out as class {y[0]}",
            where=name,
            hint="raise n or try another seed",
        )
    attributes = tuple(f"x{column + 1}" for column in range(X.shape[1]))
    divided = bool(sizes["test"])
    return DataSet(
        name=str(spec.get("name", name)),
        X=X,
        y=y,
        attributes=attributes,
        table=X,
        table_attributes=attributes,
        nominal=np.zeros(len(attributes), dtype=bool),
        categories=(None,) * len(attributes),
        train_rows=np.arange(sizes["train"]) if divided else None,
        test_rows=np.arange(sizes["train"], len(y)) if divided else None,
    )


def true_probability(spec: Mapping[str, Any]) -> Callable[[np.ndarray], np.ndarray] | None:
    """The true class probabilities of a data set, (n, d) -> (n, c) in the order of its classes, where known.

    That is, of a generated one, and of Ripley's own set. None for any other.
    """
    if spec.get("generate") is None:
        known = str(spec.get("card") or spec.get("name")) == "ripley-synth"
        return ripley_probability if known else None
    generator, given = _checked(spec)
    own = {name: value for name, value in given.items() if name in generator.parameters}
    return lambda X: generator.bayes_probability(X, **own)


def _checked(spec: Mapping[str, Any]) -> tuple[Generator, dict[str, Any]]:
    name = str(spec["generate"])
    if name not in GENERATORS:
        raise ConfigError(f"unknown generator '{name}'", hint=did_you_mean(name, GENERATORS))
    generator = GENERATORS[name]
    given = {
        str(key).replace("-", "_"): value for key, value in spec.items() if key not in ("name", "generate")
    }
    check_parameters(name, {**COMMON, **generator.parameters}, given)
    return generator, given


# ---- five Gaussians in the plane, two classes


@dataclass(frozen=True)
class Component:
    """One Gaussian of a mixture: its class, weight in the whole, mean (2,) and covariance (2, 2)."""

    label: int
    weight: float
    mean: tuple[float, float]
    covariance: tuple[tuple[float, float], tuple[float, float]]
    factor: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "factor", np.linalg.cholesky(np.array(self.covariance)))

    def density(self, X: np.ndarray) -> np.ndarray:
        """(n,) the density at X (n, 2), weight included."""
        whitened = np.linalg.solve(self.factor, (X - self.mean).T)
        scale = 2 * math.pi * float(np.prod(np.diag(self.factor)))
        return self.weight * np.exp(-0.5 * (whitened**2).sum(axis=0)) / scale


_ROUND = ((0.03, 0.0), (0.0, 0.03))

# The first four are Ripley's (1994): two round Gaussians a class, variance 0.03. The fifth, an oblique one,
# is confml's own. Both classes have probability 1/2, shared equally by their Gaussians.
FIVE_GAUSSIANS: tuple[Component, ...] = (
    Component(1, 1 / 6, (-0.7, 0.3), _ROUND),
    Component(1, 1 / 6, (0.3, 0.3), _ROUND),
    Component(2, 1 / 4, (-0.3, 0.7), _ROUND),
    Component(2, 1 / 4, (0.4, 0.7), _ROUND),
    Component(1, 1 / 6, (0.9, 0.9), ((0.0625, -0.015), (-0.015, 0.0144))),
)


def five_gaussians(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """n examples of the mixture `FIVE_GAUSSIANS`: X (n, 2) and classes 1 and 2."""
    which = rng.choice(len(FIVE_GAUSSIANS), size=n, p=[component.weight for component in FIVE_GAUSSIANS])
    standard = rng.standard_normal((n, 2))
    factors = np.array([component.factor for component in FIVE_GAUSSIANS])[which]
    means = np.array([component.mean for component in FIVE_GAUSSIANS])[which]
    labels = np.array([component.label for component in FIVE_GAUSSIANS])[which]
    return means + (factors * standard[:, None, :]).sum(axis=2), labels


def five_gaussians_probability(X: np.ndarray) -> np.ndarray:
    """(n, 2) the true probabilities of classes 1 and 2 at X (n, 2)."""
    return _shares(_five_gaussians_joint(np.asarray(X, dtype=np.float64)))


def ripley_probability(X: np.ndarray) -> np.ndarray:
    """(n, 2) the true probabilities of classes 0 and 1 of Ripley's set (1994): four equal round Gaussians."""
    X = np.asarray(X, dtype=np.float64)
    densities = [component.density(X) / component.weight for component in FIVE_GAUSSIANS[:4]]
    return _shares(np.column_stack([densities[0] + densities[1], densities[2] + densities[3]]))


def _shares(joint: np.ndarray) -> np.ndarray:
    total = joint.sum(axis=1, keepdims=True)
    # Far from everything both densities vanish: there the nearest thing to say is the prior.
    return np.divide(joint, total, out=np.full_like(joint, 0.5), where=total > 0)


def five_gaussians_bayes_error(step: float = 0.0025) -> float:
    """The integral of the smaller of the two joint densities, by the trapezoid rule: 0.098595.

    Integrated over [-1.4, 1.5] x [-0.4, 1.8]: of class 2, the smaller density far out, less than 1e-8
    lies outside. The integrand has an edge where the classes are equally likely: the error falls with step
    squared, and is 2e-7 at 0.0025.
    """
    axis = np.arange(-0.4, 1.8 + step / 2, step)
    total = 0.0
    for x in np.arange(-1.4, 1.5 + step / 2, step):  # the whole grid at once would take much memory
        column = np.column_stack([np.full_like(axis, x), axis])
        total += float(_five_gaussians_joint(column).min(axis=1).sum())
    return total * step * step


def _five_gaussians_joint(X: np.ndarray) -> np.ndarray:
    densities = {1: np.zeros(len(X)), 2: np.zeros(len(X))}
    for component in FIVE_GAUSSIANS:
        densities[component.label] += component.density(X)
    return np.column_stack([densities[1], densities[2]])


# ---- two Gaussians of one covariance


def two_gaussians(
    n: int, rng: np.random.Generator, d: int = 2, distance: float = 2.0, prior: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """n examples of two unit Gaussians: X (n, d) and classes 1 and 2.

    The means lie ``distance`` apart on the diagonal, around the origin, so that every attribute tells as much
    as any other. prior: the probability of class 2.
    """
    second = rng.random(n) < prior
    standard = rng.standard_normal((n, d))
    return standard + np.where(second, 0.5, -0.5)[:, None] * distance / math.sqrt(d), second + 1


def two_gaussians_probability(
    X: np.ndarray, d: int = 2, distance: float = 2.0, prior: float = 0.5
) -> np.ndarray:
    """(n, 2) the true probabilities of classes 1 and 2: logistic along the diagonal."""
    from scipy.special import expit

    along = np.asarray(X, dtype=np.float64).sum(axis=1) / math.sqrt(d)
    odds = distance * along + math.log(prior / (1 - prior))
    return np.column_stack([expit(-odds), expit(odds)])


def two_gaussians_bayes_error(d: int = 2, distance: float = 2.0, prior: float = 0.5) -> float:
    """In closed form, the same for every d; with equal priors Phi(-distance / 2)."""
    from scipy.special import ndtr

    shift = math.log(prior / (1 - prior)) / distance
    return float((1 - prior) * ndtr(-distance / 2 + shift) + prior * ndtr(-distance / 2 - shift))


# ---- a figure in the unit square


def unit_square(
    n: int, rng: np.random.Generator, shape: str = "circle", area: float = 0.4
) -> tuple[np.ndarray, np.ndarray]:
    """n points, uniform in the unit square: X (n, 2), ``pos`` inside the figure and ``neg`` outside.

    Kubat, An Introduction to Machine Learning, computer assignment 3 of chapter 3, where the figure is the
    reader's choice. Here it lies in the middle: a circle, a square, or a triangle as high as it is wide.
    Without noise every label is certain.
    """
    X = rng.random((n, 2))
    return X, np.where(_inside(X, shape, area), "pos", "neg")


def unit_square_probability(X: np.ndarray, shape: str = "circle", area: float = 0.4) -> np.ndarray:
    """(n, 2) the true probabilities of ``neg`` and ``pos``: 0 or 1."""
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


IRRELEVANT = Integer("attributes appended that tell nothing of the class", low=0)

GENERATORS: Mapping[str, Generator] = {
    "five-gaussians": Generator(
        about="five Gaussians in the plane, three of class 1 and two of class 2 (Bayes error 9.86 %)",
        parameters={},
        classes=(1, 2),
        make=five_gaussians,
        bayes_probability=five_gaussians_probability,
        bayes_error=five_gaussians_bayes_error,
    ),
    "two-gaussians": Generator(
        about="two unit Gaussians in d dimensions, a given distance apart (Bayes error in closed form)",
        parameters={
            "d": Integer("attributes, all equally telling", low=1),
            "distance": Number("between the two means, in standard deviations", low=0, low_open=True),
            "prior": Number("the probability of class 2", low=0, high=1, low_open=True, high_open=True),
        },
        classes=(1, 2),
        make=two_gaussians,
        bayes_probability=two_gaussians_probability,
        bayes_error=two_gaussians_bayes_error,
    ),
    "unit-square": Generator(
        about="points in the unit square, positive inside a figure and negative outside (Bayes error 0)",
        parameters={
            "shape": Choice("the figure", options=("circle", "square", "triangle")),
            "area": Number("of the figure", low=0, high=0.5, low_open=True),
        },
        classes=("neg", "pos"),
        make=unit_square,
        bayes_probability=unit_square_probability,
        bayes_error=lambda shape="circle", area=0.4: 0.0,
        default_n=1000,
    ),
    "at-least": Generator(
        about="d boolean attributes, positive if at least k of them are 1 (Bayes error 0)",
        parameters={
            "d": Integer("boolean attributes that matter", low=1),
            "k": Integer("how many of them must be 1", low=0),
            "irrelevant": IRRELEVANT,
        },
        classes=("neg", "pos"),
        make=concepts.at_least,
        bayes_probability=concepts.at_least_probability,
        bayes_error=lambda d=5, k=3, irrelevant=0: 0.0,
        default_n=20,
    ),
    "counted": Generator(
        about="six boolean attributes, four classes by how many of them are 1 (Bayes error 0)",
        parameters={"irrelevant": IRRELEVANT},
        classes=("C1", "C2", "C3", "C4"),
        make=concepts.counted,
        bayes_probability=concepts.counted_probability,
        bayes_error=lambda irrelevant=0: 0.0,
    ),
    "half-cube": Generator(
        about="points in the unit cube, positive on one side of a plane (Bayes error 0)",
        parameters={
            "d": Integer("attributes that matter", low=1),
            "threshold": Number("what their sum must exceed", low=0),
            "irrelevant": IRRELEVANT,
        },
        classes=("neg", "pos"),
        make=concepts.half_cube,
        bayes_probability=concepts.half_cube_probability,
        bayes_error=lambda d=3, threshold=1.0, irrelevant=0: 0.0,
        default_n=100,
    ),
    "arcs": Generator(
        about="points on a circle whose equal arcs are the classes, parted by lines (Bayes error 0)",
        parameters={"classes": Integer("how many arcs", low=2), "irrelevant": IRRELEVANT},
        classes=(1, 2, 3, 4),
        make=concepts.arcs,
        bayes_probability=concepts.arcs_probability,
        bayes_error=lambda classes=4, irrelevant=0: 0.0,
    ),
    "six-examples": Generator(
        about="draws from six examples of four boolean attributes that no line separates (Bayes error 0)",
        parameters={},
        classes=("neg", "pos"),
        make=concepts.six_examples,
        bayes_probability=concepts.six_examples_probability,
        bayes_error=lambda: 0.0,
        default_n=60,
    ),
    "coin-tosses": Generator(
        about="normal attributes, and two classes that have nothing to do with them (Bayes error 1/2)",
        parameters={"d": Integer("attributes", low=1)},
        classes=(1, 2),
        make=concepts.coin_tosses,
        bayes_probability=concepts.coin_tosses_probability,
        bayes_error=lambda d=10: 0.5,
        default_n=20,
    ),
}
