"""`LinearMachines`: base class of the methods that combine binary linear support vector machines."""

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confml._threads import for_each
from confml.bayes_error.rates import bayes_errors
from confml.bayes_error.selection import class_weights
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction
from confml.methods.known_labels import check_known_labels
from confml.methods.multiclass import BinaryProblem
from confml.methods.svm.liblinear_nodes import SOLVERS, Nodes, require_liblinear
from confml.methods.svm.penalty_path import PenaltyPath
from confml.methods.svm.row_products import row_products
from confml.methods.validation import finite_scores
from confml.plugins.parameters import SEED, Choice, Number, Parameter

C = Number("penalty of training errors", low=0, low_open=True)
TOLERANCE = Number("stopping tolerance: LIBLINEAR's -e, which bounds the gradient", low=0, low_open=True)


class ClassWeight(Parameter):
    """None, ``balanced``, ``bayes-error``, or a number above 0 for some of the class labels."""

    def expected(self) -> str:
        return "null, balanced, bayes-error, or a number above 0 for each of some class labels"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            return all(_PENALTY.accepts(penalty) for penalty in value.values())
        return value is None or value in ("balanced", "bayes-error")


_PENALTY = Number("", low=0, low_open=True)
CLASS_WEIGHT = ClassWeight(
    "factor of C for each class: 1 by default, or the numbers (the mean over the rows if a side has several "
    "classes); balanced: both sides of each problem have the same total weight; "
    "bayes-error: larger for classes with a large one-vs-rest Bayes error, estimated on the training part"
)


@dataclass(eq=False, repr=False)
class LinearMachines(PenaltyPath):
    """Several binary linear support vector machines whose decision values are combined.

    A subclass divides the training set into binary problems (`_problems`) and combines the decision values of
    the machines (`_views`).

    With the default tolerance few labels differ from those at the minimum, but the objective can be far above
    its minimum if C is large and the classes are separable. Compared with tolerance 1e-7, the largest
    differences over C = 2^-8, 1 and 256 on iris, wine, vehicle, segment, satimage and usps (at most 2000
    rows, a third of them for the test; one-vs-rest) are: ``primal`` at 0.001 changes up to 1.8 % of the test
    labels (usps), and the objective is up to 8 % above its minimum, on segment 49 %, on usps 16 times the
    minimum. ``dual`` at 0.001 changes up to 1.1 %, and the objective is up to 7 % above; at LIBLINEAR's
    default 0.1 it is up to 3.2 % and 27 times the minimum.

    The primal solver follows a fixed increasing sequence of values of C up to their own
    (`Nodes.binary_path`); a whole path of C needs this sequence once.
    """

    penalty = "C"
    metrics = {
        "machines": Metric("number of binary machines", None),
        "machine_rows": Metric("number of training examples of all binary machines together", None),
    }
    parameters = {
        "C": C,
        "solver": Choice("primal: LIBLINEAR's -s 2; dual: -s 1, after 300 passes -s 2", tuple(SOLVERS)),
        "tolerance": TOLERANCE,
        "class_weight": CLASS_WEIGHT,
        "random_state": SEED,
    }

    C: float = 1.0
    solver: str = "primal"
    tolerance: float = 0.001
    class_weight: str | Mapping[Any, float] | None = None
    random_state: int | None = None

    # ---- to implement

    @abstractmethod
    def _problems(self, X, codes: np.ndarray, state: Mapping[str, np.ndarray] | None) -> list[BinaryProblem]:
        """Return the binary problems of a training set; may set attributes of the fit."""

    @abstractmethod
    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        """Return the views from the decision values (n, machines), positive for the positive class."""

    # ---- fitting

    def _fit_path(self, X, y, Cs: Sequence[float], state) -> tuple[float, dict[float, float]]:
        """Set path_[C]: weights (machines, d + 1), the bias first."""
        started = time.thread_time()
        X, codes = self.check_fit_data(X, y)
        problems = self._problems(X, codes, state)
        Cs = list(dict.fromkeys(Cs))
        weights = np.zeros((len(Cs), len(problems), X.shape[1] + 1))
        seconds = np.zeros((len(problems), len(Cs)))
        seeds = np.random.default_rng(self.random_state).integers(2**31, size=len(problems))
        weight = known_weight(self.class_weight, X, codes, self.classes_)
        nodes, solver, tolerance = Nodes(X), SOLVERS[self.solver], float(self.tolerance)
        shared = time.thread_time() - started

        def fit(machine: int, _: None) -> None:
            problem = problems[machine]
            penalties = side_penalties(problem, codes, self.classes_, weight)
            weights[:, machine], seconds[machine] = nodes.binary_path(
                problem.rows, problem.targets, Cs, solver, tolerance, int(seeds[machine]), penalties
            )

        for_each(fit, range(len(problems)))
        self.path_ = dict(zip(Cs, weights, strict=True))
        self.machine_rows_ = sum(len(problem.rows) for problem in problems)
        return shared, dict(zip(Cs, seconds.sum(axis=0).tolist(), strict=True))

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Raise ConfigError if LIBLINEAR is not installed."""
        require_liblinear(cls.name, params.get("solver", "primal"))

    def _take(self, value: float) -> None:
        self.weights_ = self.path_[value]
        del self.path_

    def _seed_counts(self) -> bool:
        return self.solver == "dual"

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``machines``, the number of binary machines; ``machine_rows``, their training examples together."""
        return {"machines": float(len(self.weights_)), "machine_rows": float(self.machine_rows_)}

    # ---- prediction

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the views of test examples X (n, d)."""
        return self._views(self._values(self.check_predict_data(X)))

    def _values(self, X) -> np.ndarray:
        """Return the decision values (n, machines)."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = row_products(X, self.weights_[:, 1:].T) + self.weights_[:, 0]
        return finite_scores(values, self.name)


def known_weight(weight, X, codes: np.ndarray, classes: np.ndarray):
    """Return ``weight``, or, if it is ``bayes-error``, a number for each class label.

    The numbers increase with the one-vs-rest Bayes error of the class, estimated on X (m, d) with class codes
    (m,): van den Burg & Hero (2017), section 3; see `confml.bayes_error.selection.class_weights`.
    """
    if weight != "bayes-error":
        return weight
    if len(classes) < 2:
        return None
    rows = X.toarray() if hasattr(X, "toarray") else X
    numbers = class_weights(bayes_errors(rows, codes).one_vs_rest.estimate)
    return dict(zip(classes.tolist(), numbers.tolist(), strict=True))


def class_penalties(weight, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the factor of C per class (c,), m / (c m_k) if balanced. ConfmlError for unknown classes."""
    if weight == "balanced":
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)))
    factors, labels = weight or {}, classes.tolist()
    if factors:
        check_known_labels(labels, factors, "the classes are", "class_weight has")
    return np.array([float(factors.get(label, 1.0)) for label in labels])


def side_penalties(
    problem: BinaryProblem, codes: np.ndarray, classes: np.ndarray, weight
) -> tuple[float, float]:
    """Return the factors of C for the positive and the negative side of a binary problem."""
    if weight is None:
        return 1.0, 1.0
    positive = problem.targets > 0
    if weight == "balanced":
        return 0.5 / float(np.mean(positive)), 0.5 / float(np.mean(~positive))
    penalties = class_penalties(weight, classes, codes)[codes[problem.rows]]
    return float(penalties[positive].mean()), float(penalties[~positive].mean())
