"""`Model`: a fitted method with all that predictions of new rows need."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml.data.memory import dense, is_sparse
from confml.data.new_rows import NewRows, RowCoder
from confml.data.table_files import CHUNK_ROWS
from confml.errors import ConfigError, ConfmlError, DataError, printable
from confml.measures.certified import OperatingPoint
from confml.measures.costs import Costs, Decider
from confml.measures.p_values import has_label_conditional_p_values
from confml.measures.prediction import PROBABILITY_KINDS, Prediction
from confml.plugins.by import BY_KEYS, divisions_in
from confml.steps.pipeline import StepPipeline


@dataclass(frozen=True)
class Facts:
    """Numbers and names of a fit.

    method, params: the method with its parameters, tuned ones included. data: name of the data set. checksum:
    of its contents. rows: number of its rows. training_rows: number of its training rows, those held out
    included. fitted_rows: number of rows that the method was fitted to. counted_rows: number of examples that
    p-values are computed from, the new one not included. class_counts: the same per class. tested_rows:
    number of held-out rows that an operating point was tested on. learning_steps: names of the steps that are
    fitted to rows. breaking_steps: names of the steps after which rows are not exchangeable. noise: whether
    the config adds noise. groups: whether the rows have groups. levels: significance levels of the config.
    seed: random seed. notes: warnings on the data. selected: names of the parameters that are selected with
    labels of training rows. selection_rows: number of training rows that only select parameters and fit
    steps, 0 if they are the rows that the method is fitted to. single_rows: number of rows that the method is
    fitted to and that are the only ones of their class. group_rows: number of calibration examples of each
    group of ``by``.
    """

    method: str
    params: dict[str, Any]
    data: str
    checksum: str
    rows: int
    training_rows: int
    fitted_rows: int
    counted_rows: int
    class_counts: dict[Any, int]
    tested_rows: int
    learning_steps: tuple[str, ...]
    breaking_steps: tuple[str, ...]
    noise: bool
    groups: bool
    levels: tuple[float, ...]
    seed: int
    notes: tuple[str, ...]
    selected: tuple[str, ...]
    selection_rows: int
    single_rows: int
    group_rows: dict[str, int]

    @property
    def is_conformal(self) -> bool:
        """Whether the method is any classifier made conformal."""
        return "conformal" in self.params

    @property
    def shift(self) -> str | None:
        """The kind of shift between training and new rows that p-values are weighted for, or None."""
        return self.params.get("conformal__shift")

    @property
    def is_label_conditional(self) -> bool:
        return has_label_conditional_p_values(self.params)

    @property
    def groups_of(self) -> list[str]:
        """The divisions of ``by``, in whose groups p-values are valid: names of their parts."""
        by = next((self.params[key] for key in BY_KEYS if self.params.get(key) is not None), None)
        divisions = () if by is None else divisions_in(by)
        return [" and ".join(str(part.name) for part in parts) for parts in divisions]


@dataclass(frozen=True)
class TrainingRows:
    """The training rows as distances are computed between them, for explanations.

    X: (m, d) after the steps. y: (m,) labels. coded: (d,) bool, columns that hold codes. lines: (m,) text,
    the line of each row. names: of the columns, None where the steps make new ones. steps: transform new rows
    likewise.
    """

    X: np.ndarray
    y: np.ndarray
    coded: np.ndarray
    lines: np.ndarray
    names: list[str] | None
    steps: StepPipeline


@dataclass(repr=False)
class Model:
    """A method that is fitted to training rows, with the coding of new rows.

    coder: reads new rows. takes_codes: whether the method takes the codes of categories. steps: transform new
    rows before the method. view: name of the view. none: its form without rows. probability_view: name of
    the first view that holds probabilities, or None. point: the certified operating point, None if none was
    asked for. costs: of decisions by default, None without. method: the fitted method. neighbours: the
    training rows, for explanations. notes: differences between a stored model and this installation. file:
    from which the model comes, None for a fit. by: places of the columns of ``by`` in the table of new rows,
    which the method gets as its last columns.
    """

    facts: Facts
    coder: RowCoder
    takes_codes: bool
    steps: StepPipeline
    view: str
    none: Prediction
    probability_view: str | None
    method: Any
    neighbours: TrainingRows
    point: OperatingPoint | None = None
    costs: Costs | None = None
    notes: tuple[str, ...] = ()
    file: Path | None = None
    by: tuple[int, ...] = ()

    def __repr__(self) -> str:
        facts, columns = self.facts, f"{len(self.coder.features)} features, {len(self.none.classes)} classes"
        rows = f"fitted to {facts.fitted_rows} rows of {facts.data}"
        return f"<Model {facts.method}, {rows}; {columns}, view {self.view}>"

    def decider(self, costs: Costs) -> Decider:
        """Return the decider for costs.

        Raises ConfigError for costs that do not fit the classes, or a method without probabilities.
        """
        if self.probability_view is None:
            made = " made conformal" if self.facts.is_conformal else ""
            raise ConfigError(
                f"{self.facts.method}{made} has no probabilities (its view is {self.view}), and decisions "
                "of least expected cost need them",
                hint="methods with probabilities are naive-bayes, bayes-knn, bayes-transduction and "
                "classifiers with predict_proba, such as sklearn.linear_model.LogisticRegression",
            )
        return costs.decider(self.none.classes)

    @property
    def chunk_rows(self) -> int:
        """Number of new rows that are predicted at once: all of them if weights are estimated from them."""
        return sys.maxsize if self.facts.shift else CHUNK_ROWS

    def views(self, rows: NewRows, chunk: int = 0, decide: bool = False) -> Mapping[str, Prediction]:
        """Return every view of the complete ones of new rows; only ``view`` if there are none.

        decide: whether the probabilities that decisions need are added if the method is conformal.

        chunk: the number of the chunk. It and the features of the rows seed the random numbers that a method
        draws. Otherwise all rows that are predicted one by one would share one random number, and their
        smoothed p-values would not be uniform.
        """
        X, table, facts = self.chosen(rows), rows.table[self.is_predicted(rows)], self.facts
        if not X.shape[0]:
            return {self.view: self.none}
        values = np.ascontiguousarray(table if is_sparse(rows.X) else X)
        purpose = "new rows", chunk, hashlib.sha256(values.tobytes()).hexdigest()
        rng = stable_generator("predict", facts.seed, facts.checksum, facts.method, *purpose)
        X = self.transformed(X, self.steps)
        X = np.column_stack([X, table[:, self.by]]) if self.by else X
        with self.errors_of_file("its method cannot predict"):
            with contextlib.nullcontext() if self.file else named_errors(facts.method, "predict"):
                views = self.method.confident_predict(X, rng)
            if decide and self.probability_view not in views:
                views = {**views, **classifier_views(self.method, X)}
            if self.view not in views:
                raise KeyError(self.view)
        return views

    @contextlib.contextmanager
    def errors_of_file(self, reason: str = "its parts do not fit together") -> Iterator[None]:
        """Raise an error of a model that comes from a file as that of a damaged file."""
        try:
            yield
        except Exception as error:
            if self.file is None or isinstance(error, ConfmlError | OSError):
                raise
            raise damaged(self.file, f"{reason} ({type(error).__name__}: {printable(error, 300)})") from error

    def transformed(self, X: np.ndarray, steps: StepPipeline, width: int | None = None) -> np.ndarray:
        """Return X (k, d), k > 0, after steps of the model. width: their number of columns, if known.

        Raises ValueError for another.
        """
        with self.errors_of_file("its steps cannot transform rows"):
            transformed = steps.transform(X)
            if width is not None and transformed.shape[1] != width:
                raise ValueError(f"{width} columns expected, got {transformed.shape[1]}")
        return transformed

    def chosen(self, rows: NewRows) -> np.ndarray:
        """Return (k, d) the complete ones of new rows, before the steps; sparse if those of the fit are."""
        X = (rows.table if self.takes_codes else rows.X)[self.is_predicted(rows)]
        return X if is_sparse(self.neighbours.X) else dense(X)

    def is_predicted(self, rows: NewRows) -> np.ndarray:
        """Return (n,) bool, which of new rows have a prediction: all, or those without missing values."""
        return np.ones(len(rows.lines), dtype=bool) if self.coder.missing == "mean" else rows.complete


def damaged(path: Path, reason: str) -> DataError:
    """Return the error of a model file that is not what was written."""
    return DataError(
        f"the model file is damaged: {reason}",
        where=str(path),
        hint="copy it again, or fit it again with --save",
    )


@contextlib.contextmanager
def named_errors(method: str, action: str) -> Iterator[None]:
    """Raise an error of a classifier of another package as a ConfmlError that names the classifier."""
    try:
        yield
    except (ConfmlError, MemoryError):
        raise
    except Exception as error:
        if "." not in method:
            raise
        raise ConfmlError(
            f"{method} cannot {action}: {type(error).__name__}: {printable(error, 500)}",
            hint="confml --debug predict shows the traceback",
        ) from error


def classifier_views(method: Any, X: np.ndarray) -> dict[str, Prediction]:
    """Return the probabilities of the classifier that is made conformal, as the view ``classifier``.

    It is empty if there are none.

    X: (n, d), after the steps.
    """
    function = getattr(method, "classifier_probabilities", None)
    prediction = None if function is None else function(X)
    return {} if prediction is None else {"classifier": prediction}


def first_probability_view(views: Mapping[str, Prediction]) -> str | None:
    """Return the name of the first view that holds probabilities, or None."""
    return next((name for name, prediction in views.items() if prediction.kind in PROBABILITY_KINDS), None)
