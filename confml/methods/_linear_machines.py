"""`LinearMachines`: what the methods that put several binary linear SVMs together have in common."""

from __future__ import annotations

import copy
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from confml._parameters import AnyOf, Choice, Integer, Nothing, Number, Parameter, check_parameters
from confml._seeds import derived_generator
from confml.measures.prediction import Prediction
from confml.methods._base import Method, Views
from confml.methods._liblinear import SOLVERS
from confml.methods._liblinear_nodes import Nodes
from confml.methods._multiclass import BinaryProblem
from confml.methods._newton_svm import DenseExamples

C = Number("the price of an error against the width of the margin", low=0, low_open=True)
TOLERANCE = Number(
    "when the solver stops (LIBLINEAR's -e; for newton a thousandth of it is how far above its least value "
    "the objective may be)",
    low=0,
    low_open=True,
)


class ClassWeight(Parameter):
    """None, ``balanced``, or a number above 0 for some of the class labels."""

    def expected(self) -> str:
        return "null, or balanced, or a number above 0 for each of some class labels"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            return all(_PRICE.accepts(price) for price in value.values())
        return value is None or value == "balanced"


_PRICE = Number("", low=0, low_open=True)
CLASS_WEIGHT = ClassWeight(
    "what errors of a class cost, as a factor of C: 1 each, or as given (the mean over the rows of a side of "
    "several classes), or balanced, so that the sides of every problem weigh the same"
)
RANDOM_STATE = AnyOf(
    "the seed of the solver's order of examples; the run's where it is null",
    of=(Integer("", low=0), Nothing("")),
)


class SparseMethod(Method):
    """A method whose examples may be a scipy sparse matrix."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_fit(self, X, y):
        """As `Method._check_fit`; X may be CSR."""
        check_parameters(type(self).__name__, self.parameters, self.get_params(deep=False))
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="C", ensure_min_samples=1, accept_sparse="csr"
        )
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return X, np.ascontiguousarray(codes, dtype=np.int64)

    def _check_predict(self, X):
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False, accept_sparse="csr")


class LinearMachines(SparseMethod):
    """Several binary linear SVMs of LIBLINEAR, and what their decision values say together.

    A subclass cuts the training set into two-class problems (`_problems`), and puts the machines' decision
    values together (`_views`). A fit with the primal or Newton's solver climbs a fixed ladder of values of C
    up to its own (`Nodes.binary_path`); a whole path of them costs one climb.
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "C": C,
        "solver": Choice(
            "LIBLINEAR's primal (-s 2) or dual (-s 1), or newton: confml's own, fastest for up to some "
            "hundred attributes",
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

    def fit(self, X, y):
        """Train the machines on examples X (m, d), an array or a sparse matrix, with labels y (m,)."""
        self._fit_path(X, y, [self.C], None)
        self.weights_ = self.weights_[self.C]
        return self

    def _fit_path(self, X, y, Cs: Sequence[float], state) -> tuple[float, dict[float, float]]:
        """Set ``weights_`` by C: seconds that all of ``Cs`` share, and seconds by C.

        weights_[C]: (machines, d + 1), the bias first.
        """
        started = time.thread_time()
        X, codes = self._check_fit(X, y)
        problems = self._problems(X, codes, state)
        Cs = list(dict.fromkeys(Cs))
        weights = np.empty((len(Cs), len(problems), X.shape[1] + 1))
        seconds = np.zeros(len(Cs))
        train = self._trainer(X) if problems else None
        seeds = np.random.default_rng(self.random_state).integers(2**31, size=len(problems))
        shared = time.thread_time() - started
        for place, (problem, seed) in enumerate(zip(problems, seeds, strict=True)):
            prices = side_prices(problem, codes, self.classes_, self.class_weight)
            weights[:, place], spent = train(problem, Cs, int(seed), prices)
            seconds += spent
        self.weights_ = dict(zip(Cs, weights, strict=True))
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

    def evaluate_path(
        self,
        X,
        y,
        X_test,
        grid: Sequence[Mapping[str, Any]],
        rng: np.random.Generator | None = None,
        state: Mapping[str, np.ndarray] | None = None,
    ) -> Iterator[tuple[dict[str, Any], Views]]:
        """As `Method.evaluate_path`; points that differ in C alone share nodes, problems and a warm path."""
        methods = []
        for point in grid:
            method = clone(self).set_params(**point)
            if rng is not None:
                method._seed(derived_generator(rng, point))
            methods.append(method)
        keys = [method._path_key() for method in methods]
        fitted: dict[str, tuple] = {}
        for point, method, key in zip(grid, methods, keys, strict=True):
            if key not in fitted:
                Cs = [other.C for other, same in zip(methods, keys, strict=True) if same == key]
                fitted[key] = method, len(Cs), *method._fit_path(X, y, Cs, state)
            first, count, shared, seconds = fitted[key]
            one = copy.copy(first).set_params(**method.get_params(deep=False))
            one.weights_ = first.weights_[method.C]
            started = time.thread_time()
            views = one.confident_predict(X_test)
            predicted = time.thread_time() - started
            spent = shared / count + seconds[method.C]
            yield dict(point), Views(views, spent, predicted, one.fit_metrics_, one.fit_details_)

    def _path_key(self) -> str:
        """What two points must have in common to share a path."""
        params = self.get_params(deep=False)
        del params["C"]
        if self.solver != "dual":
            del params["random_state"]
        return repr(sorted(params.items(), key=lambda item: item[0]))

    @property
    def fit_metrics_(self) -> dict[str, float]:
        """``machines``: binary machines; ``machine_rows``: the training examples of all of them together."""
        return {"machines": float(len(self.weights_)), "machine_rows": float(self.machine_rows_)}

    # ---- predicting

    def decision_function(self, X) -> np.ndarray:
        """The scores of the view ``margin``: (n, c), or (n,) of two classes, positive for the second."""
        return margin_of(self.confident_predict(X)["margin"])

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The views of X (n, d)."""
        return self._views(self._values(self._check_predict(X)))

    def _values(self, X) -> np.ndarray:
        """(n, machines) decision values."""
        return np.asarray(X @ self.weights_[:, 1:].T) + self.weights_[:, 0]


def class_prices(weight, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(c,) the factor of C for each class: m / (c m_k) where balanced."""
    if weight == "balanced":
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)))
    return np.array([float((weight or {}).get(label, 1.0)) for label in classes.tolist()])


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


def margin_of(view: Prediction) -> np.ndarray:
    """Scores as scikit-learn's ``decision_function`` gives them: (n, c), or (n,) of two classes."""
    scores = view.scores
    return scores[:, 1] - scores[:, 0] if len(view.classes) == 2 else scores.copy()
