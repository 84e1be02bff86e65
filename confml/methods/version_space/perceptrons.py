"""`Perceptrons`: what the methods that sample version spaces have in common."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from confml.errors import ConfmlError
from confml.measures.metrics import Metric
from confml.methods.base import Method
from confml.methods.multiclass import PROBLEMS, BinaryProblem
from confml.methods.version_space.billiard import Flight, Table, flight_bytes, play
from confml.methods.version_space.expectation_propagation import GaussianVersionSpace
from confml.methods.version_space.kernel_functions import (
    KERNEL_PARAMETERS,
    MEDIAN,
    SIGMA,
    KernelFunction,
    median_distance,
)
from confml.methods.version_space.version_space import RangeSpace, VersionSpace, state_memory
from confml.plugins.parameters import AnyOf, Choice, Integer, Nothing, Number, Parameter

FOUR_PI = 4 * math.pi
# Halvings of the median distance that sigma: auto tries.
_HALVINGS = 12
# Chains whose worst R-hat is above this, or that are worth fewer independent draws, are far from having met.
_WORST_RHAT, _LEAST_ESS = 1.5, 20.0
WARM_ROWS = np.arange(12.0).reshape(6, 2) % 5, np.array([0, 1, 0, 1, 1, 0])
_TEST_BLOCK = 256  # test examples at a time: their state stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Machine:
    """One two-class problem, and what was learnt of its version space."""

    problem: BinaryProblem
    found: Flight | GaussianVersionSpace


class Perceptrons(Method):
    """Kernel perceptrons without training error, uniformly distributed: fitting, for several methods.

    Fitted: ``kernel_`` (`KernelFunction`), ``X_`` (n, d), ``machines_`` (a tuple of `Machine`).
    """

    metrics: ClassVar[Mapping[str, Metric]] = {
        "sigma": Metric("width of the kernel rbf", None),
        "margin": Metric("smallest margin of the version spaces of the binary problems", None),
        "rank": Metric("largest rank of the Gram matrices of the binary problems", None),
        "sweeps": Metric("number of sweeps of expectation propagation", None),
        "bounces": Metric("number of bounces of all chains", None),
        "arc": Metric("length of all trajectories in radians", None),
        "escapes": Metric("number of chords drawn again because no wall was ahead", None),
        "rhat": Metric("largest split R-hat: 1 where chains agree", "lower"),
        "ess": Metric("smallest effective sample size of the chains", "higher"),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "kernel": KERNEL_PARAMETERS["kernel"],
        "sigma": AnyOf(
            "width of the kernel rbf; median: the median distance of two training rows; auto: that, halved "
            "until all training rows can be told apart without error",
            (SIGMA, MEDIAN, Choice("", ("auto",))),
        ),
        "degree": KERNEL_PARAMETERS["degree"],
        "coef0": KERNEL_PARAMETERS["coef0"],
        "lam": Number("added to the kernel's diagonal, so that training errors are allowed", 0.0),
        "sampler": Choice(
            "geodesic: billiard on great circles; chord: the paper's own rules (biased in few dimensions, "
            "slow to mix); ep: expectation propagation, fast and not random, with errors of p of 0.01 on "
            "average and 0.1 at worst",
            ("geodesic", "chord", "ep"),
        ),
        "n_bounces": Integer("bounces of all chains together", 1),
        "burn_in": Number("share of n_bounces that is flown before it counts", 0.0, 10.0),
        "refresh": AnyOf(
            "mean arc in radians between the fresh directions of the geodesic sampler; null: never",
            (Number("", 0.1), Nothing("")),
        ),
        "chains": Integer("number of balls", 1, 1000),
        "multiclass": Choice(
            "more than two classes: ovr, each against the rest; ovo, each against each", ("ovr", "ovo")
        ),
        "random_state": AnyOf(
            "seed of the billiard; null: another one each time", (Integer("", 0, 2**32 - 1), Nothing(""))
        ),
    }

    def __init__(
        self,
        kernel: str = "rbf",
        sigma: float | str = "auto",
        degree: int = 2,
        coef0: float = 1.0,
        lam: float = 0.0,
        sampler: str = "geodesic",
        n_bounces: int = 100_000,
        burn_in: float = 0.1,
        refresh: float | None = FOUR_PI,
        chains: int = 4,
        multiclass: str = "ovr",
        random_state: int | None = None,
    ):
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.sampler = sampler
        self.n_bounces = n_bounces
        self.burn_in = burn_in
        self.refresh = refresh
        self.chains = chains
        self.multiclass = multiclass
        self.random_state = random_state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machines_")

    # ---- fitting

    def fit(self, X, y) -> Self:
        """Fly through the version space of X (n, d), y (n,).

        Raises ConfmlError, with what to do about it, where there is nothing to learn: one class, rows that
        cannot be told apart, no version space; and where there is not the memory for it.
        """
        X, codes = self.check_fit_data(X, y)
        classes = len(self.classes_)
        if classes < 2:
            raise ConfmlError(
                f"{self.name} tells classes apart, and the training set has one class only "
                f"({self.classes_[0]})",
                hint="take a larger training part, or stratify: true",
            )
        problems = PROBLEMS[self.multiclass](codes, classes)
        # Numbers of matrices as measured; one against one, each machine has coordinates of its own.
        state_memory(
            [len(problem.rows) for problem in problems],
            working=13 if self.sampler == "ep" else 8,
            kept=6 if self.multiclass == "ovo" else 3,
            flight=0.0 if self.sampler == "ep" else flight_bytes(self.n_bounces, self.burn_in),
        )
        self.X_ = X
        self.kernel_, spaces = self._version_spaces(X, codes, problems)
        seeds = check_random_state(self.random_state).randint(2**31, size=len(problems))
        table = Table(self.sampler, self.n_bounces, self.burn_in, self.refresh, self.chains)
        self.machines_ = tuple(
            Machine(
                problem,
                GaussianVersionSpace.of(space) if self.sampler == "ep" else play(space, table, int(seed)),
            )
            for problem, space, seed in zip(problems, spaces, seeds, strict=True)
        )
        if self.sampler == "geodesic":
            self._warn_of_short_flights()
        return self

    def _warn_of_short_flights(self) -> None:
        metrics = self.fit_metrics_
        if metrics["bounces"] and (metrics["rhat"] > _WORST_RHAT or metrics["ess"] < _LEAST_ESS):
            warnings.warn(
                f"{self.name}: the chains have not converged (the worst split R-hat of distances to walls is "
                f"{metrics['rhat']:.1f}, the flight is worth about {metrics['ess']:.0f} independent draws): "
                f"raise n_bounces above {self.n_bounces}, or use sampler: ep",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _version_spaces(
        self, X: np.ndarray, codes: np.ndarray, problems: list[BinaryProblem]
    ) -> tuple[KernelFunction, list[VersionSpace]]:
        """The kernel, and the version space of every problem."""
        if self.lam == 0:
            _check_contradictions(X, codes, self.classes_)
        middle = median_distance(X) if self.kernel == "rbf" else 1.0
        sigma = float(self.sigma) if not isinstance(self.sigma, str) else middle
        halvings = _HALVINGS if self.sigma == "auto" and self.kernel == "rbf" and self.lam == 0 else 0
        for halving in range(halvings + 1):
            kernel = KernelFunction(self.kernel, sigma / 2**halving, self.degree, self.coef0)
            gram = kernel(X, X)
            _check_gram(kernel, gram, middle, self.lam, bool((X == X[0]).all()))
            spaces = self._try_all(gram, problems)
            if spaces is not None:
                return kernel, spaces
        raise self._no_version_space(kernel, middle)

    def _try_all(self, gram: np.ndarray, problems: list[BinaryProblem]) -> list[VersionSpace] | None:
        """The version spaces of all problems, or None where one has none."""
        whole = RangeSpace.of(gram, self.lam) if any(len(p.rows) == len(gram) for p in problems) else None
        spaces = []
        for problem in problems:
            if len(problem.rows) == len(gram):
                space = whole
            else:
                space = RangeSpace.of(gram[np.ix_(problem.rows, problem.rows)], self.lam)
            spaces.append(VersionSpace.of(space, problem.targets))
            if spaces[-1] is None:
                return None
        return spaces

    def _no_version_space(self, kernel: KernelFunction, middle: float) -> ConfmlError:
        allow = "allow training errors by lam above 0 (0.1 is a usual value)"
        if self.lam > 0:
            allow = (
                f"raise lam: {self.lam:g} is lost in rounding errors beside the kernel (0.1 is a usual value)"
            )
        if kernel.kind == "rbf":
            return ConfmlError(
                f"no version space: at sigma = {kernel.sigma:g} no kernel perceptron has all training rows "
                "right, within rounding errors",
                hint=f"choose a smaller sigma (the median distance of two training rows is {middle:.4g}), or "
                + allow,
            )
        return ConfmlError(
            f"no version space: no perceptron of the {kernel.kind} kernel has all training rows right",
            hint=f"{allow}, or take kernel: rbf"
            + (" (linear has no bias: poly with degree 1 has one)" if kernel.kind == "linear" else ""),
        )

    # ---- what the machines say

    def _blocks(self, X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """k(x_i, x) (n, m) and k(x, x) (m,) of test examples, some at a time."""
        for start in range(0, max(len(X), 1), _TEST_BLOCK):
            block = X[start : start + _TEST_BLOCK]
            yield self.kernel_(self.X_, block), self.kernel_.of_itself(block)

    def _centre_values(self, kernel_block: np.ndarray) -> np.ndarray:
        """(m, machines) <w, phi(x)> of the centres of mass w, of length 1."""
        columns = []
        for problem, found in ((machine.problem, machine.found) for machine in self.machines_):
            coordinates = found.version_space.space.coordinates(kernel_block[problem.rows])
            value = np.zeros(kernel_block.shape[1])
            for weight, row in zip(found.centre(), coordinates, strict=True):
                value += weight * row
            columns.append(value)
        return np.column_stack(columns)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``sigma`` (kernel rbf); the smallest ``margin`` and largest ``rank`` of the version spaces;
        ``bounces``, ``arc`` (radians) and ``escapes`` of all of them, and of the distances to the walls the
        worst split ``rhat`` and ``ess``, their median effective sample size, of the machine that has the
        smallest; or the ``sweeps`` of expectation propagation."""
        if not hasattr(self, "machines_"):
            return {}
        found = [machine.found for machine in self.machines_]
        metrics = {"sigma": float(self.kernel_.sigma)} if self.kernel == "rbf" else {}
        metrics["margin"] = float(min(one.version_space.margin for one in found))
        metrics["rank"] = float(max(one.version_space.space.rank for one in found))
        if self.sampler == "ep":
            return metrics | {"sweeps": float(sum(one.sweeps for one in found))}
        metrics["bounces"] = float(sum(one.bounces for one in found))
        metrics["arc"] = float(sum(one.arc for one in found))
        if self.sampler == "chord":
            metrics["escapes"] = float(sum(chain.escapes for one in found for chain in one.chains))
        return metrics | {"rhat": max(one.rhat for one in found), "ess": min(one.ess for one in found)}

    @classmethod
    def compile_kernels(cls) -> None:
        """Compile the kernels, by running them once on a few rows."""
        X, y = WARM_ROWS
        for settings in ({}, {"sampler": "chord"}, {"sampler": "ep", "lam": 0.1}):
            cls(n_bounces=200, random_state=0, **settings).fit(X, y).confident_predict(X)


def _check_contradictions(X: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> None:
    """Raise ConfmlError where identical rows have different classes."""
    _, place = np.unique(X, axis=0, return_inverse=True)
    place = place.ravel()
    order = np.lexsort((codes, place))
    wrong = np.flatnonzero((place[order][1:] == place[order][:-1]) & (codes[order][1:] != codes[order][:-1]))
    if len(wrong):
        one, other = sorted(order[wrong[0] : wrong[0] + 2])
        raise ConfmlError(
            f"no version space: training rows {one} and {other} are identical and have different classes, "
            f"{classes[codes[one]]} and {classes[codes[other]]} (rows of the training part, counted from 0; "
            f"{len(wrong)} such pairs)",
            hint="allow training errors by lam above 0 (0.1 is a usual value), or remove such rows",
        )


def _check_gram(kernel: KernelFunction, gram: np.ndarray, middle: float, lam: float, identical: bool) -> None:
    """Raise ConfmlError where a kernel matrix (n, n) carries no information about the classes.

    identical: whether all training rows are equal. With lam > 0 they are a problem like any other, whose
    probabilities are decided by the numbers of rows per class.
    """
    own = np.diag(gram)
    if not (own + lam > 0).all():
        row = int(np.argmin(own + lam))
        raise ConfmlError(
            f"training row {row} (counted from 0) has length 0 in the {kernel.kind} kernel's space: it is on "
            "neither side of any perceptron",
            hint="take kernel: poly with degree 1 and coef0 1, which adds a bias, or kernel: rbf",
        )
    if kernel.kind != "rbf" or len(gram) < 2:
        return
    median = f"(the median distance of two training rows is {middle:.4g})"
    others = gram - np.diag(own)
    if others.max() < np.finfo(float).eps:
        raise ConfmlError(
            f"sigma = {kernel.sigma:g} is so small that the kernel matrix is the identity: no row tells "
            "anything of another one",
            hint=f"choose a larger sigma {median}, or sigma: median",
        )
    if gram.min() > 1.0 - 100 * np.finfo(float).eps and not (identical and lam > 0):
        raise ConfmlError(
            f"sigma = {kernel.sigma:g} is so large that the kernel matrix has rank one: all training rows "
            "look the same",
            hint=f"choose a smaller sigma {median}, or sigma: median; identical rows need other attributes",
        )
