"""`TaskComparison`: models compared on the items of a task."""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from confml.data.outcomes import TaskOutcomes
from confml.data.text_table import counted
from confml.measures.ranks import alike_runs
from confml.report.answers.comparisons import Comparisons
from confml.report.answers.differences import (
    FEW_SPLITS,
    SIGNIFICANCE,
    Difference,
    LossTable,
    SplitLosses,
    compare_lines,
    mean_interval,
)
from confml.report.answers.text import capitalised, caution, listed, p_text, percent, plain_number, points

DRAWS = 2000
"""Bootstrap samples, from which the probability to be the first is computed."""
MOST_RESAMPLED = 5000
"""Items or groups above which means of bootstrap samples are drawn from their normal limit."""


class TaskComparison:
    """The comparison of K models on one task.

    table, comparison: losses, and the tests of their differences. sign: of an outcome in the loss and its
    unit, negative if higher is better. binary: whether outcomes are right or wrong. ranked: models that are
    ranked over tasks; all by default. items: number of them. order: models by mean, the best first.
    """

    def __init__(
        self,
        name: str,
        models: Sequence[str],
        table: LossTable,
        sign: float,
        binary: bool,
        notes: Sequence[str] = (),
        ranked: Sequence[str] | None = None,
    ):
        self.name, self.models, self.table, self.sign, self.binary = name, list(models), table, sign, binary
        self.ranked = self.models if ranked is None else ranked
        self.items, self.notes = table.row_means.shape[1], list(notes)
        self.comparison = compare_lines(table, self.models)
        self.order = np.argsort(self.comparison.means, kind="stable").tolist()
        care = caution(table.split_means.shape[1], FEW_SPLITS)
        if table.clusters is not None:
            shares = table.clusters.shares
            effective = 1 / float((shares**2).sum())
            text = f"Items are in {counted(len(shares), 'group')} (effective number: {effective:.1f})."
            self.notes.append(text)
        self.notes += [f"{capitalised(care)}."] if care else []

    @classmethod
    def of(cls, outcomes: TaskOutcomes, lower_is_better: bool = False) -> "TaskComparison":
        """Return the comparison of a table of outcomes."""
        splits = outcomes.splits
        every = np.concatenate([rows for rows, _ in splits])
        numbers, times = np.unique(every, return_counts=True)
        binary = all(bool(np.isin(values, (0.0, 1.0)).all()) for _, values in splits)
        # Losses are of the order of 1: the tests do not depend on the unit of the outcomes.
        largest = max(float(np.abs(values).max()) for _, values in splits)
        unit = 2.0 ** math.frexp(largest)[1] if largest and not binary else 1.0
        sign = unit if lower_is_better else -unit
        # Splits of a cross-validation have different items, and the others are the training part. Repeated
        # runs have the same items, but for some that are missing.
        same_items = bool(np.mean(times == len(splits)) >= 0.5)
        losses = [
            [SplitLosses(rows, values[model] / sign, len(numbers) - len(rows)) for rows, values in splits]
            for model in range(len(outcomes.models))
        ]
        bound = 1.0 if binary else math.inf
        table = LossTable(losses, "rows", same_items, bound, groups=outcomes.groups)
        return cls(outcomes.name, outcomes.models, table, sign, binary, outcomes.notes)

    @classmethod
    def of_runs(cls, comparisons: Comparisons, dataset: str) -> "TaskComparison | None":
        """Return the comparison of the errors of all methods of runs on a data set; None without two.

        A view with the errors of the first view of its method is the same model.
        """
        comparison = comparisons.comparison(dataset)
        if comparison is None:
            return None
        losses = dict(zip(comparison.lines, comparisons.errors(comparison).methods, strict=True))
        first = {line.method: losses[line] for line in reversed(comparison.lines)}
        lines = [
            line
            for line in comparison.lines
            if losses[line] is first[line.method] or not _are_equal(losses[line], first[line.method])
        ]
        if len(lines) < 2:
            return None
        notes = [
            f"{comparisons.label(line)} is not compared ({why})." for line, why in comparison.left_out.items()
        ]
        if equal := [comparisons.label(line) for line in comparison.lines if line not in lines]:
            notes.append(f"Left out, with the errors of the first view of the method: {listed(equal)}.")
        comparison = replace(comparison, lines=lines)
        if weak := comparisons.not_above_baseline(dataset).replace(f"{dataset}: ", ""):
            notes.append(f"{capitalised(weak)}.")
        labels = {line: comparisons.label(line) for line in comparison.lines}
        ranked = [label for line, label in labels.items() if comparisons.is_first(line)]
        return cls(dataset, list(labels.values()), comparisons.errors(comparison), 1.0, True, notes, ranked)

    @property
    def best(self) -> str:
        return self.models[self.order[0]]

    @property
    def alike(self) -> list[str]:
        """Models that do not differ significantly from the best one, by mean."""
        return [name for at in self.order[1:] if not self.comparison.worse(name := self.models[at])]

    @functools.cached_property
    def first_shares(self) -> np.ndarray:
        """Return (K,) the share of bootstrap samples in which each model is the best; ties share a sample."""
        table, rng = self.table, np.random.default_rng(0)
        sums, sizes = table.row_means, np.full(self.items, 1 / self.items)
        if table.clusters is not None:
            sums, sizes = table.clusters.sums(table.row_means), table.clusters.shares
        elif table.form["kind"] == "groups":  # rows are dependent
            splits = table.split_means.shape[1]
            sums, sizes = table.split_means / splits, np.full(splits, 1 / splits)
        total, number = sums.sum(axis=1), len(sizes)
        if number > MOST_RESAMPLED:
            residuals = sums - np.outer(total, sizes)
            means = rng.multivariate_normal(total, residuals @ residuals.T, DRAWS, method="svd")
        else:
            parts = []
            for _ in range(0, DRAWS, 100):
                counts = rng.multinomial(number, np.full(number, 1 / number), 100)
                parts.append((counts @ sums.T) / (counts @ sizes)[:, None])
            means = np.concatenate(parts)
        lowest = means <= means.min(axis=1, keepdims=True) + 1e-12
        return (lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0)

    @functools.cached_property
    def sets(self) -> list[list[int]]:
        """The largest sets of models, in the order of their means, of which no pair differs significantly."""
        return alike_runs(self.order, self.comparison.corrected < SIGNIFICANCE)

    def models_table(self) -> list[dict[str, Any]]:
        """Return the models, the best first: mean, and difference from the best one.

        sets: letters of the sets of models without a significant difference. first: share of the bootstrap
        samples in which it is the best.
        """
        rows = []
        for model in self.order:
            name, gap = self.models[model], self.comparison.differences[model]
            losses = self.table.methods[model]
            low, high = self._signed(*mean_interval(losses, **self.table.form, least=-math.inf))
            if self.binary:
                low, high = np.clip([low, high], 0.0, 1.0).tolist()
            p_value = math.nan if name == self.best else self.comparison.p_value(self.best, name)
            row = {"task": self.name, "model": name, "items": self.items}
            row |= {"mean": self._signed(float(self.comparison.means[model]))[0], "low": low, "high": high}
            row |= self._gap(gap, None if name == self.best else self.comparison.pairs)
            row |= {"p_holm": p_value, "worse": self.comparison.worse(name)}
            row["sets"] = " ".join(_letter(at) for at, members in enumerate(self.sets) if model in members)
            rows.append(row | {"first": float(self.first_shares[model])})
        return rows

    def pairs_table(self) -> list[dict[str, Any]]:
        """Return all pairs of models; the first one of a pair has the better mean.

        Simultaneous intervals are of all pairs of the task. better: the significantly better model, or None.
        """
        rows = []
        for first, second in combinations(self.order, 2):
            gap, p_holm = self.table.pair(first, second), float(self.comparison.corrected[first, second])
            low, high = self._signed(*gap.interval())
            names = {"task": self.name, "first": self.models[first], "second": self.models[second]}
            ends = self._gap(gap, self.comparison.pairs)
            row = names | {"difference": ends.pop("difference"), "low": low, "high": high} | ends
            better = self.models[first] if p_holm < SIGNIFICANCE else None
            rows.append(row | {"p_value": gap.p_value, "p_holm": p_holm, "better": better})
        return rows

    def _gap(self, gap: Difference, pairs: int | None) -> dict[str, float]:
        """Return a difference with its interval, simultaneous for a number of pairs; without one for None."""
        low, high = (math.nan, math.nan) if pairs is None else self._signed(*gap.interval(pairs))
        (difference,) = self._signed(gap.difference)
        return {"difference": difference, "simultaneous_low": low, "simultaneous_high": high}

    def _signed(self, *losses: float) -> list[float]:
        """Return losses as outcomes, in ascending order."""
        return sorted(self.sign * loss + 0.0 for loss in losses)

    # ---- sentences

    def against(self, model: str) -> str:
        """Return which other models differ significantly from a model of the task."""
        at = self.models.index(model)
        kinds: dict[str, list[str]] = {}
        for model_at in self.order:
            p_value, kind = self.comparison.corrected[at, model_at], "no significant difference"
            if np.isnan(p_value):
                kind = "no test"
            elif p_value < SIGNIFICANCE:
                kind = "better" if self.comparison.means[model_at] < self.comparison.means[at] else "worse"
            if model_at != at:
                kinds.setdefault(kind, []).append(self.models[model_at])
        texts = (f"{kind}: {listed(names)}" for kind, names in kinds.items())
        return f"Against {model}{f' ({self.name})' * bool(self.name)}: {'; '.join(texts)}."

    def amount(self, difference: float) -> str:
        """Return a difference of losses as one of outcomes, with its unit."""
        if not self.binary:
            return plain_number(difference * abs(self.sign))
        text = points(difference)
        return f"{text.removesuffix('.0')} point{'' if text == '1.0' else 's'}"

    def mean_text(self, mean: float) -> str:
        """Return a mean outcome, in per cent if outcomes are right or wrong."""
        return f"{points(mean)} %" if self.binary else plain_number(mean)

    @property
    def sentences(self) -> list[str]:
        """The answer: which models differ, what would have been detected, and how stable the best one is."""
        comparison, rivals = self.comparison, [self.models[model] for model in self.order[1:]]
        mean = self.mean_text(self.sign * float(comparison.means.min()))
        if comparison.same:
            several = len(self.table.split_means[0]) > 1
            both = f"have the same {'mean ' * several}outcome on every item"
            return [f"{listed([self.best, *rivals])} {both} (mean {mean}), so there is no test."]
        if np.isnan(comparison.corrected).any():
            reason = "the rows of a group are not independent, and there are fewer than three splits"
            if self.table.clusters is not None:
                reason = "the items are in fewer than five groups of a similar size, or one group has more "
                reason += "than half of them"
            return [f"No test: {reason}. {self.best} has the best mean ({mean})."]
        alike = self.alike
        worse = [name for name in rivals if name not in alike]
        head = f"No significant difference between {listed([f'{self.best} ({mean})', *alike])}"
        if not alike:
            head = f"{self.best} ({mean}) is better than {listed(worse)}"
        if alike and worse:
            head += f"; {listed(worse)} {'is' if len(worse) == 1 else 'are'} worse"
        nearest = (worse or alike)[0]
        name = f", {nearest}" * (len(worse) > 1) or f"; {nearest} differs" * (not worse)
        stays = percent(float(self.first_shares[self.order[0]]))
        gap = f"{name} by {self._evidence(nearest)}"
        if comparison.differences[self.models.index(nearest)].difference == 0 and len(rivals) == 1:
            gap = "; their means are equal"
        return [
            f"{head}{gap}.",
            self._power,
            f"{self.best} has the best mean in {stays} of the bootstrap samples.",
        ]

    def _evidence(self, name: str) -> str:
        """Return the difference of a model from the best one, with its interval and p-value."""
        comparison = self.comparison
        gap = comparison.differences[self.models.index(name)]
        ends = [end * abs(self.sign) for end in gap.interval(comparison.pairs)]
        low, high = map(points if self.binary else plain_number, ends)
        p_value = p_text(comparison.p_value(self.best, name))
        kind = "simultaneous 95 %" if comparison.pairs > 1 else "95 %"
        p_value = f"p < {p_value[1:]}" if p_value.startswith("<") else f"p = {p_value}"
        return f"{self.amount(gap.difference)} ({kind} interval {low} to {high}, {p_value})"

    @property
    def _power(self) -> str:
        """Return which difference would have been detected, and the items that a smaller one needs."""
        detectable = self.comparison.detectable
        if not math.isfinite(detectable):
            return "There are too few items to detect any difference with 80 % power."
        power = "80 %" if self.table.clusters is None else "60 to 80 %"
        text = f"A difference of {self.amount(detectable)} would probably have been detected ({power} power)"
        if self.table.split_means.shape[1] > 1:
            return f"{text}."
        smaller = _round_below(detectable * abs(self.sign)) / abs(self.sign)
        items = self.items * ((detectable / smaller) ** 2 - 1)
        kind = "" if self.table.clusters is None else " in groups of the same kind"
        number = f"{int(float(f'{items:.2g}')):,}"
        return f"{text}; with {number} more items{kind} {self.amount(smaller)} could be detected."


def _are_equal(first: Sequence[SplitLosses], second: Sequence[SplitLosses]) -> bool:
    """Return whether two methods have the same losses on the same rows of all splits."""
    pairs = zip(first, second, strict=True)
    return all(np.array_equal(losses.values, losses_of_second.values) for losses, losses_of_second in pairs)


def _round_below(value: float) -> float:
    """Return the largest 1, 2 or 5 times a power of 10 that is at most two thirds of a value."""
    power = 10.0 ** math.floor(math.log10(value / 1.5))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= value / 1.5)


def _letter(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    return ("" if number < 26 else _letter(number // 26 - 1)) + chr(97 + number % 26)
