"""`Summary`: counts over all chunks of new rows, and the sentences that they give."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from confml.data.text_table import TextTable, counted
from confml.errors import in_quotes
from confml.measures.prediction import WITHOUT_REGIONS
from confml.measures.regions import level_note, smallest_p_notes
from confml.plugins.parameters import value_text
from confml.predictions.batch import Batch, Output, predict_tables
from confml.predictions.decision_costs import DecisionCosts
from confml.predictions.exchangeability import ExchangeabilityCheck
from confml.predictions.guarantee import MORE, Guarantee, are, have, listed, percent, row_count
from confml.predictions.model import Model
from confml.predictions.operating_point import point_sentence
from confml.runner.warnings import OF_TRAINING

FEW_FOR_SHIFT = 100  # new rows below which estimated class frequencies are called uncertain


class Summary:
    """The guarantee for new rows, and a check of their exchangeability.

    notes: on the data of the fit, the model, and columns that are not used.
    """

    def __init__(self, model: Model, output: Output):
        self.model = model = replace(model, coder=model.coder.without_counts())
        self.output, self.levels = output, output.levels
        self.notes = [*model.facts.notes, *model.notes]
        self.guarantee = Guarantee(model, self.levels)
        self.check = ExchangeabilityCheck(model, self.guarantee, output.drift)
        self.kind = model.none.kind
        self.labels = self.errors = self.absent = self.ungrouped = self.filled_rows = 0
        self.filled = Counter[str]()
        self.accepted = self.accepted_labels = self.accepted_errors = 0
        self.costs = DecisionCosts()

    def answers(self, tables: Iterator[TextTable], say: Callable[[str], None]) -> Iterator[Batch]:
        """Iterate over the predictions of chunks of new rows, after checking their columns. say: of notes."""
        first = next(tables)
        for note in self.model.coder.check_columns(first):
            self.notes.append(note)
            say(f"note: {note}")
        for batch in predict_tables(self.model, itertools.chain([first], tables), self.output):
            self._add(batch)
            yield batch

    def _add(self, batch: Batch) -> None:
        """Count the rows of a batch, and errors, accepted rows and costs of those with labels."""
        groups = batch.prediction.extra.get("group")
        self.ungrouped += 0 if groups is None else int((groups < 0).any(axis=1).sum())
        self.check.add(batch)
        for names in batch.filled or ():
            self.filled_rows += bool(names)
            self.filled.update(names)
        positions, columns = batch.labelled
        is_known, wrong = columns >= 0, columns != batch.prediction.predicted_columns[positions]
        self.labels += len(positions)
        self.absent += int((~is_known).sum())
        self.errors += int(wrong.sum())
        if batch.accepted is not None:
            accepted = batch.accepted[positions]
            self.accepted += int(batch.accepted.sum())
            self.accepted_labels += int(accepted.sum())
            self.accepted_errors += int((accepted & wrong).sum())
        if batch.decisions is not None:
            self.costs.add(batch.decisions, positions[is_known], columns[is_known])

    # ---- sentences

    def sentences(self) -> list[str]:
        """Return the guarantee in two lines, a line for each exception and each option."""
        # Where the new rows differ, a warning says so.
        tested = "" if self.check.alarms() else f" {self.check.verdict()}".rstrip()
        if self.kind == "p-value":
            lines = self.guarantee.lines(self._fit(), tested)
        else:
            lines = [f"{self._fit()}. {self._without_bound()}", f"{tested} ({MORE})".strip()]
        costs = self.costs.sentences(self.model.facts.method)
        return [line for line in (*lines, self._point(), *costs) if line]

    def lines(self) -> list[str]:
        """Return `sentences`, the score, and the classes that regions contain too rarely."""
        return [*self.sentences(), *filter(None, [self.score()]), *self.check.class_sentences()]

    def warnings(self) -> list[str]:
        """Return warnings on the data, and a sentence on the tests in which the new rows differ."""
        return [*self._warnings(), *self.check.alarms()]

    def facts(self) -> dict[str, Any]:
        """Return everything about the new rows together, as plain values: the keys of ``--json``."""
        facts = self.model.facts
        return {
            "method": facts.method,
            "params": dict(facts.params),
            "levels": list(self.levels),
            "guarantee": self.sentences(),
            "warnings": self.warnings(),
            "notes": self.notes,
            "tests": [
                {"test": name, "text": finding.text, "p": finding.p, "differs": finding.differs}
                for name, finding in self.check.tests().items()
            ],
            "score": self.score(),
            "classes": self.check.class_sentences(),
        }

    def score(self) -> str | None:
        """Return one sentence on the new rows that have labels, None without any."""
        if not self.labels:
            return None
        text = f"{row_count(self.labels)} with labels: error rate {percent(self.errors, self.labels)}"
        if shares := self._coverages(self.labels):
            text += f"; coverage {shares}"
        if self.model.point is not None and self.model.point.threshold is not None:
            text += f"; {self.accepted_labels} accepted"
            if self.accepted_labels:
                text += f" with error rate {percent(self.accepted_errors, self.accepted_labels)}"
        text += self.costs.score()
        if self.absent:
            text += f"; {row_count(self.absent)} {have(self.absent)} a class that is absent from the "
            text += "training rows"
            present = self.labels - self.absent
            if present and (shares := self._coverages(present)):
                text += f"; coverage of the other rows {shares}"
        return text

    def _coverages(self, rows: int) -> str:
        """Return the coverage of so many labelled rows at each level, with its band for training classes."""
        has_band = rows == self.labels - self.absent and self.kind == "p-value"
        shares = [(percent(self.check.covered[level], rows), level) for level in self._shown()]
        return ", ".join(
            f"{share} at {level!r}{self.check.band(level) if has_band else ''}" for share, level in shares
        )

    def _warnings(self) -> list[str]:
        """Return warnings on unknown categories, rows without prediction, unreachable levels."""
        model = self.model
        notes = [note for note in map(level_note, self._shown()) if note is not None]
        notes += model.coder.unknown_notes()
        if model.costs is not None and model.probability_view is None and not self.costs.rows:
            notes.append(f"costs of the config are not used: {model.facts.method} has no probabilities")
        facts, part = model.facts, "the training set"
        rows = facts.fitted_rows
        if facts.method == "tcm-nn":
            rows, part = min(facts.class_counts.values()), "its smallest class"
        for name in OF_TRAINING:
            if isinstance(k := facts.params.get(name), int) and k >= rows:
                notes.append(f"{name} = {k} of {facts.method} is not smaller than {part} ({row_count(rows)})")
        if self.check.predicted < self.check.rows:
            left = self.check.rows - self.check.predicted
            notes.append(
                f"{row_count(left)} with missing values {have(left)} no prediction; missing: mean "
                "(--missing mean) fills in training means"
            )
        if self.filled:
            notes.append(self._filled_note())
        if model.facts.shift and self.check.predicted < FEW_FOR_SHIFT:
            notes.append(f"class frequencies are estimated from only {row_count(self.check.predicted)}")
        if self.ungrouped:
            notes.append(
                f"{row_count(self.ungrouped)} {are(self.ungrouped)} in groups without calibration rows: "
                "all labels have p-value 1"
            )
        if self.kind == "p-value" and not model.facts.shift and "tau" not in model.none.extra:
            counts: Mapping[Any, int] = {None: model.facts.counted_rows}
            kind = ""
            if model.facts.group_rows:
                counts, kind = model.facts.group_rows, "groups of by"
            elif model.facts.is_label_conditional:
                counts, kind = model.facts.class_counts, "classes"
            noun = "calibration row" if model.facts.is_conformal else "training row"
            notes += smallest_p_notes(self.levels, counts, kind, noun=noun)
        return notes

    def _filled_note(self) -> str:
        """Return a warning with the number of values that are filled in."""
        values = self.filled.total()
        features = listed([f"{in_quotes(name)} ({count})" for name, count in self.filled.most_common()])
        return (
            f"{counted(values, 'value')} of {row_count(self.filled_rows)} {are(values)} missing and filled "
            f"in from the training rows: {features}; column filled lists them"
        )

    def _point(self) -> str | None:
        """Return the guarantee of the operating point, and the number of accepted rows."""
        point = self.model.point
        if point is None:
            return None
        text = point_sentence(point, self.model.facts.tested_rows, self.kind)
        if point.threshold is not None and self.check.predicted:
            n, share = self.accepted, percent(self.accepted, self.check.predicted)
            text += f" {n} of {row_count(self.check.predicted)} ({share}) {are(n)} accepted."
        return text

    def _shown(self) -> tuple[float, ...]:
        return self.levels if self.kind not in WITHOUT_REGIONS else ()

    def _fit(self) -> str:
        """Return the method, its parameters, and the rows that it is fitted to."""
        facts = self.model.facts
        shown = [f"{name}: {value_text(value)}" for name, value in facts.params.items()]
        params = f" {{{', '.join(shown)}}}" if shown else ""
        part = " (its training part)" if facts.training_rows < facts.rows else ""
        return f"{facts.method}{params}, fitted to {row_count(facts.fitted_rows)} of {facts.data}{part}"

    def _without_bound(self) -> str:
        """Return that a view without p-values has no guarantee."""
        if self.kind in WITHOUT_REGIONS:
            what = f"Scores that are {self.kind}s have no regions, and no error probability is guaranteed"
        else:
            what = (
                "A region is the smallest set of labels whose estimated probability is at least "
                "1 - level: no coverage is guaranteed"
            )
        return f"{what} (--conformal split makes the method conformal)."
