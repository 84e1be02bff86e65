"""Decisions of least expected cost, with the cost of abstaining, and their mean cost in a run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from confml.errors import ConfigError
from confml.measures.case import Case
from confml.measures.context import Context
from confml.measures.measure import Measure, Row
from confml.measures.metric import LOWER, OWN, PAGE, RESULTS, SHORT, THRESHOLD, Metric
from confml.measures.prediction import PROBABILITY_KINDS, Prediction, columns_of

ABSTAIN = "abstain"
ALWAYS = "always-"
COSTS = ("cost", "cost_with_abstaining")
"""Metrics of the decisions of least expected cost."""
CLASSIFIER = "classifier"  # in ``extra``: probabilities of the classifier of a conformal method
_FORM = (
    "costs has the form {matrix: {good: {bad: 1}, bad: {good: 5}}, abstain: 0.8}: for each true class the "
    "cost of every other prediction"
)


@dataclass(frozen=True)
class Decisions:
    """Decisions of least expected cost for k rows.

    names: d labels that can be decided: the classes, and ``abstain`` if it is allowed. table: (c, d) costs of
    true classes and decisions. probabilities: (k, c). expected: (k, d) expected costs of all decisions.
    columns: (k,) the decision of each row.
    """

    names: list[Any]
    table: np.ndarray
    probabilities: np.ndarray
    expected: np.ndarray
    columns: np.ndarray

    @property
    def labels(self) -> list[Any]:
        """The decision of each row."""
        return [self.names[column] for column in self.columns.tolist()]

    @property
    def costs(self) -> np.ndarray:
        """(k,) expected cost of each decision."""
        return self.expected[np.arange(len(self.columns)), self.columns]


@dataclass(frozen=True)
class Costs:
    """Costs as a file or mapping gives them, by the texts of class labels.

    matrix: true class -> predicted class -> cost. abstain: true class -> cost, or None if abstaining is not
    allowed. where: the file, for messages.
    """

    matrix: Mapping[str, Mapping[str, float]]
    abstain: float | Mapping[str, float] | None = None
    where: str | None = None

    def decider(self, classes: np.ndarray, what: str = "the training rows do") -> Decider:
        """Return the decider for probabilities (n, c) of ``classes`` (c,).

        Raises ConfigError for costs that do not fit the classes. what: begins the end of the message.
        """
        names = [str(label) for label in classes.tolist()]
        costs = self._spelled_as(names)
        costs._check_classes(names, what)
        return Decider(classes, costs._table(classes, classes))

    def _spelled_as(self, names: list[str]) -> Costs:
        """Return the costs under the names of the classes: ``True`` for ``true``, ``1`` for ``1.0``."""
        by_value: dict[str | float, list[str]] = {}
        for name in names:
            by_value.setdefault(_value(name), []).append(name)

        def spelled(key: str) -> str:
            same = by_value.get(_value(key), [])
            return same[0] if key not in names and len(same) == 1 else key

        matrix = {
            spelled(true): {spelled(name): cost for name, cost in row.items()}
            for true, row in self.matrix.items()
        }
        abstain = self.abstain
        if isinstance(abstain, Mapping):
            abstain = {spelled(name): cost for name, cost in abstain.items()}
        return Costs(matrix, abstain, self.where)

    def _table(self, truth: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return the (t, d) costs of true labels and decisions: the classes, and abstaining if it is allowed.

        NaN for a pair without a cost.
        """
        names = [str(label) for label in classes.tolist()]
        rows = []
        for true in map(str, truth.tolist()):
            row = self.matrix.get(true, {})
            rows.append([row.get(name, 0.0 if name == true else math.nan) for name in names])
            if isinstance(self.abstain, Mapping):
                rows[-1].append(self.abstain.get(true, math.nan))
            elif self.abstain is not None:
                rows[-1].append(self.abstain)
        columns = len(names) + (self.abstain is not None)
        return np.array(rows, dtype=np.float64).reshape(len(truth), columns)

    @property
    def largest(self) -> float:
        """The largest cost."""
        abstaining = self.abstain.values() if isinstance(self.abstain, Mapping) else [self.abstain or 0.0]
        return max([0.0, *abstaining, *(cost for row in self.matrix.values() for cost in row.values())])

    def _check_classes(self, names: list[str], what: str) -> None:
        if ABSTAIN in names:
            raise ConfigError(
                f"the class name '{ABSTAIN}' is reserved for rows without a decision",
                where=self.where,
                hint="rename the class",
            )
        parts = [("", self.matrix), *((f" of true class '{true}'", row) for true, row in self.matrix.items())]
        if isinstance(self.abstain, Mapping):
            parts.append((" of abstain", self.abstain))
        for of, part in parts:
            for name in part:
                if name not in names:
                    raise ConfigError(
                        f"the costs{of} name class '{name}', which {what} not have",
                        where=self.where,
                        near=(name, names),
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
    """Decides with costs (c, d), true class by decision: the c classes, and abstaining if it is allowed."""

    classes: np.ndarray
    table: np.ndarray

    def choose(self, scores: np.ndarray, decisions: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the column (n,) of the decision with the least expected cost, and the expected costs (n, d).

        scores: (n, c) probabilities. decisions: number of the first decisions that are allowed, by default
        all. The first of several with the same cost is chosen, so abstaining costs less than every class.
        """
        expected = _products(scores, self.table[:, :decisions])
        return np.argmin(expected, axis=1), expected

    def decide(self, probabilities: Prediction | None) -> Decisions:
        """Return the decisions with the least expected cost for n rows; None for no rows."""
        scores = np.empty((0, len(self.classes))) if probabilities is None else probabilities.scores
        columns, expected = self.choose(scores)
        names = [*self.classes.tolist(), ABSTAIN][: self.table.shape[1]]
        return Decisions(names, self.table, scores, expected, columns)


def _products(scores: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the matrix product, added in the order of the classes, so that it does not depend on the number
    of rows.
    """
    total = np.zeros((len(scores), table.shape[1]))
    for column in range(len(table)):
        total += scores[:, column, None] * table[column]
    return total


def costs_of(values: Any, where: str | None = None) -> Costs:
    """Return costs from a mapping with ``matrix`` and perhaps ``abstain``. Raises ConfigError."""
    if not isinstance(values, Mapping) or not isinstance(values.get("matrix"), Mapping):
        raise ConfigError(
            f"expected a mapping with matrix and abstain, got {values!r:.60}", where=where, hint=_FORM
        )
    unknown = [str(key) for key in values if key not in ("matrix", ABSTAIN)]
    if unknown:
        near = unknown[0], ("matrix", ABSTAIN)
        raise ConfigError(f"costs has no key '{unknown[0]}'", where=where, near=near)

    def row_of(costs: Mapping, row: str) -> dict[str, float]:
        return {
            _text(name): cost_number(cost, f"{row}, '{_text(name)}'", where) for name, cost in costs.items()
        }

    matrix = {}
    for true, row in values["matrix"].items():
        if not isinstance(row, Mapping):
            raise ConfigError(
                f"the costs of true class '{_text(true)}' must be a mapping", where=where, hint=_FORM
            )
        matrix[_text(true)] = row_of(row, f"row '{_text(true)}'")
    abstain = values.get(ABSTAIN)
    if isinstance(abstain, Mapping):
        abstain = row_of(abstain, ABSTAIN)
    elif abstain is not None:
        abstain = cost_number(abstain, ABSTAIN, where)
    return Costs(matrix, abstain, where)


def cost_number(value: Any, what: str, where: str | None) -> float:
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


def _value(name: str) -> str | float:
    """Return the number or the truth value that a name of a class stands for, else the name."""
    try:
        return float(name)
    except ValueError:
        return name.lower() if name.lower() in ("true", "false") else name


# ---- costs of a run


def mean_cost(prediction: Prediction, truth: np.ndarray, costs: Costs) -> float:
    """Return the metric ``cost`` of one test part; NaN if it is not defined."""
    per_row = row_costs(Case(prediction, truth, context=Context(costs=costs)))
    return math.nan if per_row is None else _plain_mean(per_row)


class RowCosts(NamedTuple):
    """Costs of N predictions (N,): of the predicted labels, of the best decisions without and with abstaining
    (None without probabilities, or without a cost of abstaining; NaN where a probability is), and of
    abstaining (None)."""

    of_predicted: np.ndarray
    plain: np.ndarray | None
    with_abstaining: np.ndarray | None
    abstain: np.ndarray | None


def row_costs(case: Case) -> RowCosts | None:
    """Return the costs of the predictions of a case; None without costs or rows."""
    costs, prediction = case.context.costs, case.prediction
    if costs is None or not len(case.truth):
        return None
    classes, (labels, true) = prediction.classes, case.labels
    table, c = costs._table(labels, classes), len(classes)
    predicted = columns_of(prediction.labels, classes)
    of_predicted = np.where(predicted < 0, np.nan, table[true, predicted])
    abstain = table[true, c] if table.shape[1] > c else None
    scores = decision_scores(prediction)
    if scores is None:
        return RowCosts(of_predicted, None, None, abstain)
    decider = Decider(classes, costs._table(classes, classes))
    undecided = np.isnan(scores).any(axis=1)
    plain, with_abstaining = (
        np.where(undecided, np.nan, table[true, decider.choose(scores, decisions)[0]])
        for decisions in (c, None)
    )
    return RowCosts(of_predicted, plain, None if abstain is None else with_abstaining, abstain)


def decision_scores(prediction: Prediction) -> np.ndarray | None:
    """Return the probabilities (n, c) that decisions are made with, those of the classifier for a conformal
    method; None without any.
    """
    return prediction.scores if prediction.kind in PROBABILITY_KINDS else prediction.extra.get(CLASSIFIER)


def constant_costs(truth: np.ndarray, classes: np.ndarray, costs: Costs) -> dict[tuple[str, str], np.ndarray]:
    """Return the costs (n,) of the same decision for every row, by name and metric: ``always-abstain`` and
    ``always-<class>``.

    truth: (n,) true labels. classes: (c,) that can be predicted.
    """
    labels, true = np.unique(truth, return_inverse=True)
    names = [*classes.tolist(), ABSTAIN]
    table = costs._table(labels, classes).T[:, true]
    metrics = COSTS[: 1 + len(table) - len(classes)]
    return {
        (f"{ALWAYS}{name}", metric): of_decision
        for name, of_decision in zip(names, table, strict=False)
        for metric in (metrics if name != ABSTAIN else COSTS[1:])
    }


def rows(case: Case) -> Iterator[Row]:
    """Yield the mean costs."""
    per_row = row_costs(case)
    if per_row is None:
        return
    yield Row("cost", None, _plain_mean(per_row))
    if per_row.abstain is None:
        return
    if per_row.with_abstaining is not None:
        yield Row("cost_with_abstaining", None, _mean(per_row.with_abstaining))
    for threshold in case.thresholds:
        costs = np.where(case.accepted(threshold), per_row.of_predicted, per_row.abstain)
        yield Row("cost_at_threshold", threshold, _mean(costs))


def _plain_mean(per_row: RowCosts) -> float:
    return _mean(per_row.of_predicted if per_row.plain is None else per_row.plain)


def _mean(costs: np.ndarray) -> float:
    return float(costs.sum()) / len(costs)


def _metric(heading: str, about: str, formula: str) -> Metric:
    return Metric(about, LOWER, formula, OWN, heading=heading, tables=(SHORT, RESULTS, PAGE))


MEASURE = Measure(
    metrics={
        "cost": _metric(
            "cost",
            "mean cost per test example of the class with the least expected cost, or of the predicted label "
            "without probabilities; only with costs in the config; a conformal method has the probabilities "
            "of its classifier",
            "mean of C(y_i, argmin over j of the sum over y of p_i^y C(y, j))",
        ),
        "cost_with_abstaining": _metric(
            "cost, abstaining",
            "mean cost per test example of the decision with the least expected cost, which may be to abstain"
            "; only of probabilities, with a cost of abstaining in the config",
            "mean of C(y_i, d_i), d_i = abstain where its expected cost is less than that of every class",
        ),
        "cost_at_threshold": Metric(
            "mean cost per test example if predictions that are not accepted at the threshold abstain",
            LOWER,
            "mean of C(y_i, predicted label) of accepted and of C(y_i, abstain) of other examples",
            OWN,
            heading="cost",
            per=THRESHOLD,
            tables=(RESULTS,),
        ),
    },
    rows=rows,
)
