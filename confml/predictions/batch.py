"""`Batch`: the predictions of one chunk of new rows, as CSV columns and as a DataFrame."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confml.data.new_rows import NewRows
from confml.data.text_table import TextTable
from confml.errors import ConfigError
from confml.measures.certified import OperatingPoint
from confml.measures.costs import Costs, Decisions
from confml.measures.prediction import SCORE_NAMES, Prediction
from confml.measures.regions import reasons
from confml.plugins.parameters import without_rounding_error
from confml.predictions.explain import SIDES, Explainer, Explanation
from confml.predictions.model import Model
from confml.predictions.rounding import ALL_DIGITS, rounded, with_digits
from confml.report.files import field, fields, numbers
from confml.report.region_columns import of_regions, score_fields, score_header

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Output:
    """Options of the output of predictions for new rows.

    levels: significance levels of the regions. explain: number of nearest training rows per class, 0 for
    none. costs: of decisions, None for no decisions. drift: whether new rows are compared with the training
    rows (`Drift`).
    """

    levels: tuple[float, ...]
    explain: int = 0
    costs: Costs | None = None
    drift: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(dict.fromkeys(map(without_rounding_error, self.levels))))
        if wrong := [level for level in self.levels if not 0 < level < 1]:
            raise ConfigError(f"levels must be above 0 and below 1, got {wrong[0]!r}")


@dataclass(frozen=True)
class Batch:
    """Predictions of n new rows, k of which have one.

    rows: the new rows. predicted: (n,) bool. prediction: of the k rows. regions: (k, c) for each level, empty
    for margins. point: the operating point, None without one. decisions: of the k rows, None without costs.
    explanation: of the k rows, None if not asked for. filled: the features of each row that are filled in,
    None if missing values are not. id_columns: names.
    """

    rows: NewRows
    predicted: np.ndarray
    prediction: Prediction
    regions: dict[float, np.ndarray]
    point: OperatingPoint | None
    decisions: Decisions | None
    explanation: Explanation | None
    filled: list[tuple[str, ...]] | None
    id_columns: tuple[str, ...]

    @functools.cached_property
    def reasons(self) -> dict[float, np.ndarray]:
        """(k,) reasons for each level."""
        return {level: reasons(region) for level, region in self.regions.items()}

    @functools.cached_property
    def accepted(self) -> np.ndarray | None:
        """(k,) bool, the rows that the operating point accepts; None without one."""
        if self.point is None or self.point.threshold is None:
            return None if self.point is None else np.zeros(len(self.prediction), dtype=bool)
        return np.asarray(self.prediction.certainty >= self.point.threshold)

    def csv(self, digits: int = ALL_DIGITS) -> tuple[list[str], list[list[str]]]:
        """Return the header and columns of finished CSV fields: ``line``, the identifiers, ``label`` where
        the file has it, then columns as those of the region tables of a run, and those of the explanation.

        digits: significant digits of numbers; rows have more where these would contradict another column.
        """
        threshold = None if self.point is None else self.point.threshold
        prediction, confidence = with_digits(self.prediction, digits, self.regions, threshold)
        header, columns = score_header(prediction), score_fields(prediction, confidence)
        for name, values in self._more_columns():
            header.append(name)
            columns.append(_csv_fields(values, digits))
        of_rows = self._id_columns(header)
        full = [_spread(column, self.predicted) for column in columns]
        texts = [map(str, of_rows.pop("line")), *(map(field, column) for column in of_rows.values())]
        return ["line", *of_rows, *header], [*map(list, texts), *full]

    def frame(self) -> pd.DataFrame:
        """Return the same as a DataFrame: regions are tuples of labels, neighbours tuples of lines and
        distances.
        """
        import pandas as pd

        frame = self.prediction.to_frame()
        columns: dict[str, Any] = {str(name): frame[name].to_numpy() for name in frame}
        columns |= dict(self._more_columns())
        rows, is_complete = np.flatnonzero(self.predicted), bool(self.predicted.all())
        everything: dict[str, Any] = dict(self._id_columns(list(columns)))
        if "label" in everything:
            label_of = {str(label): label for label in self.prediction.classes.tolist()}
            everything["label"] = [label_of.get(text, text) for text in everything["label"]]
        for name, values in columns.items():
            everything[name] = pd.Series(list(values), index=rows, dtype=_dtype(values, is_complete))
        return pd.DataFrame(everything, index=range(len(self.predicted)))

    def _more_columns(self) -> Iterator[tuple[str, Any]]:
        """Yield name and values of the columns after those of the scores; several values are a tuple."""
        labels = self.prediction.classes.tolist()
        for level, region in self.regions.items():
            yield f"region@{level!r}", of_regions(region, lambda codes: tuple([labels[at] for at in codes]))
            yield f"reason@{level!r}", self.reasons[level]
        if self.accepted is not None:
            yield "accepted", self.accepted
        if self.decisions is not None:
            if self.prediction.kind in SCORE_NAMES:  # the other kinds have columns prob[...]
                for label, of_class in zip(labels, self.decisions.probabilities.T, strict=True):
                    yield f"prob[{label}]", of_class
            for name, expected in zip(self.decisions.names, self.decisions.expected.T, strict=True):
                yield f"expected_cost[{name}]", expected
            yield "decision", self.decisions.labels
            yield "expected_cost", self.decisions.costs
        if self.explanation is not None:
            yield "runner_up", self.explanation.runner_up
            for side in SIDES:
                yield f"lines@{side}", list(map(tuple, self.explanation.lines[side]))
                yield f"distances@{side}", list(map(tuple, self.explanation.distances[side]))
            if self.explanation.features is not None:
                yield f"features@{SIDES[0]}", list(map(tuple, self.explanation.features))
        if self.filled is not None:
            yield "filled", self.filled

    @functools.cached_property
    def labelled(self) -> tuple[np.ndarray, np.ndarray]:
        """Places of the predictions of rows with labels, (m,), and the columns of their classes, (m,).

        The column is -1 for a class that is absent from the training rows.
        """
        rows = np.flatnonzero(self.predicted)
        positions = np.flatnonzero(self.rows.labelled[rows])
        columns = {str(label): column for column, label in enumerate(self.prediction.classes.tolist())}
        labels = self.rows.labels or []
        of_labels = [columns.get(labels[row], -1) for row in rows[positions].tolist()]
        return positions, np.array(of_labels, dtype=np.int64)

    def _id_columns(self, header: Sequence[str]) -> dict[str, list[Any]]:
        """Return columns of the new rows; an identifier with the name of another column gets ``id.``."""
        columns: dict[str, list[Any]] = {"line": self.rows.lines.tolist()}
        ends = {"line", "label", *header}
        for j, name in enumerate(self.id_columns):
            columns[f"id.{name}" if name in ends else name] = self.rows.ids[:, j].tolist()
        if self.rows.labels is not None:
            columns["label"] = self.rows.labels
        return columns


def predict_tables(model: Model, tables: Iterable[TextTable], output: Output) -> Iterator[Batch]:
    """Iterate over the predictions of chunks of new rows whose columns were checked."""
    explainer = Explainer(model, output.explain) if output.explain else None
    costs = output.costs or (model.costs if model.probability_view is not None else None)
    decider = model.decider(costs) if costs is not None else None
    for number, table in enumerate(tables):
        rows = model.coder.code(table, first=number == 0)
        views = model.views(rows, number, decide=decider is not None)
        prediction = views[model.view]
        levels = output.levels if prediction.has_regions else ()
        yield Batch(
            rows=rows,
            predicted=model.is_predicted(rows),
            prediction=prediction,
            regions={level: prediction.region(level) for level in levels},
            point=model.point,
            decisions=None if decider is None else decider.decide(views.get(str(model.probability_view))),
            explanation=explainer.explain(rows, prediction) if explainer else None,
            filled=model.coder.filled_features(rows),
            id_columns=model.coder.id_columns,
        )


def _spread(column: Sequence[str], predicted: np.ndarray) -> list[str]:
    """Return the fields of all rows; those without a prediction are empty."""
    if predicted.all():
        return list(column)
    fields = [""] * len(predicted)
    for row, text in zip(np.flatnonzero(predicted).tolist(), column, strict=True):
        fields[row] = text
    return fields


def _csv_fields(values: Sequence[Any] | np.ndarray, digits: int) -> list[str]:
    """Return the CSV fields of a column; the values of a tuple are joined by ``|``."""
    if isinstance(values, np.ndarray):
        is_float = values.dtype.kind == "f"
        return numbers(rounded(values, digits)) if is_float else fields(values.tolist())
    if not any(isinstance(value, tuple) for value in values):
        return fields(values)
    joined = {value: _joined(value, digits) for value in set(values)}
    return [joined[value] for value in values]


def _joined(values: tuple, digits: int) -> str:
    if values and isinstance(values[0], np.floating):
        return "|".join(numbers(rounded(np.array(values), digits)))
    return field("|".join(str(value).replace("\\", "\\\\").replace("|", "\\|") for value in values))


def _dtype(values: Any, complete: bool) -> Any:
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind in "iu" and not complete:
        return "Int64"  # as floats, long integers would be other labels
    return values.dtype if kind in "iufb" else object
