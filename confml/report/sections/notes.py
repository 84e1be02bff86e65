"""Notes on the numbers of a run: missing cells, warnings from its results, chains that did not converge."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from confml.config import Config
from confml.config.warnings import Warned, unsilenced, warning_texts
from confml.measures.guarantees import region_promise
from confml.measures.p_values import has_label_conditional_p_values
from confml.measures.regions import smallest_p_notes
from confml.methods.details import ChainSummary
from confml.methods.divisions import DIVISIONS
from confml.report.answers.promises import StepFacts, has_only_p_values
from confml.report.items import Item, Note
from confml.report.run.one_pass import Collector
from confml.report.run.results import RunResults
from confml.report.sections.base import Section
from confml.runner.results import CellResult

CONSTANT_ROWS = 10
"""Number of test rows of a method from which the same prediction for all of them is a warning."""


def result_warnings(results: RunResults) -> tuple[Warned, ...]:
    """Return the warnings that follow from the finished cells."""
    found = results.collected(WarningFacts)
    return (*_small_levels(results, found.fewest), *_constant(found.predicted))


class Fewest(NamedTuple):
    """Smallest number of examples that p-values are counted among, the method, and one of them by name."""

    rows: int
    method: str
    noun: str


class Group(NamedTuple):
    """A group of ``by`` by name, to tell it from a class."""

    name: str


class WarningFacts(Collector):
    """Numbers of the finished cells that warnings depend on.

    fewest: by data set and label of label-conditional p-values, `Group` of ``by``, None for others.
    predicted: by data set and label of the method, predicted and true labels and number of test rows.
    """

    def __init__(self, results: RunResults):
        super().__init__(results)
        self.fewest: dict[str, dict[Any, Fewest]] = {}
        self.predicted: dict[tuple[str, str], tuple[set, set, int]] = {}

    def add(self, result: CellResult) -> None:
        key = name, _ = result.cell.dataset, self.results.label(result.cell)
        labels, truths, rows = self.predicted.get(key, (set(), set(), 0))
        first = next(iter(result.views.values()), None)
        if first is not None and len(labels) < 2:
            labels |= set(first.labels.tolist())
            truths |= set(result.truth.tolist())
        self.predicted[key] = labels, truths, rows + len(result.truth)
        if not any(view.kind == "p-value" for view in result.views.values()):
            return
        # P-values of a conformal method are counted among its calibration examples only.
        own, metrics = result.views.fit_details.calibration_rows, result.views.fit_metrics
        noun = "training row" if own is None and "calibration_rows" not in metrics else "calibration row"
        counts: dict = {None: int(metrics.get("calibration_rows", result.train_rows))}
        divisions = result.views.fit_details.other.get(DIVISIONS)
        if divisions:
            counts = {
                Group(group): rows
                for division in divisions
                for group, rows in zip(division["groups"], division["rows"], strict=True)
            }
        elif has_label_conditional_p_values(result.cell.params):
            counts = dict(result.train_class_counts.items() if own is None else own)
        known = self.fewest.setdefault(name, {})
        for label, n in counts.items():
            if label not in known or n < known[label].rows:
                known[label] = Fewest(n, key[1], noun)


def _small_levels(results: RunResults, fewest: Mapping[str, Mapping[Any, Fewest]]) -> Iterator[Warned]:
    for name, known in fewest.items():
        groups = [label for label in known if isinstance(label, Group)]
        classes = sorted(set(known) - {None, *groups})
        given: list[tuple[dict[str, Any], Fewest]] = []
        for label in (*({None} & set(known)), *classes):
            rows = known[label].rows
            counts = {"counted_rows": rows} if label is None else {"class_counts": {label: rows}}
            given.append((counts, known[label]))
        for method in dict.fromkeys(known[group].method for group in groups):
            own = {group.name: known[group] for group in groups if known[group].method == method}
            rows_of = {group: fewest.rows for group, fewest in own.items()}
            given.append(({"group_counts": rows_of}, next(iter(own.values()))))
        for counts, fewest_one in given:
            _, method, noun = fewest_one
            for note in smallest_p_notes(results.config.levels, **counts, of=method, noun=noun):
                yield Warned("level-too-small", note, "use larger levels or more rows", name)


def _constant(predicted: Mapping[tuple[str, str], tuple[set, set, int]]) -> Iterator[Warned]:
    for (dataset, label), (labels, truths, rows) in predicted.items():
        if len(labels) == 1 and len(truths) > 1 and rows >= CONSTANT_ROWS:
            sentence = f"{label} predicts class {next(iter(labels))} for all {rows} test rows"
            remedy = "check its parameters and the scale of the features"
            yield Warned("constant-predictions", sentence, remedy, dataset)


class ChainWarnings(Collector):
    """Splits with chains, and number and worst of those whose chains have warnings, by data set and label."""

    def __init__(self, results: RunResults):
        super().__init__(results)
        self.splits: dict[tuple[str, str], int] = {}
        self.bad: dict[tuple[str, str], tuple[int, ChainSummary]] = {}

    def add(self, result: CellResult) -> None:
        chains = result.views.fit_details.chains
        if chains is None:
            return
        key = (result.cell.dataset, self.results.label(result.cell))
        self.splits[key] = self.splits.get(key, 0) + 1
        if chains.warnings:
            count, worst = self.bad.get(key, (0, chains))
            if (chains.worst_rhat, -chains.least_ess) > (worst.worst_rhat, -worst.least_ess):
                worst = chains
            self.bad[key] = count + 1, worst


class Notes(Section):
    """``notes.txt``: caveats about the numbers, one sentence per line.

    Warnings end with their code in brackets, such as ``[unscaled-features]``. ``confml describe --type
    warning`` lists the codes, and ``silence: [unscaled-features]`` in the config leaves out the warnings of
    a code.
    """

    name = "notes"
    place = 170
    files = {"notes.txt": "notes on the numbers, one per line"}
    collectors = (ChainWarnings, WarningFacts)

    def items(self) -> Iterator[Item]:
        yield from map(Note, notes_of(self.results))


@functools.lru_cache(maxsize=1)  # they need all cells, and several sections show them
def notes_of(results: RunResults) -> list[str]:
    """Return notes on missing cells and the data, warnings, and notes on steps and chains."""
    notes = []
    planned, done = len(results.cells), results.done
    if done < planned:
        failed = f", {len(results.failures)} failed (failures.csv)" if results.failures else ""
        notes.append(
            f"{done} of {planned} cells are done{failed}; all numbers are from the cells that are done"
        )
    for name, info in sorted(results.datasets.items()):
        notes += [f"{name}: {note}" for note in info.notes]
    notes += _origin_notes(results)
    warned = unsilenced([*results.warnings, *result_warnings(results)], results.config.silence)
    notes += [f"warning: {text}" for text in warning_texts(warned)]
    notes += step_notes(results.config)
    return [*notes, *_chain_notes(results)]


def _origin_notes(results: RunResults) -> list[str]:
    """Return a note for each table file whose lines an older version of confml did not store."""
    return [
        f"{spec.name}: regions/ has no lines of the file, because the run was started by an older version of "
        "confml; run its config again, which keeps the finished cells"
        for spec in results.config.datasets
        if spec.csv is not None and spec.name in results.datasets and spec.name not in results.origins
    ]


def _chain_notes(results: RunResults) -> list[str]:
    """Return one note per variant and data set whose chains have warnings; it quotes the worst split."""
    collected = results.collected(ChainWarnings)
    notes = []
    for (dataset, label), (count, worst) in collected.bad.items():
        all_splits = collected.splits[dataset, label]
        where = f" on {count} of {all_splits} splits, at worst" if all_splits > 1 else ""
        notes.append(f"{dataset}, {label}: the chains did not converge{where}: {'; '.join(worst.warnings)}")
    return notes


def step_notes(config: Config) -> list[str]:
    """Return notes on the steps of a config that break exchangeability and make p-values too small, and on
    the methods whose bound is approximate: steps are fitted to the rows that p-values are counted among, or
    parameters are selected with their labels.

    Methods with ``conformal`` are not concerned: their steps learn from the examples that the classifier is
    fitted to, not from the calibration part.
    """
    affected = [
        one
        for one in config.methods
        if one.conformal is None and (config.steps or one.tune) and has_only_p_values(one.name)
    ]  # without steps and tune the methods are not imported
    if not affected:
        return []
    steps = StepFacts.of(config)
    names = steps.breaking
    notes: dict[str, None] = {}
    for entry in affected:
        promise = region_promise(False, steps.breaking, steps.fitted, list(entry.tune or ()), False)
        if reasons := promise.approximate:
            name, why = entry.label or entry.name, ", and ".join(reasons)
            text = f"{name}: the bound of its p-values is approximate, because {why}"
            notes[text] = None
    for name in steps.unknown:
        notes[
            f"step {name} is not imported here, so it is not known if it makes p-values too small; "
            f"add --allow-import {name.partition('.')[0]} to find out"
        ] = None
    if not names:
        return list(notes)
    what = "makes" if len(names) == 1 else "make"
    methods = " and ".join(dict.fromkeys(entry.name for entry in affected))
    return [
        *notes,
        f"{' and '.join(names)} {what} training examples conform better than test examples: p-values of "
        f"{methods} are too small, and regions err more often than their level; "
        "use a method with conformal: split, whose calibration part is not changed by steps",
    ]
