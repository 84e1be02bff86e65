"""Decisions of least expected cost, with the cost of abstaining."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from confml.data.text_table import require_regular
from confml.errors import ConfigError, did_you_mean
from confml.measures.prediction import Prediction

ABSTAIN = "abstain"
_FORM = (
    "costs has the form {matrix: {good: {bad: 1}, bad: {good: 5}}, abstain: 0.8}: for each true class the "
    "cost of every other prediction"
)


@dataclass(frozen=True)
class Decisions:
    """Decisions for k rows.

    labels: k class labels, or ``abstain``. costs: (k,) expected costs. true_costs: (k, c) the cost of the
    decision if the true class is that of the column.
    """

    labels: list[Any]
    costs: np.ndarray
    true_costs: np.ndarray


@dataclass(frozen=True)
class Costs:
    """Costs as a file or mapping gives them, by the texts of class labels.

    matrix: true class -> predicted class -> cost. abstain: true class -> cost, or None if abstaining is not
    allowed. where: the file, for messages.
    """

    matrix: Mapping[str, Mapping[str, float]]
    abstain: float | Mapping[str, float] | None = None
    where: str | None = None

    stored = {"matrix": "dict", "abstain": "float | dict | None", "where": "str | None"}

    def decider(self, classes: np.ndarray, view: str) -> Decider:
        """Return the decider for the probabilities (n, c) of a view, with ``classes`` (c,).

        Raises ConfigError for costs that do not fit the classes."""
        names = [str(label) for label in classes.tolist()]
        self._check_classes(names)
        table = np.array(
            [[self.matrix[true].get(chosen, 0.0) for chosen in names] for true in names], dtype=np.float64
        )
        abstain = None
        if self.abstain is not None:
            each = self.abstain if isinstance(self.abstain, Mapping) else dict.fromkeys(names, self.abstain)
            abstain = np.array([each[name] for name in names], dtype=np.float64)
        return Decider(classes, table, abstain, view)

    def _check_classes(self, names: list[str]) -> None:
        if ABSTAIN in names:
            raise ConfigError(
                f"the class name '{ABSTAIN}' is reserved for rows without a decision",
                where=self.where,
                hint="rename the class",
            )
        parts = [("", self.matrix), *((f" of true class '{true}'", row) for true, row in self.matrix.items())]
        if isinstance(self.abstain, Mapping):
            parts.append((" of abstain", self.abstain))
        for what, part in parts:
            for name in part:
                if name not in names:
                    raise ConfigError(
                        f"the costs{what} name class '{name}', which the training rows do not have",
                        where=self.where,
                        hint=did_you_mean(name, names),
                    )
        for true in names:
            lacking = [name for name in names if name != true and name not in self.matrix.get(true, {})]
            if lacking:
                raise ConfigError(
                    f"the cost of predicting '{lacking[0]}' for a row of class '{true}' is missing",
                    where=self.where,
                    hint=_FORM,
                )
            if isinstance(self.abstain, Mapping) and true not in self.abstain:
                raise ConfigError(f"the cost of abstaining for class '{true}' is missing", where=self.where)


@dataclass(frozen=True)
class Decider:
    """Costs (c, c), true class by decision, and of abstaining (c,), for the view ``view``."""

    classes: np.ndarray
    table: np.ndarray
    abstain: np.ndarray | None
    view: str

    def decide(self, views: Mapping[str, Prediction]) -> Decisions:
        """Return the decision with the least expected cost for each row.

        The first class of several with the same cost; abstaining only where it is cheaper than every class.
        """
        if self.view not in views:  # no rows
            return Decisions([], np.empty(0), np.empty((0, len(self.classes))))
        scores = views[self.view].scores
        expected = _products(scores, self.table)
        columns = np.argmin(expected, axis=1)
        rows = np.arange(len(scores))
        costs, true_costs = expected[rows, columns], self.table.T[columns]
        labels = self.classes[columns].tolist()
        if self.abstain is not None:
            of_abstaining = _products(scores, self.abstain[:, None])[:, 0]
            for row in np.flatnonzero(of_abstaining < costs).tolist():
                labels[row], costs[row], true_costs[row] = ABSTAIN, of_abstaining[row], self.abstain
        return Decisions(labels, costs, true_costs)


def _products(scores: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the matrix product, added in the order of the classes, so that it does not depend on the number
    of rows.
    """
    total = np.zeros((len(scores), table.shape[1]))
    for column in range(len(table)):
        total += scores[:, column, None] * table[column]
    return total


def read_costs(path: Path | str) -> Costs:
    """Read costs from a YAML file with ``matrix`` and ``abstain``, or from a CSV file.

    The CSV file has the true classes in its first column and one column per prediction; a column ``abstain``
    is the cost of abstaining. Raises ConfigError.
    """
    path = Path(path)
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        from confml.yaml import Document, Problems, read_file

        problems = Problems()
        root = read_file(path, str(path), problems, Document("file of costs", "abstain: 0.8"))
        problems.raise_any()
        return costs_of(root.plain(), str(path))
    require_regular(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError("there is no such file", where=str(path)) from None
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"the file of costs cannot be read: {error}", where=str(path)) from None
    return _from_csv(text, str(path))


def costs_of(values: Any, where: str | None = None) -> Costs:
    """Return costs from a mapping with ``matrix`` and perhaps ``abstain``. Raises ConfigError."""
    if not isinstance(values, Mapping) or not isinstance(values.get("matrix"), Mapping):
        raise ConfigError(
            f"expected a mapping with matrix and abstain, got {values!r:.60}", where=where, hint=_FORM
        )
    unknown = [str(key) for key in values if key not in ("matrix", ABSTAIN)]
    if unknown:
        raise ConfigError(
            f"costs has no key '{unknown[0]}'",
            where=where,
            hint=did_you_mean(unknown[0], ("matrix", ABSTAIN)),
        )
    matrix: dict[str, dict[str, float]] = {}
    for true, row in values["matrix"].items():
        if not isinstance(row, Mapping):
            raise ConfigError(
                f"the costs of true class '{_text(true)}' must be a mapping", where=where, hint=_FORM
            )
        cells = {
            _text(name): _number(cost, f"row '{_text(true)}', '{_text(name)}'", where)
            for name, cost in row.items()
        }
        matrix[_text(true)] = cells
    abstain = values.get(ABSTAIN)
    if isinstance(abstain, Mapping):
        abstain = {
            _text(name): _number(cost, f"abstain, '{_text(name)}'", where) for name, cost in abstain.items()
        }
    elif abstain is not None:
        abstain = _number(abstain, ABSTAIN, where)
    return Costs(matrix, abstain, where)


def _from_csv(text: str, where: str) -> Costs:
    rows = [
        [cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if any(map(str.strip, row))
    ]
    if len(rows) < 2 or len(rows[0]) < 2:
        raise ConfigError(
            "expected a table of costs",
            where=where,
            hint="true classes in the first column, predictions in the first line",
        )
    header = rows[0][1:]
    if len(set(header)) < len(header):
        raise ConfigError("two columns of the costs have one name", where=where)
    matrix: dict[str, dict[str, float]] = {}
    abstain: dict[str, float] = {}
    for line, (true, *cells) in enumerate(rows[1:], start=2):
        if len(cells) != len(header):
            raise ConfigError(
                f"{len(cells) + 1} fields, expected {len(header) + 1}", where=f"{where}, row {line}"
            )
        if true in matrix:
            raise ConfigError(f"true class '{true}' is listed twice", where=where)
        found = {
            name: _number(cell, f"row '{true}', column '{name}'", where)
            for name, cell in zip(header, cells, strict=True)
        }
        if ABSTAIN in found:
            abstain[true] = found.pop(ABSTAIN)
        matrix[true] = found
    return Costs(matrix, abstain or None, where)


def _number(value: Any, what: str, where: str | None) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"the cost ({what}) must be a finite number, got '{value}'", where=where)
    if number < 0:
        raise ConfigError(
            f"the cost ({what}) must be at least 0, got '{value}'",
            where=where,
            hint="add one amount to all costs of a true class, abstain included: decisions stay the same",
        )
    return number


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
