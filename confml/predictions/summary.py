"""`Summary`: counts over all chunks of new rows, and the sentences that they give."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from confml.data.new_rows import NewRows
from confml.measures.coverage_band import covered_probabilities
from confml.measures.regions import smallest_p_notes
from confml.predictions.batch import Batch
from confml.predictions.costs import ABSTAIN
from confml.predictions.model import Model
from confml.predictions.operating_point import point_sentence

_MISSING = ("", "?", "na", "n/a", "nan", "null")
_SHOWN = 5  # features that one warning names
SMALL = 0.05  # probability from which new rows are said not to look exchangeable


class Summary:
    """The guarantee for new rows, and a check of their exchangeability.

    rows, predicted: numbers of new rows, and of those with a prediction. reasons: for each level, the number
    of rows per reason. known: number of new rows with the features of a training row.
    """

    def __init__(self, model: Model, levels: tuple[float, ...]):
        self.model, self.levels = model, tuple(map(float, levels))
        self.rows = self.predicted = self.known = 0
        self.reasons: dict[float, Counter[str]] = {level: Counter() for level in self.levels}
        self.labels = self.errors = self.absent = 0
        self.covered: Counter[float] = Counter()
        self.kind = ""
        self.filled_rows = 0
        self.filled = Counter[str]()
        self.accepted = self.accepted_labels = self.accepted_errors = 0
        self.decided = Counter[str]()
        self.expected_cost = self.cost = 0.0

    def add(self, batch: Batch) -> None:
        """Count the rows of a batch."""
        self.kind = batch.prediction.kind
        self.rows += len(batch.predicted)
        self.predicted += int(batch.predicted.sum())
        for level, reasons in batch.reasons.items():
            self.reasons[level].update(reasons.tolist())
        self.known += self.model.known.count(batch.rows.table)
        for names in batch.filled or ():
            self.filled_rows += bool(names)
            self.filled.update(names)
        if batch.accepted is not None:
            self.accepted += int(batch.accepted.sum())
        if batch.decisions is not None:
            self.decided.update(map(str, batch.decisions.labels))
            self.expected_cost += math.fsum(batch.decisions.costs.tolist())
        self._score(batch, batch.rows)

    def _score(self, batch: Batch, rows: NewRows) -> None:
        if rows.labels is None:
            return
        prediction = batch.prediction
        columns = {str(label): column for column, label in enumerate(prediction.classes.tolist())}
        labels = [rows.labels[row] for row in np.flatnonzero(batch.predicted)]
        for row, label in enumerate(labels):
            if label.lower() in _MISSING:
                continue
            column = columns.get(label, -1)
            self.labels += 1
            self.absent += column < 0
            wrong = bool(column != prediction.predicted_columns[row])
            self.errors += wrong
            if batch.accepted is not None and batch.accepted[row]:
                self.accepted_labels += 1
                self.accepted_errors += wrong
            if batch.decisions is not None and column >= 0:
                self.cost += batch.decisions.true_costs[row, column]
            for level, region in batch.regions.items():
                self.covered[level] += column >= 0 and bool(region[row, column])

    # ---- sentences

    def sentences(self) -> list[str]:
        """The guarantee and its limits, the smallest p-value, exchangeability; then scores."""
        found = [self._guarantee(), *self._exchangeable(), self._point(), self._decisions()]
        return [sentence for sentence in found if sentence]

    def score(self) -> str | None:
        """One sentence on the new rows that have labels, None without any."""
        if not self.labels:
            return None
        text = f"labels of {_count(self.labels)}: error rate {_percent(self.errors, self.labels)}"
        shares = [f"{_percent(self.covered[level], self.labels)} at {level!r}" for level in self._shown()]
        if shares:
            text += f"; coverage {', '.join(shares)}"
        if self.model.point is not None and self.model.point.threshold is not None:
            text += f"; {self.accepted_labels} accepted"
            if self.accepted_labels:
                text += f" with error rate {_percent(self.accepted_errors, self.accepted_labels)}"
        if self.decided and self.labels > self.absent:
            text += f"; mean cost of the decisions {_digits(self.cost / (self.labels - self.absent))}"
        if self.absent:
            text += f"; {_count(self.absent)} of a class that no training row has"
        return text

    def notes(self) -> list[str]:
        """Warnings: unknown categories, rows without a prediction, unreachable levels, training rows."""
        model = self.model
        found = model.coder.unknown_notes()
        if model.costs is not None and model.probability_view is None and not self.decided:
            found.append(f"costs of the config are not used: {model.facts.method} has no probabilities")
        if self.predicted < self.rows:
            left = self.rows - self.predicted
            found.append(
                f"{_count(left)} with missing values {_have(left)} no prediction "
                "(missing: mean predicts them with training means)"
            )
        if self.filled:
            found.append(self._filled_note())
        if self.kind == "p-value":
            by_class = model.facts.is_label_conditional
            found += smallest_p_notes(
                self.levels,
                None if by_class else model.facts.counted_rows,
                model.facts.class_counts if by_class else None,
            )
        if self.known and 2 * self.known >= self.rows:
            found.append(
                f"{self.known} of {_count(self.rows)} {_have(self.known)} the features of a training row: "
                "predictions of rows that were learnt say nothing about new rows"
            )
        return found

    def _filled_note(self) -> str:
        """A warning with the number of values that are filled in."""
        values = self.filled.total()
        names = [f"'{name}' ({count})" for name, count in self.filled.most_common(_SHOWN)]
        if len(self.filled) > _SHOWN:
            names.append(f"... ({len(self.filled)} in all)")
        return (
            f"{values} {'value' if values == 1 else 'values'} of {_count(self.filled_rows)} {_are(values)} "
            f"missing and filled in from the training rows: {', '.join(names)}; column filled lists them"
        )

    def _point(self) -> str | None:
        """The guarantee of the operating point, and the number of accepted rows."""
        point = self.model.point
        if point is None:
            return None
        text = point_sentence(point, self.model.facts.tested_rows, self.kind or self.model.none.kind)
        if point.threshold is not None and self.predicted:
            n, share = self.accepted, _percent(self.accepted, self.predicted)
            text += f" {n} of {_count(self.predicted)} ({share}) {_are(n)} accepted."
        return text

    def _decisions(self) -> str | None:
        """A sentence on the decisions of least expected cost."""
        if not self.decided:
            return None
        n = self.decided.total()
        text = (
            f"Decisions have the least expected cost if the probabilities of {self.model.facts.method} are "
            "right, which is not guaranteed: mean expected cost "
            f"{_digits(self.expected_cost / n)} per row"
        )
        left = self.decided[ABSTAIN]
        return f"{text}; {left} of {_count(n)} ({_percent(left, n)}) {_are(left)} left to abstain."

    def _shown(self) -> tuple[float, ...]:
        return self.levels if self.kind and self.kind != "margin" else ()

    def _guarantee(self) -> str:
        model = self.model
        facts = model.facts
        head = f"{facts.method}{self._params()}, fitted to {_count(facts.fitted_rows)} of {facts.data}"
        if model.facts.is_part:
            head += " (its training part)"
        if self.kind == "margin":
            return (
                f"{head}. The scores are margins: they have no regions and no probability of an error is "
                "guaranteed (--conformal split makes the method conformal)."
            )
        if self.kind != "p-value":
            return (
                f"{head}. A region is the smallest set of labels whose estimated probability is at least "
                "1 - level: no coverage is guaranteed (--conformal split makes the method conformal)."
            )
        return " ".join([head + ".", self._coverage(), self._limits(), self._smallest()])

    def _params(self) -> str:
        shown = [f"{name}: {value}" for name, value in self.model.facts.params.items()]
        return f" {{{', '.join(shown)}}}" if shown else ""

    def _coverage(self) -> str:
        facts = self.model.facts
        rows = "new rows are exchangeable with the training rows"
        least = []
        for level in self.levels:
            bound = 1 - self._error_bound(level)
            if bound > 0:
                least.append(f"{_digits(100 * bound)} % at level {level!r}")
        if not least:
            return f"If {rows}, no coverage is guaranteed at these levels."
        per = " of each class" if facts.is_label_conditional else ""
        if facts.is_clustered:
            per = " of the classes of each cluster"
        text = f"If {rows}, a region holds the true label{per} with probability at least {', '.join(least)}."
        if facts.is_clustered:
            text += (
                " Classes with too few calibration rows for a cluster have no bound, so with such classes "
                "there is none for all rows together."
            )
        return text + self._step_words()

    def _breaks(self) -> str | None:
        """The reason why the guarantee does not hold, None where it does."""
        model = self.model
        if model.facts.noise:
            return "the config adds noise to the training rows"
        biased = [step.name for step in model.facts.steps if step.breaks_exchangeability]
        if model.facts.is_conformal or not biased:
            return None
        verb = "makes" if len(biased) == 1 else "make"
        return f"{' and '.join(biased)} {verb} training rows more ordinary than new rows"

    def _step_words(self) -> str:
        """Sentences on steps and groups that weaken the guarantee."""
        model = self.model
        broken = self._breaks()
        if broken is not None:
            more = "" if model.facts.noise else " (a method with --conformal split keeps the guarantee)"
            return f" That does not hold here: {broken}{more}."
        text = ""
        learnt = [step.name for step in model.facts.steps if step.learns]
        if learnt and not model.facts.is_conformal:
            text = (
                f" The bound is approximate here, because {' and '.join(learnt)} "
                f"{'is' if len(learnt) == 1 else 'are'} learnt from the training rows alone (a method with "
                "--conformal split keeps it exact)."
            )
        if model.facts.groups:
            text += (
                " Rows of new groups are not exchangeable with the training rows if rows of one group are "
                "alike."
            )
        return text

    def _error_bound(self, level: float) -> float:
        """The bound on the probability that a region at a level does not hold the true label."""
        model = self.model
        if model.facts.params.get("conformal") != "cross":
            return level
        folds = int(model.facts.params.get("conformal__folds", 5))
        rows = (
            min(model.facts.class_counts.values())
            if model.facts.is_label_conditional
            else model.facts.counted_rows
        )
        return 2 * (level + (1 - level) * (folds - 1) / (rows + folds))

    def _limits(self) -> str:
        single = "a single row"
        if not self.model.facts.is_label_conditional:
            single += ", for a single class (--per-class guarantees that)"
        return (
            f"This is an average over training sets and new rows. It is not guaranteed for {single} or for "
            "rows of another kind than the training rows."
        )

    def _smallest(self) -> str:
        model = self.model
        if model.facts.is_label_conditional:
            label, rows = min(model.facts.class_counts.items(), key=lambda item: item[1])
            return (
                f"The smallest possible p-value is 1/{rows + 1} = {1 / (rows + 1):.2g} for the smallest "
                f"class, {label}."
            )
        rows = model.facts.counted_rows
        return f"The smallest possible p-value is 1/{rows + 1} = {1 / (rows + 1):.2g}."

    def _exchangeable(self) -> list[str]:
        """Atypical rows at the smallest level that can exclude a label, with the probability of so many."""
        if not self.predicted:
            return []
        if self.kind != "p-value":
            return ["Exchangeability of new and training rows is not checked: that needs p-values."]
        facts = self.model.facts
        rows = min(facts.class_counts.values()) if facts.is_label_conditional else facts.counted_rows
        counted = rows + 1
        level = next((one for one in sorted(self.levels) if one >= 1 / counted), None)
        if level is None:
            return []
        n, atypical = self.predicted, self.reasons[level]["atypical"]
        text = (
            f"{atypical} of {_count(n)} ({_percent(atypical, n)}) {_are(atypical)} atypical at level "
            f"{level!r} (no label has a larger p-value)"
        )
        bound = min(1.0, self._error_bound(level))
        if self._breaks() is not None or facts.groups or facts.is_clustered or bound >= 1:
            return [text + "."]
        p, how = self._probability(atypical, n, level, counted, bound)
        verdict = (
            "the new rows do not look exchangeable with the training rows, so the guarantee may not hold"
            if p <= SMALL
            else "this is consistent with exchangeable rows"
        )
        return [
            f"{text}. For exchangeable rows the expected share is at most {_digits(100 * bound)} %, and the "
            f"p-value of this batch is {p:.2g} ({how}): {verdict}."
        ]

    def _probability(
        self, atypical: int, n: int, level: float, counted: int, bound: float
    ) -> tuple[float, str]:
        """A bound on the probability of at least ``atypical`` atypical rows among n exchangeable ones.

        An atypical row is an error. Errors of split conformal prediction are beta-binomial given the
        calibration examples, fewer with ties; in other cases only their expected number is bounded.
        """
        model = self.model
        params = model.facts.params
        exact = params.get("conformal") == "split" and not model.facts.is_label_conditional
        exact = exact and not params.get("conformal__classes")
        if exact and not model.facts.params.get("conformal__smoothed"):
            covered = covered_probabilities(n, counted, level)
            return min(1.0, float(math.fsum(covered[: n - atypical + 1]))), "beta-binomial"
        return min(1.0, n * bound / max(atypical, 1)), "Markov's inequality"


def _count(rows: int) -> str:
    return f"{rows} row" if rows == 1 else f"{rows} rows"


def _have(rows: int) -> str:
    return "has" if rows == 1 else "have"


def _are(rows: int) -> str:
    return "is" if rows == 1 else "are"


def _percent(part: int, whole: int) -> str:
    return f"{_digits(100 * part / whole)} %"


def _digits(value: float) -> str:
    """A number with three digits, without zeros at the end."""
    return f"{value:.3g}" if abs(value) < 99.95 else f"{value:.5g}"
