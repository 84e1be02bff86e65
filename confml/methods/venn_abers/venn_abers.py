"""`VennAbers`: probabilities with bounds for any classifier, from a calibration part or from folds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from confml.errors import ConfigError, ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import ProbabilityMethod
from confml.methods.conformal.calibrated import CalibratedMethod
from confml.methods.conformal.scores import on_all_classes, rounding_errors, usual_size
from confml.methods.validation import rows_of
from confml.methods.wrapper_method import part_parameters
from confml.plugins.parameters import SEED, Choice

_SMALL = 1e-3  # probabilities up to 1e-15 are equal to 0


@dataclass(eq=False, repr=False)
class VennAbers(CalibratedMethod, ProbabilityMethod):
    """Venn-Abers prediction with any classifier: calibrated probabilities with lower and upper bounds.

    Notes
    -----
    ``inductive`` draws a fraction ``calibration`` of the training examples at random as the calibration part
    and fits the classifier to the others. For a class, the labels are regressed on the scores of the
    classifier by isotonic regression. p0 and p1 are its values at the test example, which is added with label
    0 and with label 1. The view has ``lower`` = p0 and ``upper`` = p1, and the point ``p1 / (1 - p0 + p1)``.
    With more than two classes there is one such predictor per class. If calibration and test examples are
    exchangeable, the frequency of each class in expectation is between the means of ``lower`` and ``upper``
    over test examples. The point has no guarantee. ``cross`` combines folds, without a guarantee. The page
    "Conformal prediction with any classifier" of the documentation has the definitions.

    In a config: ``venn: inductive`` or ``venn: {kind: cross, folds: 5}`` on a method; a sweep names a setting
    ``venn__calibration``. In Python: ``VennAbers(LogisticRegression())``, with any classifier of scikit-learn
    or confml; its parameters have the prefix ``estimator__``. Steps, groups and tuning are those of
    ``conformal``.

    The view is ``venn`` of kind probability, with ``extra``: ``lower`` and ``upper`` (n, c). The prediction
    is the class with the largest point; ties go to the first class.

    References
    ----------
    Vovk, Petej, Fedorova, Large-scale probabilistic predictors with and without guarantees of
    validity (NIPS 2015).

    Examples
    --------
    >>> from confml import VennAbers
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = [[0], [1], [2], [3], [7], [8], [9], [10]], [0] * 4 + [1] * 4
    >>> model = VennAbers(GaussianNB(), calibration=0.5, random_state=1).fit(X, y)
    >>> model.predict([[1]])
    array([0])
    """

    version = 2
    views = ("venn",)
    key = "venn"
    parameters = {
        "kind": Choice(
            "use a calibration part (inductive), or folds (cross)", options=("inductive", "cross")
        ),
        **part_parameters("inductive"),
        "random_state": SEED,
    }
    needs = {"calibration": ("kind", ("inductive",)), "folds": ("kind", ("cross",))}

    estimator: Any
    kind: str = "inductive"
    calibration: float = 0.3
    folds: int = 5
    random_state: Any = None

    @classmethod
    def check_classifier(cls, name: str, given: Mapping[str, Any], views: Sequence[str]) -> None:
        """Raise ConfigError for a method that is a Venn predictor itself."""
        if list(views) == ["venn"]:
            message = f"{name} is already a Venn predictor: it computes lower and upper probabilities"
            raise ConfigError(message, hint=f"remove {cls.key}")

    def fit(self, X, y, groups=None) -> Self:
        """Fit the classifier and calibrate. X: (m, d) finite numbers, or a data frame; y, groups: (m,)."""
        X, y, codes, groups = self._checked(X, y, groups)
        rng = self._generator("fit")
        self.fitted_, self.tables_ = [], []
        counts = np.zeros(len(self.classes_), dtype=np.int64)
        for number, rows in enumerate(self._calibration_parts(codes, groups, rng)):
            part = self._fitted_without(rows, X, y, number, groups)
            self.fitted_.append(part)
            scores, kind = self._scores(part, rows_of(X, rows))
            of_events = [(scores[:, event], codes[rows] == event) for event in self._events]
            tables = [
                VennAbersTable.of(values, is_event, _size(kind, values)) for values, is_event in of_events
            ]
            self.tables_.append(tables)
            counts += np.bincount(codes[rows], minlength=len(counts))
        self.calibration_counts_ = counts
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``venn`` of test examples X (n, d)."""
        X = self._checked_test(X)
        # Logarithms of p1 and of 1 - p0, one column per event, summed over the folds.
        logs = np.zeros((2, X.shape[0], len(self._events)))
        for part, tables in zip(self.fitted_, self.tables_, strict=True):
            scores, _ = self._scores(part, X)
            for column, (event, table) in enumerate(zip(self._events, tables, strict=True)):
                probabilities = table.probabilities(scores[:, event])
                logs[:, :, column] += probabilities if len(self.fitted_) == 1 else np.log(probabilities)
        upper, rest = logs if len(self.fitted_) == 1 else np.exp(logs / len(self.fitted_))
        point = upper / (rest + upper)
        if len(self.classes_) == 2:
            upper, rest = np.hstack([rest, upper]), np.hstack([upper, rest])
            point = upper / (rest + upper)
        else:
            point /= point.sum(axis=1, keepdims=True)
        extra = {"lower": 1.0 - rest, "upper": upper}
        return {"venn": Prediction(self.classes_, point, "probability", extra=extra)}

    @property
    def _events(self) -> list[int]:
        """Columns of the classes that have a table."""
        c = len(self.classes_)
        return [1] if c == 2 else list(range(c))

    def _scores(self, part, X: np.ndarray) -> tuple[np.ndarray, str]:
        """Return (n, c) the classifier's score of every class for examples X (n, d), and the kind."""
        if X.shape[0] == 0:
            return np.empty((0, len(self.classes_))), "probability"
        view = score_view(self._views(part, X), part.name)
        return on_all_classes(view, self.classes_), view.kind


def _size(kind: str, scores: np.ndarray) -> float:
    """Return the size that rounding errors of scores are relative to, besides the size of the score itself.

    Small probabilities may be differences of numbers up to 1, with an error of 1e-16.
    """
    return usual_size("margin", scores) if kind == "margin" else _SMALL


def score_view(views: Mapping[str, Prediction], name: str) -> Prediction:
    """Return the view whose scores order the examples: probabilities, else decision values, votes, p-values.

    Decision values are preferred to votes, which have few different values. Raises ConfmlError without
    scores.
    """
    by_kind: dict[str, Prediction] = {}
    for view in views.values():
        by_kind.setdefault(view.kind, view)
    for kind in ("probability", "posterior", "margin", "vote", "envelope", "p-value"):
        if kind in by_kind:
            return by_kind[kind]
    raise ConfmlError(f"{name} has no scores of the classes")


@dataclass(frozen=True, eq=False)
class VennAbersTable:
    """Lower and upper probability of an event for every score.

    ``p1`` (``p0``) is the isotonic regression of the labels on the scores, read off at the score s of a new
    example that is added with label 1 (0). Equal scores are one group. Without calibration examples p0 = 0
    and p1 = 1.

    Scores are equal up to rounding errors, relative to the score or to ``size``: a classifier may give the
    same example another last digit in a batch of another size, and the example would then be in no group.

    lowest, highest: (k,) ends of the groups of equal calibration scores, ascending. with_one: (k + 1,) p1 by
    the number of groups below s. without: (k + 1,) 1 - p0 by the number of groups up to s.
    """

    lowest: np.ndarray
    highest: np.ndarray
    with_one: np.ndarray
    without: np.ndarray
    size: float

    @classmethod
    def of(cls, scores: np.ndarray, happened: np.ndarray, size: float = 0.0) -> "VennAbersTable":
        """Return the table for calibration scores (m,) and whether the event happened (m,) bool."""
        from confml.methods.venn_abers import _kernels as kernels  # numba takes 0.2 s to import

        order = np.argsort(scores, kind="stable")
        placed = scores[order]
        rises = placed[1:] > placed[:-1] + rounding_errors(placed, size)[1:]
        starts = np.flatnonzero(np.append(True, rises)[: len(placed)])
        ends = np.append(starts[1:], len(placed))[: len(starts)]
        rows = ends - starts
        seen = np.append(0, np.cumsum(happened[order], dtype=np.int64))
        positives = seen[ends] - seen[starts]
        # 1 - p0 is p1 of the opposite event on the reversed scale.
        reversed_ = kernels.table_with_one(rows[::-1].copy(), (rows - positives)[::-1].copy())
        with_one = kernels.table_with_one(rows, positives)
        return cls(placed[starts], placed[ends - 1], with_one, reversed_[::-1].copy(), size)

    def probabilities(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p1 and 1 - p0 of new scores (n,), both above 0."""
        order = np.argsort(scores)  # the searches of sorted scores are ten times as fast
        scores = scores[order]
        near = rounding_errors(scores, self.size)
        p1, rest = np.empty(len(scores)), np.empty(len(scores))
        p1[order] = self.with_one[np.searchsorted(self.highest, scores - near, side="left")]
        rest[order] = self.without[np.searchsorted(self.lowest, scores + near, side="right")]
        return p1, rest
