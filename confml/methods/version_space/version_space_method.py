"""`VersionSpaceMethod`: base class of the methods that sample version spaces."""

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from confml.data.memory import require_memory
from confml.errors import ConfmlError
from confml.measures.bounds import hoeffding_draws
from confml.measures.metric import Metric
from confml.methods.base import Method
from confml.methods.multiclass import BinaryProblem, one_vs_rest
from confml.methods.version_space.billiard import BilliardSettings, sample, trajectory_bytes
from confml.methods.version_space.kernel_functions import (
    KERNEL_PARAMETERS,
    MEDIAN,
    SIGMA,
    KernelFunction,
    median_distance,
)
from confml.methods.version_space.version_space import RangeSpace, VersionSpace
from confml.plugins.parameters import SEED, AnyOf, Choice, IncompatibleParameters, Integer, Number, or_null

FOUR_PI = 4 * math.pi
FIXED, HOEFFDING = "fixed", "hoeffding"
BOUNCES, EPSILON, ETA = 100_000, 0.05, 0.01  # defaults
# Largest number of halvings of the median distance with sigma: auto.
_HALVINGS = 12
# A smaller effective sample size than this is reported by a warning.
_LEAST_ESS = 20.0
WORST_RHAT = 1.5  # chains with a larger split R-hat do not agree
_TEST_BLOCK = 256  # test examples per block: their state fits into the processor's cache


@dataclass(eq=False, repr=False)
class VersionSpaceMethod(Method):
    """Fit of a uniform distribution on version space, the kernel perceptrons without training error.

    More than two classes are divided into one problem per class, against all others. Fitted attributes:
    ``kernel_`` (`KernelFunction`), ``X_`` (n, d), ``trajectories_``, the trajectory of each problem.
    """

    metrics = {
        "sigma": Metric("width of the rbf kernel", None),
        "margin": Metric("smallest margin of the version spaces of the binary problems", None),
        "rank": Metric("largest rank of the Gram matrices of the binary problems", None),
        "bounces": Metric("number of bounces of all chains", None),
        "arc": Metric("length of all trajectories in radians", None),
        "escapes": Metric("number of chords drawn again because no wall was ahead", None),
        "rhat": Metric("largest split R-hat: 1 where chains agree", "lower"),
        "ess": Metric("smallest effective sample size of the chains", "higher"),
    }
    parameters = {
        "kernel": KERNEL_PARAMETERS["kernel"],
        "sigma": AnyOf(
            "width of the rbf kernel, 1 / sqrt(2 gamma) in scikit-learn's terms; median: the median distance "
            "between two training rows; auto: the median, halved until the training rows are separable",
            (SIGMA, MEDIAN, Choice("", ("auto",))),
        ),
        "degree": KERNEL_PARAMETERS["degree"],
        "coef0": KERNEL_PARAMETERS["coef0"],
        "ridge": Number("constant on the diagonal of the kernel matrix; above 0 allows training errors", 0.0),
        "sampler": Choice(
            "geodesic: billiard on great circles; chord: the paper's, biased in few dimensions, mixes slowly",
            ("geodesic", "chord"),
        ),
        "n_bounces": Integer("number of bounces of all chains together", 1),
        "burn_in": Number("number of bounces of the burn-in as a fraction of those of the run", 0.0, 10.0),
        "refresh": or_null("mean arc in radians between random directions; null: never", Number("", 0.1)),
        "chains": Integer("number of chains", 1, 1000),
        "random_state": SEED,
        "stopping": Choice(
            "fixed: after n_bounces bounces; hoeffding: after ln(1 / eta) / (2 epsilon^2) bounces, by "
            "equation 8 of the paper, which takes bounces for independent draws",
            (FIXED, HOEFFDING),
        ),
        "epsilon": Number(
            "for stopping: hoeffding: the error of a probability, in one direction, that may occur with "
            "probability eta",
            1e-4,
            1.0,
            high_open=True,
        ),
        "eta": Number(
            "for stopping: hoeffding: probability that a probability is too large by epsilon or more; that "
            "it is too small by as much has the same probability",
            1e-12,
            1.0,
            high_open=True,
        ),
    }

    kernel: str = "rbf"
    sigma: float | str = "auto"
    degree: int = 2
    coef0: float = 1.0
    ridge: float = 0.0
    sampler: str = "geodesic"
    n_bounces: int = BOUNCES
    burn_in: float = 0.1
    refresh: float | None = FOUR_PI
    chains: int = 4
    random_state: int | None = None
    stopping: str = FIXED
    epsilon: float = EPSILON
    eta: float = ETA

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise `IncompatibleParameters` for parameters that the stopping rule does not use."""
        unused = [("epsilon", EPSILON), ("eta", ETA)]
        reason = "needs stopping: hoeffding"
        if params.get("stopping", FIXED) == HOEFFDING:
            unused, reason = [("n_bounces", BOUNCES)], "is not used with stopping: hoeffding"
        for name, default in unused:
            if params.get(name, default) != default:
                owner, value = f"method '{cls.name}'", params[name]
                raise IncompatibleParameters(f"{name} {reason}", owner=owner, parameter=name, value=value)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trajectories_")

    # ---- fitting

    def fit(self, X, y) -> Self:
        """Sample the version space of training examples X (n, d) with labels y (n,).

        Raises ConfmlError if there is one class only, if the kernel cannot separate the rows, if version
        space is empty, or if the memory is too small.
        """
        X, codes = self.check_fit_data(X, y)
        self.check_combination(self.get_params(deep=False))
        classes = len(self.classes_)
        if classes < 2:
            raise ConfmlError(
                f"{self.name} needs at least two classes, and the training set has one class "
                f"({self.classes_[0]})",
                hint="use a larger training part, or stratify: true",
            )
        problems = one_vs_rest(codes, classes)
        by_hoeffding = self.stopping == HOEFFDING
        bounces = hoeffding_draws(self.epsilon, self.eta) if by_hoeffding else self.n_bounces
        # Eight matrices of the training rows are in memory during a fit, and one trajectory per problem.
        squares = 8 * 8 * len(X) ** 2
        require_memory(
            squares + int(len(problems) * trajectory_bytes(bounces, self.burn_in)),
            f"{self.name} with {len(X)} training rows and {bounces} bounces",
            hint="train on fewer rows, or sample fewer bounces",
        )
        self.X_ = X
        self.kernel_, spaces = self._version_spaces(X, codes, problems)
        seeds = check_random_state(self.random_state).randint(2**31, size=len(problems))
        settings = BilliardSettings(self.sampler, bounces, self.burn_in, self.refresh, self.chains)
        seeded = zip(spaces, seeds.tolist(), strict=True)
        self.trajectories_ = [sample(space, settings, seed) for space, seed in seeded]
        metrics = self.fit_metrics_
        rhat, ess = metrics["rhat"], metrics["ess"]
        has_converged = rhat <= WORST_RHAT and ess >= _LEAST_ESS
        if self.sampler == "geodesic" and metrics["bounces"] and not has_converged:
            longer = "use stopping: fixed" if by_hoeffding else f"raise n_bounces above {self.n_bounces}"
            warnings.warn(
                f"{self.name}: the chains have not converged (largest split R-hat of the distances to the "
                f"walls {rhat:.1f}, effective sample size {ess:.0f}): {longer}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _version_spaces(
        self, X: np.ndarray, codes: np.ndarray, problems: list[BinaryProblem]
    ) -> tuple[KernelFunction, list[VersionSpace]]:
        """Return the kernel and the version space of each problem."""
        if self.ridge == 0:
            _check_contradictions(X, codes, self.classes_)
        middle = median_distance(X) if self.kernel == "rbf" else 1.0
        sigma = float(self.sigma) if not isinstance(self.sigma, str) else middle
        halvings = _HALVINGS if self.sigma == "auto" and self.kernel == "rbf" and self.ridge == 0 else 0
        for halving in range(halvings + 1):
            kernel = KernelFunction(self.kernel, sigma / 2**halving, self.degree, self.coef0)
            gram = kernel(X, X)
            _check_gram(kernel, gram, middle, self.ridge, bool((X == X[0]).all()))
            spaces = self._try_all(gram, problems)
            if spaces is not None:
                return kernel, spaces
        raise self._no_version_space(kernel, middle)

    def _try_all(self, gram: np.ndarray, problems: list[BinaryProblem]) -> list[VersionSpace] | None:
        """Return the version spaces of all problems, or None if one of them is empty."""
        space, spaces = RangeSpace.of(gram, self.ridge), []
        for problem in problems:
            version_space = VersionSpace.of(space, problem.targets)
            if version_space is None:
                return None
            spaces.append(version_space)
        return spaces

    def _no_version_space(self, kernel: KernelFunction, middle: float) -> ConfmlError:
        allow = "allow training errors with ridge above 0 (0.1 is a usual value)"
        if self.ridge > 0:
            allow = f"raise ridge: {self.ridge:g} is below the rounding error of the kernel (0.1 is usual)"
        if kernel.kind == "rbf":
            return ConfmlError(
                f"version space is empty: with sigma = {kernel.sigma:g} no kernel perceptron classifies all "
                "training rows correctly, within rounding errors",
                hint=f"choose a smaller sigma (the median distance between two training rows is "
                f"{middle:.4g}), or {allow}",
            )
        bias = " (linear has no bias: poly with degree 1 has one)" if kernel.kind == "linear" else ""
        return ConfmlError(
            f"version space is empty: no perceptron of the {kernel.kind} kernel separates the classes",
            hint=f"{allow}, or use kernel: rbf{bias}",
        )

    # ---- prediction

    def _blocks(self, X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Iterate over k(x_i, x) (n, m) and k(x, x) (m,) of blocks of test examples."""
        for start in range(0, max(len(X), 1), _TEST_BLOCK):
            block = X[start : start + _TEST_BLOCK]
            yield self.kernel_(self.X_, block), self.kernel_.of_itself(block)

    def _centre_values(self, kernel_block: np.ndarray) -> np.ndarray:
        """Return <w, phi(x)> (m, machines) of the centres of mass w, scaled to length 1."""
        columns = []
        for trajectory in self.trajectories_:
            coordinates = trajectory.version_space.space.coordinates(kernel_block)
            value = np.zeros(kernel_block.shape[1])
            for weight, row in zip(trajectory.centre(), coordinates, strict=True):
                value += weight * row
            columns.append(value)
        return np.column_stack(columns)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """Metrics of the fit over all binary problems.

        ``sigma`` (rbf kernel only), the smallest ``margin`` and the largest ``rank``; ``bounces``, ``arc`` in
        radians, ``escapes`` (sampler chord only), the largest ``rhat`` and the smallest ``ess``.
        """
        if not hasattr(self, "trajectories_"):
            return {}
        trajectories = self.trajectories_
        spaces = [trajectory.version_space for trajectory in trajectories]
        metrics = {"sigma": float(self.kernel_.sigma)} if self.kernel == "rbf" else {}
        metrics["margin"] = float(min(space.margin for space in spaces))
        metrics["rank"] = float(max(space.space.rank for space in spaces))
        metrics["bounces"] = float(sum(trajectory.bounces for trajectory in trajectories))
        metrics["arc"] = float(sum(trajectory.arc for trajectory in trajectories))
        chains = [chain for trajectory in trajectories for chain in trajectory.chains]
        if self.sampler == "chord":
            metrics["escapes"] = float(sum(chain.escapes for chain in chains))
        metrics["rhat"] = max(trajectory.rhat for trajectory in trajectories)
        return metrics | {"ess": min(trajectory.ess for trajectory in trajectories)}


def _check_contradictions(X: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> None:
    """Raise ConfmlError if identical rows have different classes."""
    distinct_row = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((codes, distinct_row))
    is_same_row, is_other_class = np.diff(distinct_row[order]) == 0, np.diff(codes[order]) != 0
    contradictions = np.flatnonzero(is_same_row & is_other_class)
    if len(contradictions):
        first, second = sorted(order[contradictions[0] : contradictions[0] + 2])
        raise ConfmlError(
            f"version space is empty: training rows {first} and {second} are identical and have different "
            f"classes, {classes[codes[first]]} and {classes[codes[second]]} (training rows are counted "
            f"from 0; {len(contradictions)} such pairs)",
            hint="allow training errors with ridge above 0 (0.1 is a usual value), or remove such rows",
        )


def _check_gram(
    kernel: KernelFunction, gram: np.ndarray, middle: float, ridge: float, identical: bool
) -> None:
    """Raise ConfmlError if a kernel matrix (n, n) has no information about the classes.

    identical: whether all training rows are equal. This is allowed with ridge > 0; the probabilities then
    depend on the number of rows per class.
    """
    squared_lengths = np.diag(gram)
    if not (squared_lengths + ridge > 0).all():
        row = int(np.argmin(squared_lengths + ridge))
        raise ConfmlError(
            f"training row {row} (counted from 0) has length 0 in the feature space of the {kernel.kind} "
            "kernel: every perceptron has the decision value 0 for it",
            hint="use kernel: poly with degree 1 and coef0 1, which adds a bias, or kernel: rbf",
        )
    if kernel.kind != "rbf" or len(gram) < 2:
        return
    median = f"(the median distance between two training rows is {middle:.4g})"
    off_diagonal = gram - np.diag(squared_lengths)
    if off_diagonal.max() < np.finfo(float).eps:
        raise ConfmlError(
            f"sigma = {kernel.sigma:g} is too small: the kernel matrix is the identity",
            hint=f"choose a larger sigma {median}, or sigma: median",
        )
    if gram.min() > 1.0 - 100 * np.finfo(float).eps and not (identical and ridge > 0):
        raise ConfmlError(
            f"sigma = {kernel.sigma:g} is too large: the kernel matrix has rank one",
            hint=f"choose a smaller sigma {median}, or sigma: median; if all rows are equal, use other "
            "features",
        )
