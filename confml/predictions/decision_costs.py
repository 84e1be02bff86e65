"""`DecisionCosts`: expected and realised costs of decisions for new rows, and of constant decisions."""

import math
from typing import Any

import numpy as np
from scipy.special import erfc

from confml.measures.costs import ABSTAIN, Decisions
from confml.predictions.guarantee import digits, percent, row_count
from confml.predictions.rounding import p_text

SIGNIFICANCE = 0.05  # of the difference of realised and expected costs


class DecisionCosts:
    """Sums of costs over new rows.

    rows, abstained, labelled: numbers of rows with a decision, of those that abstain, and of those whose
    label is a training class.
    """

    def __init__(self) -> None:
        self.rows = self.abstained = self.labelled = 0
        self._names: list[Any] = []
        self._expected = self._realised = self._variance = self._expected_of_labelled = 0.0
        self._constant: Any = 0.0  # (d,) expected costs of the same decision for every row
        self._realised_constant: Any = 0.0

    def add(self, decisions: Decisions, positions: np.ndarray, columns: np.ndarray) -> None:
        """Add a chunk; columns: (m,) true classes of the labelled rows at ``positions`` (m,)."""
        self._names, decided, expected = decisions.names, decisions.columns, decisions.costs
        self.rows += len(decided)
        self.abstained += decisions.labels.count(ABSTAIN)
        self._expected += math.fsum(expected.tolist())
        self._constant = self._constant + decisions.expected.sum(axis=0)
        self.labelled += len(columns)
        possible = decisions.table.T[decided[positions]]  # (m, c) the cost of each true class
        squares = (decisions.probabilities[positions] * possible**2).sum(axis=1)
        self._variance += float((squares - expected[positions] ** 2).sum())
        self._expected_of_labelled += math.fsum(expected[positions].tolist())
        self._realised += math.fsum(possible[np.arange(len(columns)), columns].tolist())
        self._realised_constant = self._realised_constant + decisions.table[columns].sum(axis=0)

    @property
    def z(self) -> float:
        """Realised minus expected cost in standard errors; standard normal if the probabilities are right.

        Given the rows, the cost of a decision has the mean and the variance that the probabilities give it.
        """
        difference = self._realised - self._expected_of_labelled
        return difference / math.sqrt(self._variance) if self._variance > 0 else math.nan

    def sentences(self, method: str) -> list[str]:
        """Return the expected cost, and the costs of constant decisions; nothing without rows."""
        if not self.rows:
            return []
        share = f"{self.abstained} of {row_count(self.rows)} ({percent(self.abstained, self.rows)})"
        constant, on = self._constants(self._constant, self.rows), "Expected costs"
        if self.labelled:
            constant, on = (
                self._constants(self._realised_constant, self.labelled),
                "Costs on rows with labels",
            )
        return [
            f"Decisions have the least expected cost if the probabilities of {method} are right, which is "
            f"not guaranteed: mean expected cost {digits(self._expected / self.rows)} per row; the decision "
            f"is {ABSTAIN} for {share}.",
            f"{on} of the same decision for every row: {constant}.",
        ]

    def score(self) -> str:
        """Return the realised cost, tested against the expected one, as a part of a sentence."""
        n, z = self.labelled, self.z
        if not n:
            return ""
        text = f"; mean cost of the decisions {digits(self._realised / n)}, "
        text += f"expected {digits(self._expected_of_labelled / n)}"
        if math.isnan(z):
            return text
        p = float(erfc(abs(z) / math.sqrt(2)))
        verdict = "no significant difference"
        if p <= SIGNIFICANCE:
            verdict = f"the probabilities are too {'optimistic' if z > 0 else 'pessimistic'} for these rows"
        return f"{text}: {verdict} (z = {z:.1f}, p = {p_text(p, SIGNIFICANCE)})"

    def _constants(self, sums: np.ndarray, rows: int) -> str:
        """Return the mean costs of abstaining always, and of the cheapest class."""
        costs = {str(name): float(cost) / rows for name, cost in zip(self._names, sums, strict=True)}
        abstain = costs.pop(ABSTAIN, None)
        cheapest = min(costs, key=lambda name: costs[name])
        constants = [] if abstain is None else [f"{ABSTAIN} {digits(abstain)}"]
        return ", ".join([*constants, f"{cheapest} (the cheapest class) {digits(costs[cheapest])}"])
