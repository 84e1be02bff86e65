"""`LinearMachines`: what the methods that put several binary linear SVMs together have in common."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from confml.bayes_error import one_vs_rest_bayes_error
from confml.bayes_error.selection import class_weights
from confml.errors import ConfmlError
from confml.measures.metrics import Metric
from confml.measures.prediction import Prediction
from confml.methods.base import finite_scores
from confml.methods.multiclass import BinaryProblem
from confml.methods.svm.liblinear_nodes import SOLVERS, Nodes
from confml.methods.svm.newton_svm import DenseExamples
from confml.methods.svm.penalty_path import PenaltyPath
from confml.plugins.parameters import AnyOf, Choice, Integer, Nothing, Number, Parameter

C = Number("the price of an error against the width of the margin", low=0, low_open=True)
TOLERANCE = Number(
    "when the solver stops: LIBLINEAR's -e, which bounds the gradient and not the objective; for newton, the "
    "relative excess of the objective over its minimum is at most a thousandth of it",
    low=0,
    low_open=True,
)


class ClassWeight(Parameter):
    """None, ``balanced``, ``bayes-error``, or a number above 0 for some of the class labels."""

    def expected(self) -> str:
        return "null, balanced, bayes-error, or a number above 0 for each of some class labels"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            return all(_PRICE.accepts(price) for price in value.values())
        return value is None or value in ("balanced", "bayes-error")


_PRICE = Number("", low=0, low_open=True)
CLASS_WEIGHT = ClassWeight(
    "what errors of a class cost, as a factor of C: 1 each, or as given (the mean over the rows of a side of "
    "several classes), or balanced, so that the sides of every problem weigh the same, or bayes-error: more "
    "for the classes that are hard to tell from the rest, by estimates on the training part"
)
RANDOM_STATE = AnyOf(
    "the seed of the solver's order of examples; the run's where it is null",
    of=(Integer("", low=0), Nothing("")),
)


class LinearMachines(PenaltyPath):
    """Several binary linear SVMs of LIBLINEAR, and what their decision values say together.

    A subclass cuts the training set into two-class problems (`_problems`), and puts the machines' decision
    values together (`_views`).

    The default tolerance leaves few labels undecided, but a large excess of the objective where C is large
    and classes are separable. Worst of C = 2^-8, 1 and 256 on iris, wine, vehicle, segment, satimage and usps
    (2000 rows at most, a third of them for the test), one machine per class, against tolerance 1e-7:
    ``primal`` at 0.001 changes up to 1.8 % of test labels (usps) and leaves the objective up to 8 % above
    its minimum, on segment 49 %, on usps at 16 times the minimum. ``dual`` at 0.001 changes up to 1.1 % and
    leaves up to 7 %; at LIBLINEAR's 0.1, up to 3.2 % and 27 times the minimum.
    ``newton`` bounds the objective itself: a millionth of its minimum at the default.

    A fit with the primal or Newton's solver climbs a fixed ladder of values of C
    up to its own (`Nodes.binary_path`); a whole path of them costs one climb.
    """

    penalty: ClassVar[str] = "C"
    metrics: ClassVar[Mapping[str, Metric]] = {
        "machines": Metric("number of binary machines", None),
        "machine_rows": Metric("number of training examples of all binary machines together", None),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "C": C,
        "solver": Choice(
            "LIBLINEAR's primal (-s 2) or dual (-s 1, which ends by -s 2 where 300 passes do not do), or "
            "newton: confml's own, fastest for up to some hundred attributes",
            options=(*SOLVERS, "newton"),
        ),
        "tolerance": TOLERANCE,
        "class_weight": CLASS_WEIGHT,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        C: float = 1.0,
        solver: str = "primal",
        tolerance: float = 0.001,
        class_weight: str | Mapping[Any, float] | None = None,
        random_state: int | None = None,
    ):
        self.C = C
        self.solver = solver
        self.tolerance = tolerance
        self.class_weight = class_weight
        self.random_state = random_state

    # ---- what a subclass says

    @abstractmethod
    def _problems(self, X, codes: np.ndarray, state: Mapping[str, np.ndarray] | None) -> list[BinaryProblem]:
        """The two-class problems of a training set; may set attributes of the fit."""

    @abstractmethod
    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        """The views out of decision values (n, machines), positive for a problem's positive side."""

    # ---- fitting

    def _fit_path(self, X, y, Cs: Sequence[float], state) -> tuple[float, dict[float, float]]:
        """path_[C]: weights (machines, d + 1), the bias first."""
        started = time.thread_time()
        X, codes = self.check_fit_data(X, y)
        problems = self._problems(X, codes, state)
        Cs = list(dict.fromkeys(Cs))
        weights = np.empty((len(Cs), len(problems), X.shape[1] + 1))
        seconds = np.zeros(len(Cs))
        train = self._trainer(X) if problems else None
        seeds = np.random.default_rng(self.random_state).integers(2**31, size=len(problems))
        weight = known_weight(self.class_weight, X, codes, self.classes_)
        shared = time.thread_time() - started
        for place, (problem, seed) in enumerate(zip(problems, seeds, strict=True)):
            prices = side_prices(problem, codes, self.classes_, weight)
            weights[:, place], spent = train(problem, Cs, int(seed), prices)
            seconds += spent
        self.path_ = dict(zip(Cs, weights, strict=True))
        self.machine_rows_ = sum(len(problem.rows) for problem in problems)
        return shared, dict(zip(Cs, seconds.tolist(), strict=True))

    def _trainer(self, X) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        """What trains one machine: (problem, Cs, seed, prices) to weights and seconds by C."""
        tolerance = float(self.tolerance)
        if self.solver == "newton":
            examples = DenseExamples(X)
            return lambda problem, Cs, seed, prices: examples.binary_path(
                problem.rows, problem.targets, Cs, 1e-3 * tolerance, prices
            )
        nodes, solver = Nodes(X), SOLVERS[self.solver]
        return lambda problem, Cs, seed, prices: nodes.binary_path(
            problem.rows, problem.targets, Cs, solver, tolerance, seed, prices
        )

    @classmethod
    def warm(cls) -> None:
        cls(solver="newton").fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])

    def _take(self, value: float) -> None:
        self.weights_ = self.path_[value]
        del self.path_

    def _seed_counts(self) -> bool:
        return self.solver == "dual"

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``machines``: binary machines; ``machine_rows``: the training examples of all of them together."""
        return {"machines": float(len(self.weights_)), "machine_rows": float(self.machine_rows_)}

    # ---- predicting

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The views of X (n, d)."""
        return self._views(self._values(self.check_predict_data(X)))

    def _values(self, X) -> np.ndarray:
        """(n, machines) decision values."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(X @ self.weights_[:, 1:].T) + self.weights_[:, 0]
        return finite_scores(values, self.name)


def known_weight(weight, X, codes: np.ndarray, classes: np.ndarray):
    """``weight`` as it is, or where it is ``bayes-error`` a number for each class label.

    The numbers grow with the class's Bayes error against the rest, estimated on X (m, d) with class codes
    (m,): van den Burg & Hero (2017), section 3; see `confml.bayes_error.selection.class_weights`.
    """
    if weight != "bayes-error":
        return weight
    if len(classes) < 2:
        return None
    rows = X.toarray() if hasattr(X, "toarray") else X
    numbers = class_weights(one_vs_rest_bayes_error(rows, codes).estimate)
    return dict(zip(classes.tolist(), numbers.tolist(), strict=True))


def class_prices(weight, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(c,) the factor of C for each class: m / (c m_k) where balanced."""
    if weight == "balanced":
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)))
    given, known = weight or {}, classes.tolist()
    if given and not any(label in given for label in known):
        raise ConfmlError(
            f"class_weight names none of the classes: it has {_some(given)}, they are {_some(known)}",
            hint="write the labels as the data have them: numbers without quotes, words as they are",
        )
    return np.array([float(given.get(label, 1.0)) for label in known])


def _some(labels) -> str:
    """The first few labels in words."""
    labels = list(map(repr, labels))
    return ", ".join(labels[:5]) + (" ..." if len(labels) > 5 else "")


def side_prices(
    problem: BinaryProblem, codes: np.ndarray, classes: np.ndarray, weight
) -> tuple[float, float]:
    """The factors of C for the positive and the negative side of a two-class problem."""
    if weight is None:
        return 1.0, 1.0
    positive = problem.targets > 0
    if weight == "balanced":
        return 0.5 / float(np.mean(positive)), 0.5 / float(np.mean(~positive))
    prices = class_prices(weight, classes, codes)[codes[problem.rows]]
    return float(prices[positive].mean()), float(prices[~positive].mean())
