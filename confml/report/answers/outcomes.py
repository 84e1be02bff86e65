"""`TaskComparison`: models compared on the items of a task, and `OutcomeAnswer`, the answer over tasks."""

import functools
import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from confml.data.outcomes import TaskOutcomes
from confml.data.text_table import counted
from confml.errors import ConfmlError
from confml.measures.ranks import alike_runs, signed_rank
from confml.report.answers.comparisons import Comparisons
from confml.report.answers.datasets import Ranking, rank
from confml.report.answers.differences import (
    FEW_SPLITS,
    SIGNIFICANCE,
    LossTable,
    SplitLosses,
    compare_lines,
    mean_interval,
)
from confml.report.answers.text import best_on, caution, listed, p_text, percent, plain_number, points

DRAWS = 2000
"""Resampled tables, from which the probability to be the first is computed."""
MOST_RESAMPLED = 5000
"""Items or groups above which means of resampled tables are drawn from their normal limit."""


class Pair(NamedTuple):
    """Difference of the means of two models, with its intervals and p-values.

    simultaneous_low, simultaneous_high: interval of all pairs of the task together. better: the significantly
    better model, or None.
    """

    task: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    p_value: float
    p_holm: float
    better: str | None


class Model(NamedTuple):
    """Mean of a model, and its difference from the best one.

    sets: letters of the sets of models without a significant difference. first: share of the resampled tables
    in which it is the best.
    """

    task: str
    model: str
    items: int
    mean: float
    low: float
    high: float
    difference: float
    simultaneous_low: float
    simultaneous_high: float
    p_holm: float
    worse: bool
    sets: str
    first: float


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
            text = f"Items are in {counted(len(shares), 'group')}, as many as {effective:.1f} of equal size."
            self.notes.append(text)
        self.notes += [f"{care[0].upper()}{care[1:]}."] if care else []

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
            notes.append(f"{weak[0].upper()}{weak[1:]}.")
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
        """Return (K,) the share of resampled tables in which each model is the best; ties share a table."""
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

    def rows(self) -> list[Model]:
        """Return the models, the best first."""
        rows = []
        for model in self.order:
            name, gap = self.models[model], self.comparison.differences[model]
            p_value = math.nan if name == self.best else self.comparison.p_value(self.best, name)
            letters = [_letter(at) for at, members in enumerate(self.sets) if model in members]
            (mean,) = self._signed(float(self.comparison.means[model]))
            losses = self.table.methods[model]
            interval = self._signed(*mean_interval(losses, **self.table.form, least=-math.inf))
            if self.binary:
                interval = np.clip(interval, 0.0, 1.0).tolist()
            ends = (math.nan, math.nan) if name == self.best else gap.interval(self.comparison.pairs)
            row = [self.name, name, self.items, mean, *interval, *self._signed(gap.difference)]
            row += [*self._signed(*ends), p_value, self.comparison.worse(name), " ".join(letters)]
            rows.append(Model._make([*row, float(self.first_shares[model])]))
        return rows

    def pairs(self) -> list[Pair]:
        """Return all pairs of models; the first one of a pair has the better mean."""
        rows = []
        for at, first in enumerate(self.order):
            for second in self.order[at + 1 :]:
                gap = self.table.pair(first, second)
                p_holm = float(self.comparison.corrected[first, second])
                row = [self.name, self.models[first], self.models[second], *self._signed(gap.difference)]
                for pairs in (1, self.comparison.pairs):
                    row += self._signed(*gap.interval(pairs))
                better = self.models[first] if p_holm < SIGNIFICANCE else None
                rows.append(Pair._make([*row, gap.p_value, p_holm, better]))
        return rows

    def _signed(self, *losses: float) -> list[float]:
        """Return losses as outcomes, in ascending order."""
        return sorted(self.sign * loss + 0.0 for loss in losses)

    # ---- sentences

    def against(self, model: str) -> str:
        """Return which other models differ significantly from a model of the task."""
        at = self.models.index(model)
        kinds: dict[str, list[str]] = {}
        for other in self.order:
            p_value, kind = self.comparison.corrected[at, other], "no significant difference"
            if np.isnan(p_value):
                kind = "no test"
            elif p_value < SIGNIFICANCE:
                kind = "better" if self.comparison.means[other] < self.comparison.means[at] else "worse"
            if other != at:
                kinds.setdefault(kind, []).append(self.models[other])
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
        comparison, others = self.comparison, [self.models[model] for model in self.order[1:]]
        mean = self.mean_text(self.sign * float(comparison.means.min()))
        if comparison.same:
            several = len(self.table.split_means[0]) > 1
            both = f"have the same {'mean ' * several}outcome on every item"
            return [f"{listed([self.best, *others])} {both} (mean {mean}), so there is no test."]
        if np.isnan(comparison.corrected).any():
            reason = "the rows of a group are not independent, and there are fewer than three splits"
            if self.table.clusters is not None:
                reason = "the items are in fewer than five groups of a similar size, or one group has more "
                reason += "than half of them"
            return [f"No test: {reason}. {self.best} has the best mean ({mean})."]
        alike = self.alike
        worse = [name for name in others if name not in alike]
        head = f"No significant difference between {self.best} ({mean}) and {listed(alike)}"
        if not alike:
            head = f"{self.best} ({mean}) is better than {listed(worse)}"
        if alike and worse:
            head += f"; {listed(worse)} {'is' if len(worse) == 1 else 'are'} worse"
        nearest = (worse or alike)[0]
        name = f", {nearest}" if max(len(worse), len(alike) if not worse else 0) > 1 else ""
        stays = percent(float(self.first_shares[self.order[0]]))
        gap = f"{name} by {self._evidence(nearest)}"
        if comparison.differences[self.models.index(nearest)].difference == 0 and not name:
            gap = "; their means are equal"
        return [
            f"{head}{gap}.",
            self._power,
            f"{self.best} has the best mean in {stays} of the resampled tables.",
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
            return "No possible difference would probably have been detected: there are too few items."
        power = "80 %" if self.table.clusters is None else "60 to 80 %"
        text = f"A difference of {self.amount(detectable)} would probably have been detected ({power} power)"
        if self.table.split_means.shape[1] > 1:
            return f"{text}."
        smaller = _round_below(detectable * abs(self.sign)) / abs(self.sign)
        items = self.items * ((detectable / smaller) ** 2 - 1)
        kind = "" if self.table.clusters is None else " in groups of the same kind"
        number = f"{int(float(f'{items:.2g}')):,}"
        return f"{text}; with {number} more items{kind} {self.amount(smaller)} could be."


def _are_equal(first: Sequence[SplitLosses], second: Sequence[SplitLosses]) -> bool:
    """Return whether two methods have the same losses on the same rows of all splits."""
    pairs = zip(first, second, strict=True)
    return all(np.array_equal(losses.values, others.values) for losses, others in pairs)


def _round_below(value: float) -> float:
    """Return the largest 1, 2 or 5 times a power of 10 that is at most two thirds of a value."""
    power = 10.0 ** math.floor(math.log10(value / 1.5))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= value / 1.5)


def _letter(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    return ("" if number < 26 else _letter(number // 26 - 1)) + chr(97 + number % 26)


# ---- over tasks


class ModelRank(NamedTuple):
    """A model over the tasks. best, better, worse: numbers of tasks on which it has the best mean, is better
    than all others, and is worse than the best one."""

    model: str
    tasks: int
    mean_rank: float
    best: int
    better: int
    worse: int


class SignedRank(NamedTuple):
    """Bayesian signed-rank test of the mean outcomes of the model with the best mean rank and another one.

    first_better, equivalent, second_better: posterior probabilities that add up to 1. Mean differences within
    ``rope`` of 0 are equivalent.
    """

    first: str
    second: str
    tasks: int
    rope: float
    first_better: float
    equivalent: float
    second_better: float


class OutcomeAnswer:
    """The answer of all tasks: ``sentences`` first, then ``notes``.

    models, pairs: rows of all tasks. ranks, signed_ranks: of the models over the tasks, the best first; empty
    for one task, signed_ranks also for scores, which have units of their own. rope: see `SignedRank`. failed:
    pairs of task and model that have the last rank.
    """

    def __init__(
        self,
        tasks: Sequence[TaskComparison],
        notes: Sequence[str],
        rope: float = 0.01,
        failed: Collection[tuple[str, str]] = (),
    ):
        self.tasks, self.ranks, self.signed_ranks = list(tasks), list[ModelRank](), list[SignedRank]()
        self.models = [row for task in tasks for row in task.rows()]
        self.pairs = [row for task in tasks for row in task.pairs()]
        if len(tasks) == 1:
            self.sentences, self.notes = tasks[0].sentences, [*tasks[0].notes, *notes]
            return
        of_note: dict[str, list[str]] = {}
        for task in tasks:
            for note in task.notes:
                of_note.setdefault(note, []).append(task.name)
        self.notes = [f"{listed(names)}: {note}" for note, names in of_note.items()] + list(notes)
        ranked = {(task.name, model) for task in tasks for model in task.ranked}
        means = {key: row.mean for row in self.models if (key := (row.task, row.model)) in ranked}
        names = [task.name for task in tasks], list(dict.fromkeys(model for _, model in means))
        ranking = rank(means, names, tasks[0].sign < 0, "", failed, ("task", "model"))
        self.sentences = [self._wins()]
        if ranking is not None:
            self.ranks = self._ranks(ranking)
            if all(task.binary for task in tasks):
                self.signed_ranks = _signed_rank(ranking, 1 if tasks[0].sign < 0 else -1, rope)
            order = listed([f"{row.model} {row.mean_rank:.2f}" for row in self.ranks], 6)
            ranks = f"Mean ranks over {len(ranking.datasets)} tasks: {order}. {ranking.sentence}"
            self.sentences.insert(0, ranks)
            self.notes += [ranking.missing] if ranking.missing else []
        else:
            self.notes.append("No ranks: no two models have outcomes on the same two tasks.")

    def against(self, name: str) -> list[str]:
        """Return a sentence for each task: which models differ from the one whose name begins with ``name``.

        Raises ConfmlError unless one model has this name, or this beginning of a name.
        """
        models = list(dict.fromkeys(model for task in self.tasks for model in task.models))
        fitting = [model for model in models if model == name] or [
            model for model in models if model.startswith(name)
        ]
        if len(fitting) != 1:
            message = f"against: expected the name of one model or its beginning, got {name!r}"
            raise ConfmlError(message, hint=f"the models are {listed(fitting or models)}")
        return [task.against(fitting[0]) for task in self.tasks if fitting[0] in task.models]

    @property
    def tables(self) -> dict[str, Sequence[Any]]:
        """The rows of the tables by name; no ranks for one task."""
        tables: dict[str, Sequence[Any]] = {"models": self.models, "pairs": self.pairs}
        tables |= {"ranks": self.ranks, "signed_ranks": self.signed_ranks}
        return {name: rows for name, rows in tables.items() if rows}

    def _ranks(self, ranking: Ranking) -> list[ModelRank]:
        rows = []
        for at in ranking.by_rank:
            name = ranking.labels[at]
            tasks = [task for task in self.tasks if name in task.models]
            rows.append(
                ModelRank(
                    *(name, len(tasks), float(ranking.comparison.mean_ranks[at])),
                    sum(name in task.comparison.lowest for task in tasks),
                    sum(task.best == name and not task.alike for task in tasks),
                    sum(task.comparison.worse(name) for task in tasks),
                )
            )
        return rows

    def _wins(self) -> str:
        """Return which model has the best mean on which tasks, and on how many it is clearly the best."""
        best = best_on(
            ((listed(task.comparison.lowest), task.name) for task in self.tasks), ("model", "tasks")
        )
        clear = sum(not task.alike for task in self.tasks)
        stated = sorted(n for task in self.tasks if math.isfinite(n := task.comparison.detectable))
        if not all(task.binary for task in self.tasks):  # scores of tasks have units of their own
            stated = []
        amounts = list(dict.fromkeys(map(self.tasks[0].amount, stated[:1] + stated[-1:])))
        power = " to ".join([*(amount.split()[0] for amount in amounts[:-1]), *amounts[-1:]])
        text = f"Best mean: {best}. On {clear} of {len(self.tasks)} tasks the best model is better than "
        text += "all others (5 % for each task)."
        grouped = any(task.table.clusters is not None for task in self.tasks)
        chance = "60 to 80 %" if grouped else "80 %"
        detected = f" Differences of {power}, depending on the task, would probably have been detected "
        detected += f"({chance} power)."
        return text + detected * bool(stated)


def _signed_rank(ranking: Ranking, sign: int, rope: float) -> list[SignedRank]:
    """Return the tests of the first model with each other one. sign: 1 if higher means are better, or -1."""
    best, *others = [ranking.labels[at] for at in ranking.by_rank]
    rows = []
    for other in others:
        test = signed_rank(sign * (ranking.scores[best] - ranking.scores[other]).to_numpy(), rope)
        shares = test.first_larger, test.equivalent, test.second_larger
        rows.append(SignedRank(best, other, test.cases, rope, *shares))
    return rows
