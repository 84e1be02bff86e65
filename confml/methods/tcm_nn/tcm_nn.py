"""TCM-NN: the transductive confidence machine with nearest neighbours."""

import time
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from confml._seeds import derived_generator
from confml._threads import cpu_seconds
from confml.errors import ConfmlError
from confml.measures.prediction import Prediction, columns_of_p_values
from confml.methods.base import PValueMethod, Views
from confml.methods.details import FitDetails
from confml.methods.divisions import split_columns
from confml.methods.tcm_nn.group_rows import GroupRows
from confml.methods.tcm_nn.neighbour_counter import Counts, NeighbourCounter
from confml.methods.tcm_nn.online_pass import OnlinePass
from confml.neighbours.checks import check_arrays
from confml.plugins.by import By, ColumnNames
from confml.plugins.parameters import SEED, Flag, Integer, check_parameters, or_null


@dataclass(eq=False, repr=False)
class TCMNN(PValueMethod):
    """Transductive conformal p-values from nearest-neighbour distances, computed exactly.

    Notes
    -----
    A test example x is added to the m training examples under each label j in turn. Every example
    i then has a strangeness ``alpha_i`` (eq. 2): the sum of its k nearest Euclidean distances to its own
    class divided by the sum of its k nearest distances to other classes. Then ``p_j = #{alpha_i >= alpha_new}
    / (m + 1)``, including the new example (eq. 3). Let training and test examples be exchangeable and the
    label one of the training classes. Then, for every level ε, the p-value of the true label is at most ε
    with probability at most ε. Other classes have no p-value, so no region contains them. The bound is
    approximate if k is selected with the labels of the training examples (``tune``) or a step is fitted to
    them. Prediction: the label with the largest p-value, of equal ones the one with the smallest strangeness.
    Confidence: 1 minus the second largest p-value; credibility: the largest p-value. Prediction region at a
    significance level: the labels whose p-value exceeds it.

    smoothed: ``(#{alpha_i > alpha_new} + tau #{alpha_i = alpha_new}) / (m + 1)`` with one tau ~ U[0, 1) for
    each test example, which makes the p-value of the true label exactly uniform. mondrian: label-conditional
    p-values: the p-value of label j counts only examples of class j and divides by m_j + 1. The guarantee
    holds for each class. Such a p-value is at least 1 / (m_j + 1), so those of small classes are large. The
    prediction is therefore the label with the smallest strangeness; confidence and credibility are still
    those of the p-values, of all labels.

    The only view is ``p-value``. Its ``extra`` has ``n_greater`` and ``n_equal`` (n, c), the numbers of
    examples with a larger and with an equal strangeness. The new example is among the equal ones. It also has
    ``alpha`` (n, c), and ``tau`` (n,) if smoothed.

    With ``protocol: online``, each example is predicted from all examples before it, then learnt. Its
    p-values are those of a fit to the examples before it (`OnlineTCMNN`). The page "Conformal prediction with
    any classifier" of the documentation has the conventions and the cost.

    References
    ----------
    Proedrou, Nouretdinov, Vovk, Gammerman, Transductive Confidence Machines for Pattern Recognition,
    ECML 2002; smoothed and label-conditional p-values: Vovk, Gammerman, Shafer, Algorithmic Learning in a
    Random World, 2005.

    Examples
    --------
    >>> from confml import TCMNN
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"]
    >>> model = TCMNN().fit(X, y)
    >>> model.predict_p_values([[0.5]])
    array([[0.8, 0.2]])
    """

    name = "tcm-nn"
    version = 3
    parameters = {
        "k": Integer("number of nearest neighbours", low=1),
        "smoothed": Flag("break ties between strangeness values at random"),
        "mondrian": Flag("count only examples of the label in question (label-conditional p-values)"),
        "random_state": SEED,
        "by": or_null(
            "groups in which p-values are valid, by columns, bins with given cuts, and label", By("groups")
        ),
        "by_columns": or_null(
            "the last columns of X, which hold the columns of by and are not features; set by a run",
            ColumnNames("names"),
        ),
    }

    k: int = 1
    smoothed: bool = False
    mondrian: bool = False
    random_state: Any = None
    by: Any = None
    by_columns: Any = None
    grouped_ = None  # type: GroupRows | None
    _engine: ClassVar[str | None] = None  # one of `ENGINES`; by default the fastest for the sizes

    # ---- scikit-learn's interface

    def fit(self, X, y) -> Self:
        """Find the neighbours of every training example. X: (m, d) finite numbers; y: (m,) labels."""
        X, values, columns = split_columns(X, self.by, self.by_columns)
        X, codes = self.check_fit_data(X, y)
        self.grouped_ = None if self.by is None else GroupRows(self.by, columns, values, self.classes_)
        self.counter_ = NeighbourCounter(X, codes, self._engine)
        self.lists_ = self.counter_.lists(_useful(self.k, len(X)))
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``p-value`` of test examples X (n, d); ``rng`` replaces ``random_state``."""
        columns = self.grouped_.divisions.columns if self.grouped_ is not None else ()
        X, values, _ = split_columns(X, self.by, self.by_columns, columns)
        X = self.check_predict_data(X)
        counter = self.counter_
        fitted_k = self.lists_[0].shape[1]  # whatever k was set to since
        if self.grouped_ is not None:
            return self.grouped_.views(counter, self.lists_, X, values, self._taus(len(X), rng))
        counts = counter.counts(*self.lists_, X, [fitted_k], self.mondrian)
        return self._views(counter, self.classes_, counts, 0, rng)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "lists_" in state:
            lists = dict(zip(("same", "other"), self.lists_, strict=True))
            check_arrays(lists, same=f"f8 {len(self.counter_.X)} k", other=f"f8 {len(self.counter_.X)} k")

    def _taus(self, rows: int, rng: np.random.Generator | None) -> np.ndarray | None:
        generator = rng or np.random.default_rng(self.random_state)
        return generator.random(rows) if self.smoothed else None

    @property
    def fit_details_(self) -> FitDetails:
        """The groups of ``by``."""
        if self.grouped_ is None:
            return FitDetails()
        labels = np.empty(len(self.counter_.codes), dtype=np.int64)
        labels[self.counter_.order] = self.counter_.codes
        return FitDetails(other=self.grouped_.details(labels))

    def _views(
        self,
        counter: NeighbourCounter,
        classes: np.ndarray,
        counts: Counts,
        q: int,
        rng: np.random.Generator | None,
    ) -> dict[str, Prediction]:
        sizes = counter.sizes
        counted = (sizes if self.mondrian else sizes.sum()) + 1
        tau = self._taus(len(counts.alpha), rng)
        return {"p-value": prediction_of(classes, counts, q, counted, tau, self.mondrian)}

    # ---- one pass for a whole grid

    def _at_points(self, grid, rng) -> tuple[list["TCMNN"], list[np.random.Generator | None]]:
        """Return checked copies with the parameters of the points, seeded as in the default loop, and the
        generators of the points."""
        methods = [clone(self).set_params(**point) for point in grid]
        generators = [None if rng is None else derived_generator(rng, point) for point in grid]
        for method, generator in zip(methods, generators, strict=True):
            check_parameters(type(self).__name__, self.parameters, method.get_params(deep=False))
            if generator is not None:
                method.seed_random_states(generator)
        return methods, generators

    def evaluate_path(self, X, y, X_test, grid, rng=None, state=None):
        """Evaluate a path as in the contract. All k share one pass over the training pairs and one over the
        test examples, or one for each value of ``mondrian``; each point is charged an equal part of the
        time.
        """
        methods, generators = self._at_points(grid, rng)
        if any(method.by is not None or method.by_columns is not None for method in methods):
            yield from super().evaluate_path(X, y, X_test, grid, rng)
            return
        if not methods:
            return
        started = cpu_seconds()
        fitted = methods[0]
        X, codes = fitted.check_fit_data(X, y)
        T = fitted.check_predict_data(X_test)
        counter = NeighbourCounter(X, codes, self._engine)
        ks = [_useful(method.k, len(X)) for method in methods]
        lists = counter.lists(max(ks))
        trained = cpu_seconds()
        ks_of, counts = {}, {}
        for mondrian in {method.mondrian for method in methods}:
            ks_of[mondrian] = sorted(
                {k for k, method in zip(ks, methods, strict=True) if method.mondrian == mondrian}
            )
            counts[mondrian] = counter.counts(*lists, T, ks_of[mondrian], mondrian)
        tested = cpu_seconds()
        for point, method, k, point_rng in zip(grid, methods, ks, generators, strict=True):
            q = ks_of[method.mondrian].index(k)
            views = method._views(counter, fitted.classes_, counts[method.mondrian], q, point_rng)
            yield dict(point), Views(views, (trained - started) / len(ks), (tested - trained) / len(ks))

    # ---- one example at a time

    def evaluate_online(self, X, y, X_new, y_new, classes, grid, rng=None):
        """Predict examples one at a time, each from all learnt before it.

        All k share one pass (a second one if ``mondrian`` takes both values).

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Examples that are learnt first; m may be 0.
        y : ndarray of shape (m,)
            Their labels.
        X_new : ndarray of shape (n, d)
            Examples to predict, then learn, in their order.
        y_new : ndarray of shape (n,)
            Their labels.
        classes : ndarray of shape (c,)
            All labels that can occur, sorted.
        grid : sequence of mapping
            Points: values of parameters, by name.
        rng : numpy.random.Generator, optional
            Generator from which those of the points are derived.

        Yields
        ------
        point : dict
            The point.
        views : Views
            Its predictions; ``extra`` also has ``learnt`` (n,), the number of examples learnt before each.

        Raises
        ------
        ConfmlError
            With ``by``.
        """
        methods, generators = self._at_points(grid, rng)
        if any(method.by is not None for method in methods):
            raise ConfmlError(
                "by needs whole parts, and protocol online predicts one example at a time", hint="remove by"
            )
        X, X_new = (np.ascontiguousarray(part, dtype=np.float64) for part in (X, X_new))
        codes, new_codes = (np.searchsorted(classes, labels) for labels in (y, y_new))
        counts_of: dict[bool, tuple[list[int], Counts, np.ndarray]] = {}
        seconds: dict[bool, tuple[float, float]] = {}
        for mondrian in dict.fromkeys(method.mondrian for method in methods):
            ks = sorted({method.k for method in methods if method.mondrian == mondrian})
            started = time.thread_time()
            online = OnlinePass(X_new.shape[1], len(classes), ks, mondrian)
            online.step(X, codes, predicts=False)
            learnt = time.thread_time()
            counts_of[mondrian] = ks, *online.step(X_new, new_codes, predicts=True)
            share = sum(method.mondrian == mondrian for method in methods)
            seconds[mondrian] = (learnt - started) / share, (time.thread_time() - learnt) / share
        for point, method, point_rng in zip(grid, methods, generators, strict=True):
            ks, counts, counted = counts_of[method.mondrian]
            q, tau = ks.index(method.k), method._taus(len(X_new), point_rng)
            arrays = {"learnt": len(X) + np.arange(len(X_new))}
            view = prediction_of(classes, counts, q, counted, tau, method.mondrian, arrays)
            yield dict(point), Views({"p-value": view}, *seconds[method.mondrian])


def prediction_of(
    classes: np.ndarray,
    counts: Counts,
    q: int,
    counted: np.ndarray | int,
    tau: np.ndarray | None,
    label_conditional: bool,
    arrays: dict[str, np.ndarray] | None = None,
) -> Prediction:
    """Return the view ``p-value`` from the counts of r new examples, for the value of k at index ``q``.

    counted: denominators of the p-values, of a shape that fits (r, c). tau: (r,) for smoothed p-values.
    label_conditional: whether each label counts its own examples only. arrays: further
    arrays of ``extra``, such as the number ``learnt`` (r,) of examples before each one.
    """
    greater, equal, alpha = (np.ascontiguousarray(array[:, :, q]) for array in counts)
    extra = {"n_greater": greater, "n_equal": equal, "alpha": alpha}
    if tau is None:
        scores = (greater + equal) / counted
    else:
        scores = (greater + tau[:, None] * equal) / counted
        extra["tau"] = tau
    columns = columns_of_p_values(scores, alpha, label_conditional)
    return Prediction(classes, scores, "p-value", classes[columns], extra | (arrays or {}))


def _useful(k: int, m: int) -> int:
    """Return a smaller k with the same p-values: with k > m + 1 a neighbour is missing as with k = m + 1."""
    return min(k, m + 1)
