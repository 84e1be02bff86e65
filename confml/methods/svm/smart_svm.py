"""`smart-svm`: a tree of binary classifiers built from pairwise Bayes error estimates."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from confml.bayes_error.rates import pairwise_bayes_error
from confml.measures.metric import Metric
from confml.measures.prediction import Prediction
from confml.methods.details import ClassTreeNode, FitDetails
from confml.methods.multiclass import BinaryProblem, decision_values
from confml.methods.svm.class_tree import class_tree, restricted
from confml.methods.svm.linear_machines import LinearMachines
from confml.plugins.parameters import AnyOf, Choice, Flag, Integer, Parameter, ParameterError

LARGE = 40_000  # number of rows above which ``trees: by-size`` uses one spanning tree


class BaseLearner(Parameter):
    """None, the name of a method or of a scikit-learn classifier, or a classifier."""

    def expected(self) -> str:
        return "null, the name of a method, or a classifier with fit and predict"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, str):
            from confml.errors import ConfmlError
            from confml.methods.registry import method_class

            try:
                return method_class(value) is not None
            except ConfmlError:
                return False
        # scikit-learn's clone needs get_params, and every grid needs clone.
        parts = ("fit", "predict", "get_params")
        return value is None or (not isinstance(value, type) and all(hasattr(value, part) for part in parts))


class Settings(Parameter):
    """Parameters of another method by name, or None."""

    def expected(self) -> str:
        return "null, or parameters with their values"

    def accepts(self, value: Any) -> bool:
        return value is None or (isinstance(value, Mapping) and all(isinstance(name, str) for name in value))


@dataclass(eq=False, repr=False)
class SmartSVM(LinearMachines):
    """Tree of linear support vector machines, built by minimum cuts of a graph of pairwise Bayes errors.

    The classes are the vertices of a complete graph. The weight of an edge is the estimated Bayes error of
    its two classes from orthogonal minimum spanning trees. It is corrected for bias (eq. 7) and divided by
    the smaller prior (eq. 9). A minimum cut divides the classes into two groups, and each group is cut again
    until each class is a leaf. Each node is a binary problem between its two groups. A prediction follows the
    tree from the root; a decision value of 0 goes to the left side, which has the first class.

    Notes
    -----
    View ``margin``: 0 for the predicted class, and for each other class minus the absolute decision value of
    the node that separates the two. The confidence is then the smallest absolute decision value on the path.
    metrics: ``machines``, ``machine_rows`` (training examples of all nodes together), ``depth``. Fitted
    attributes: ``tree_``, the tree; ``bayes_error_`` (c, c), the edge weights.

    ``estimator`` is a binary classifier to use at the nodes instead of the linear machine, to which C,
    solver, tolerance and class_weight belong.

    References
    ----------
    van den Burg & Hero, Fast meta-learning for adaptive hierarchical classifier design (2017),
    section 4.
    """

    name = "smart-svm"
    example = ""
    version = 2
    metrics = {**LinearMachines.metrics, "depth": Metric("depth of the tree of classes", None)}
    parameters = {
        **LinearMachines.parameters,
        "trees": AnyOf(
            "number of orthogonal spanning trees over which Bayes errors are averaged; by-size: 3, or 1 with "
            f"more than {LARGE} training rows (the paper's two largest data sets)",
            of=(Integer("", low=1), Choice("", options=("by-size",))),
        ),
        "count": Choice(
            "edges between two classes: all, as in the paper, or one fewer", ("all", "nontrivial")
        ),
        "estimator": BaseLearner("binary classifier at the nodes; null: a linear support vector machine"),
        "estimator_params": Settings("parameters of an estimator that is given by name"),
        "share_tree": Flag(
            "use the tree of the whole outer training part in inner cross-validation, as in the paper; it is "
            "faster, but the tree depends on the labels of the validation rows"
        ),
    }

    trees: int | str = 3
    count: str = "all"
    estimator: Any = None
    estimator_params: Mapping[str, Any] | None = None
    share_tree: bool = False

    @classmethod
    def check_combination(cls, params: Mapping[str, Any]) -> None:
        """Check the solver, or ``estimator_params`` as parameters of ``estimator`` if it is given by name."""
        from confml.methods.registry import check

        estimator = params.get("estimator")
        if estimator is None:
            super().check_combination(params)
        if isinstance(estimator, str):
            try:
                check(estimator, params.get("estimator_params") or {})
            except ParameterError as error:
                raise error.inside("estimator_params") from None

    # ---- the tree

    def prepare(self, X, y, grid: Sequence[Mapping[str, Any]] = ()) -> dict[str, np.ndarray] | None:
        """Return the edge weights for the trees of the points of the grid that have ``share_tree``."""
        state: dict[str, np.ndarray] = {}
        for point in grid or [{}]:
            method = clone(self).set_params(**point)
            if method.share_tree and method._tree_key() not in state:
                X_checked, codes = method.check_fit_data(X, y)
                method._grow(X_checked, codes, None)
                state |= {"classes": method.classes_, method._tree_key(): method.bayes_error_}
        return state or None

    def _tree_key(self) -> str:
        return f"{self.trees},{self.count}"

    def _grow(self, X, codes: np.ndarray, state: Mapping[str, np.ndarray] | None) -> None:
        """Set ``tree_`` and ``bayes_error_`` (c, c), NaN on the diagonal."""
        if self.share_tree and state and self._tree_key() in state:
            whole, weights = state["classes"], state[self._tree_key()]
            present = np.isin(whole, self.classes_)
            tree = restricted(class_tree(whole, weights), self.classes_.tolist())
            assert tree is not None  # the classes are in the tree
            self.tree_ = tree
            self.bayes_error_ = weights[np.ix_(present, present)]
            return
        c = len(self.classes_)
        self.bayes_error_ = np.full((c, c), np.nan)
        X = X.toarray() if hasattr(X, "toarray") else X
        if c > 1:
            by_size = 1 if len(codes) > LARGE else 3
            trees = by_size if isinstance(self.trees, str) else self.trees
            rates = pairwise_bayes_error(X, codes, trees=trees, count=self.count)
            self.bayes_error_ = np.asarray(rates.estimate)
        self.tree_ = class_tree(self.classes_, self.bayes_error_)

    def _problems(self, X, codes, state) -> list[BinaryProblem]:
        """Return one problem per node; the right side is the positive class."""
        started = time.thread_time()
        self._grow(X, codes, state)
        self._prepare_seconds = time.thread_time() - started
        problems = []
        for node in self.tree_.inner_nodes():
            left, right = map(self._codes_of, node.sides)
            rows = np.flatnonzero(np.isin(codes, np.concatenate([left, right])))
            targets = np.where(np.isin(codes[rows], right), 1.0, -1.0)
            problems.append(BinaryProblem(rows, targets))
        return problems

    # ---- other classifiers at the nodes

    def _fit_path(self, X, y, Cs, state) -> tuple[float, dict[float, float]]:
        if self.estimator is None:
            return super()._fit_path(X, y, Cs, state)
        started = time.thread_time()
        self.check_combination(self.get_params(deep=False))
        X, codes = self.check_fit_data(X, y)
        problems = self._problems(X, codes, state)
        seeds = np.random.default_rng(self.random_state).integers(2**31, size=len(problems))
        learners = [
            self._learner(int(seed)).fit(X[problem.rows], (problem.targets > 0).astype(np.int64))
            for problem, seed in zip(problems, seeds, strict=True)
        ]
        self.path_ = dict.fromkeys(Cs, learners)
        self.machine_rows_ = sum(len(problem.rows) for problem in problems)
        return time.thread_time() - started, dict.fromkeys(Cs, 0.0)

    def _seed_counts(self) -> bool:
        return self.estimator is not None or super()._seed_counts()

    def _learner(self, seed: int):
        """Return an unfitted binary classifier; each ``random_state`` that is None is set to ``seed``."""
        from confml.methods.registry import build

        if isinstance(self.estimator, str):
            learner = build(self.estimator, dict(self.estimator_params or {}))
        else:
            learner = clone(self.estimator)
        unset = [name for name, value in learner.get_params().items() if value is None]
        names = [name for name in unset if name.rpartition("__")[2] == "random_state"]
        return learner.set_params(**dict.fromkeys(names, seed))

    # ---- prediction

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``margin`` of test examples X (n, d)."""
        if self.estimator is None:
            return super().confident_predict(X, rng)
        X = self.check_predict_data(X)
        return self._walk(X.shape[0], lambda node, rows: node_values(self.weights_[node], X[rows]))

    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        return self._walk(len(values), lambda node, rows: values[rows, node])

    def _walk(self, n: int, decide: Callable[[int, np.ndarray], np.ndarray]) -> dict[str, Prediction]:
        """Return the view of n examples; ``decide`` returns the decision values of a node for some rows."""
        scores, ends = np.zeros((n, len(self.classes_))), np.zeros(n, dtype=np.int64)
        at = [(self.tree_, 0, np.arange(n))] if n else []
        while at:
            node, number, rows = at.pop()
            if node.is_leaf:
                ends[rows] = self._codes_of(node)
                continue
            decided = decide(number, rows)
            goes_right, (left, right) = decided > 0, node.sides
            # The inner nodes are numbered from the root, the left side before the right one.
            ways = ((left, number + 1, right), (right, number + len(left.classes), left))
            for chosen, (side, following, lost) in zip((~goes_right, goes_right), ways, strict=True):
                scores[np.ix_(rows[chosen], self._codes_of(lost))] = -np.abs(decided[chosen])[:, None]
                if chosen.any():
                    at.append((side, following, rows[chosen]))
        return {"margin": Prediction(self.classes_, scores, "margin", self.classes_[ends])}

    def _codes_of(self, node: ClassTreeNode) -> np.ndarray:
        """Return the class numbers of a node, sorted."""
        return np.searchsorted(self.classes_, np.array(node.classes))

    @property
    def fit_details_(self) -> FitDetails:
        """The tree of classes."""
        return FitDetails(tree=self.tree_)

    @property
    def fit_metrics_(self) -> dict[str, float]:
        return {**super().fit_metrics_, "depth": float(self.tree_.depth)}


def node_values(learner, X) -> np.ndarray:
    """Return decision values (n,) of a fitted binary classifier; the sign agrees with its prediction.

    The absolute value is that of its decision value, or of the difference of the scores of the two classes
    (probabilities, votes or p-values), or 1.
    """
    second = np.asarray(learner.predict(X)) == 1
    if hasattr(learner, "decision_function"):
        values = np.asarray(learner.decision_function(X), dtype=np.float64).reshape(len(second), -1)
        size = np.abs(values[:, 0]) if values.shape[1] == 1 else np.abs(decision_values(values))
    elif hasattr(learner, "confident_predict"):
        size = np.abs(decision_values(next(iter(learner.confident_predict(X).values())).scores))
    elif hasattr(learner, "predict_proba"):
        size = np.abs(decision_values(np.asarray(learner.predict_proba(X))))
    else:
        size = np.ones(len(second))
    return np.where(second, np.maximum(size, np.finfo(float).tiny), -size)
