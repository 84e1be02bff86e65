"""`external`: class probabilities that another program computed, from a file."""

from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from confml.data.probability_table import ProbabilityTable
from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.plugins.parameters import FilePath


class External(Method):
    """Class probabilities from a file, computed by another program.

    Nothing is fitted. The file is a table (CSV, Parquet or Excel) with one line per row of the data set, in
    any order, and these columns:

    - One column per class, named as the class or ``prob[<class>]``. The probabilities of a line sum to 1. A
      sum within 0.005 of 1 is taken for rounding, and the line is divided by it.
    - The id columns of the data set (``id:``), or ``line`` (the line of the data file), or ``row`` (the
      number of the row from 0, as in ``regions/``).
    - If the data set has a training and a test file, ``part`` is train or test. Without it, all lines are of
      the test part with fixed-split.
    - ``repeat`` and ``fold``, counted from 0, if the probabilities differ per split.

    Every test row of every split needs a line. With ``conformal: split`` every training row needs one too:
    the whole training part of a split is the calibration part. The p-values are valid if the other program
    has not used these rows. Use out-of-fold probabilities, for example, or a data set with only rows that the
    program has not seen. Steps and noise on features do not change the probabilities.

    The view is ``probability``. The largest probability decides the label, the first class for
    ties. A cell is computed again when the probabilities of the file change; the manifest has the SHA-256 of
    the file.
    """

    name = "external"
    version = 1
    views = ("probability",)
    takes_rows = True
    parameters = {
        "probabilities": FilePath("table file with the class probabilities"),
    }

    def __init__(self, probabilities):
        self.probabilities = probabilities

    table: ProbabilityTable | None = None
    split: tuple[int | None, int | None] = (None, None)

    def use_table(self, table: ProbabilityTable, repeat: int | None, fold: int | None) -> Self:
        """Take the probabilities of one split from a table; a run does so before it calls `fit`."""
        self.table, self.split = table, (repeat, fold)
        return self

    def __sklearn_clone__(self) -> "External":
        copy = External(self.probabilities)
        return copy if self.table is None else copy.use_table(self.table, *self.split)

    def fit(self, X, y) -> Self:
        """Fit nothing. X: (m, 1) row numbers of the data set. y: (m,). Raises ConfmlError outside a run."""
        if self.table is None:
            raise ConfmlError(
                "external predicts the rows of a data set in a run",
                hint="in Python, wrap the classifier itself: confml.Conformal(classifier)",
            )
        self.classes_ = self.table.classes
        self.places_ = self.table.at(*self.split)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return ``probability`` of rows of the data set. X: (n, 1) row numbers."""
        return {"probability": Prediction(self.classes_, self.predict_proba(X), "probability")}

    def predict_proba(self, X) -> np.ndarray:
        """Return the probabilities (n, c) of rows of the data set. X: (n, 1) row numbers."""
        check_is_fitted(self)
        assert self.table is not None  # `fit` checks it
        rows = np.asarray(X)[:, 0].astype(np.int64)
        self.table.check_rows(rows, *self.split, "rows")
        return self.table.probabilities[self.places_[rows]]
