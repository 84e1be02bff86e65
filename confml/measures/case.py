"""`Case`: one view on one test part with its true labels, and the arrays that measures use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from confml.measures.confusion_matrix import Confusion
from confml.measures.prediction import ORDERED_APART, Prediction, accepted
from confml.measures.rejection import RejectionCurve, rejection_curve

BLOCK = "block"
"""Key of the case of all rows of a block, and of the rows of one of its cases (`Block.fill`)."""
OF_ROWS = frozenset(
    ("correct", "columns", "known", "predicted", "certainty", "confidence", "smoothed")
    + ("region", "sizes", "covered")
)
"""Keys, or first parts of keys, of arrays whose first axis is the rows, and which depend on no context."""


@dataclass(frozen=True)
class Context:
    """The training part and the parameters behind a prediction.

    train_rows: number of training examples; train_class_counts: number per class. params: parameters of the
    method that the config sets. costs: `Costs` of decisions, None without.
    """

    train_rows: int = 0
    train_class_counts: Mapping = field(default_factory=dict)
    params: Mapping = field(default_factory=dict)
    costs: Any = None


@dataclass(frozen=True, eq=False)
class Case:
    """One view on one test part, with its true labels (n,). Raises ValueError if the lengths differ.

    Arrays that several measures use are computed once and kept in ``kept``; they must not be changed.
    `dataclasses.replace` shares them with a case of other levels.
    """

    prediction: Prediction
    truth: np.ndarray
    levels: Sequence[float] = ()
    thresholds: Sequence[float] = ()
    context: Context = Context()
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self):
        object.__setattr__(self, "truth", np.asarray(self.truth))
        if self.truth.shape != (len(self.prediction),):
            raise ValueError(f"truth must be ({len(self.prediction)},), got {self.truth.shape}")

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return a value that is computed at the first call with this key.

        Values of rows come from the block of the case, which has computed them for all its rows.
        """
        if key not in self.kept:
            block = self.kept.get(BLOCK)
            if block is not None and (key[0] if isinstance(key, tuple) else key) in OF_ROWS:
                whole, rows = block
                if key in whole.kept:
                    self.kept[key] = whole.kept[key][rows]
                    return self.kept[key]
            self.kept[key] = compute()
        return self.kept[key]

    def take(self, rows: slice) -> "Case":
        """Return some of the rows, with the same random numbers for smoothed p-values."""
        kept = {"taus": taus[rows]} if (taus := self.kept.get("taus")) is not None else {}
        return replace(self, prediction=self.prediction.take(rows), truth=self.truth[rows], kept=kept)

    @property
    def correct(self) -> np.ndarray:
        """(n,) bool: predicted label = true label."""
        return self.once("correct", lambda: np.asarray(self.prediction.labels == self.truth, dtype=bool))

    @property
    def true_columns(self) -> np.ndarray:
        """(n,) column of each true label in the scores; -1 for an absent class."""
        return self.once("columns", lambda: columns_of(self.truth, self.prediction.classes))

    @property
    def known(self) -> np.ndarray:
        """(n,) bool: the class of the true label is not absent from training."""
        return self.once("known", lambda: self.true_columns >= 0)

    @property
    def predicted_columns(self) -> np.ndarray:
        """(n,) column of each predicted label."""
        return self.once("predicted", lambda: self.prediction.predicted_columns)

    @property
    def certainty(self) -> np.ndarray:
        """(n,) `Prediction.certainty`."""
        return self.once("certainty", lambda: self.prediction.certainty)

    @property
    def confidence(self) -> np.ndarray:
        """(n,) `Prediction.confidence`."""
        if self.prediction.kind not in ORDERED_APART:
            return self.certainty
        return self.once("confidence", lambda: self.prediction.confidence)

    def accepted(self, threshold: float) -> np.ndarray:
        """Return (n,) bool: `Prediction.accepted`."""
        return accepted(self.prediction.kind, self.confidence, self.certainty, threshold)

    @property
    def curve(self) -> RejectionCurve | None:
        """Accuracy-rejection curve; None with a NaN confidence, which cannot be sorted."""

        def compute() -> RejectionCurve | None:
            if np.isnan(self.certainty).any():
                return None
            top = 1.0 if self.prediction.kind == "envelope" else np.inf
            return rejection_curve(self.certainty, self.correct, always_accepted_from=top)

        return self.once("curve", compute)

    def region(self, level: float) -> np.ndarray:
        """Return (n, c) `Prediction.region`."""
        return self.once(("region", level), lambda: self.prediction.region(level))

    def sizes(self, level: float) -> np.ndarray:
        """Return (n,) number of labels in each region."""
        return self.once(("sizes", level), lambda: self.region(level).sum(axis=1))

    def covered(self, level: float) -> np.ndarray:
        """Return (n,) bool: the region contains the true label."""
        return self.once(
            ("covered", level),
            lambda: self.known & self.region(level)[np.arange(len(self.truth)), self.true_columns],
        )

    @property
    def labels(self) -> tuple[np.ndarray, np.ndarray]:
        """True labels that occur, sorted, and the place (n,) of each true label among them."""

        def compute() -> tuple[np.ndarray, np.ndarray]:
            if not self.known.all():
                return np.unique(self.truth, return_inverse=True)
            classes = self.prediction.classes  # they are sorted, and integers are sorted faster than texts
            used = np.bincount(self.true_columns, minlength=len(classes)) > 0
            return classes[used], (np.cumsum(used) - 1)[self.true_columns]

        return self.once("labels", compute)

    def class_coverage(self, level: float) -> dict[Any, tuple[int, int]]:
        """Return for each true label the number of test examples and of those whose region contains it."""

        def compute() -> dict[Any, tuple[int, int]]:
            labels, codes = self.labels
            rows, right = np.bincount(codes), np.bincount(codes, weights=self.covered(level))
            pairs = zip(rows.tolist(), right.astype(np.int64).tolist(), strict=True)
            return dict(zip(labels.tolist(), pairs, strict=True))

        return self.once(("class coverage", level), compute)

    @property
    def confusion(self) -> Confusion:
        """Confusion matrix of true and predicted labels."""

        def compute() -> Confusion:
            classes, columns = self.prediction.classes, self.predicted_columns
            inside = np.minimum(columns, len(classes) - 1)
            if not self.known.all() or not (classes[inside] == self.prediction.labels).all():
                return Confusion.of(self.truth, self.prediction.labels)
            k = len(classes)  # integers are sorted faster than texts
            counts = np.bincount(self.true_columns * k + columns, minlength=k * k).reshape(k, k)
            used = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1))
            return Confusion(classes[used], counts[np.ix_(used, used)])

        return self.once("confusion", compute)


def columns_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return (n,) the position of each label among the sorted ``classes``, -1 if it is not one of them."""
    columns = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[columns] == labels, columns, -1)
