"""`DecisionCosts`: expected and realised costs of decisions for new rows, and of constant decisions."""

import math
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml.measures.costs import ABSTAIN, Decisions
from confml.predictions.guarantee import digits, percent, row_count
from confml.predictions.rounding import p_text

SIGNIFICANCE = 0.05  # of the difference of realised and expected costs
DRAWS = 1999  # of the classes of all labelled rows
_DRAWN = 200_000  # numbers at a time


class DecisionCosts:
    """Sums of costs over new rows.

    rows, abstained, labelled: numbers of rows with a decision, of those that abstain, and of those whose
    label is a training class.
    """

    def __init__(self) -> None:
        self.rows = self.abstained = self.labelled = 0
        self._names: list[Any] = []
        self._expected = self._realised = self._expected_of_labelled = 0.0
        self._constant: Any = 0.0  # (d,) expected costs of the same decision for every row
        self._realised_constant: Any = 0.0
        self._drawn = np.zeros(DRAWS)  # costs of the labelled rows, with classes drawn from the probabilities
        self._generator = stable_generator("costs of decisions")

    def add(self, decisions: Decisions, positions: np.ndarray, columns: np.ndarray) -> None:
        """Add a chunk; columns: (m,) true classes of the labelled rows at ``positions`` (m,)."""
        self._names, decided, expected = decisions.names, decisions.columns, decisions.costs
        self.rows += len(decided)
        self.abstained += decisions.labels.count(ABSTAIN)
        self._expected += math.fsum(expected.tolist())
        self._constant = self._constant + decisions.expected.sum(axis=0)
        self.labelled += len(columns)
        possible = decisions.table.T[decided[positions]]  # (m, c) the cost of each true class
        self._draw(decisions.probabilities[positions], possible)
        self._expected_of_labelled += math.fsum(expected[positions].tolist())
        self._realised += math.fsum(possible[np.arange(len(columns)), columns].tolist())
        self._realised_constant = self._realised_constant + decisions.table[columns].sum(axis=0)

    def _draw(self, probabilities: np.ndarray, possible: np.ndarray) -> None:
        """Add the costs (m, c) of classes that are drawn from the probabilities (m, c) of m rows."""
        steps = np.diff(possible, axis=1)
        bounds = np.cumsum(probabilities, axis=1)[:, :-1]
        size = max(1, _DRAWN // DRAWS)
        for rows in (slice(start, start + size) for start in range(0, len(possible), size)):
            uniform = self._generator.random((len(possible[rows]), DRAWS))
            self._drawn += possible[rows, 0].sum()
            for bound, step in zip(bounds[rows].T, steps[rows].T, strict=True):
                self._drawn += step @ (uniform >= bound[:, None])

    @property
    def p(self) -> float:
        """Probability of a realised cost at least as far from the expected one, if the probabilities are
        right.

        By simulation: rare large costs have no normal sum. It is at least 1 / (DRAWS + 1), and valid for any
        number of draws.
        """
        expected = self._expected_of_labelled
        distance = abs(self._realised - expected)
        distance -= 1e-9 * max(abs(self._realised), abs(expected))  # sums are rounded
        return float(1 + np.count_nonzero(np.abs(self._drawn - expected) >= distance)) / (DRAWS + 1)

    def sentences(self, method: str) -> list[str]:
        """Return the expected cost, and the costs of constant decisions; nothing without rows."""
        if not self.rows:
            return []
        share = f"{self.abstained} of {row_count(self.rows)} ({percent(self.abstained, self.rows)})"
        constant, on = self._constants(self._constant, self.rows), "Expected costs"
        if self.labelled:
            constant, on = (
                self._constants(self._realised_constant, self.labelled),
                "Costs of rows with labels",
            )
        return [
            f"Decisions have the least expected cost if the probabilities of {method} are right, which is "
            f"not guaranteed. The mean expected cost is {digits(self._expected / self.rows)} per row. The "
            f"decision is {ABSTAIN} for {share}.",
            f"{on} if all rows have the same decision: {constant}.",
        ]

    def score(self) -> str:
        """Return the realised cost, tested against the expected one, as a part of a sentence."""
        n = self.labelled
        if not n:
            return ""
        text = f"; mean cost of the decisions {digits(self._realised / n)}, "
        text += f"expected {digits(self._expected_of_labelled / n)}"
        p = self.p
        verdict = "no significant difference"
        if p <= SIGNIFICANCE:
            wrong = "optimistic" if self._realised > self._expected_of_labelled else "pessimistic"
            verdict = f"the probabilities are too {wrong} for these rows"
        return f"{text}: {verdict} (p = {p_text(p, SIGNIFICANCE)})"

    def _constants(self, sums: np.ndarray, rows: int) -> str:
        """Return the mean costs of abstaining always, and of the cheapest class."""
        costs = {str(name): float(cost) / rows for name, cost in zip(self._names, sums, strict=True)}
        abstain = costs.pop(ABSTAIN, None)
        cheapest = min(costs, key=lambda name: costs[name])
        constants = [] if abstain is None else [f"{ABSTAIN} {digits(abstain)}"]
        return ", ".join([*constants, f"{cheapest} (the cheapest class) {digits(costs[cheapest])}"])
