"""Notes on the numbers of a run: missing cells, warnings from its results, chains that did not converge."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from confml._outputs import RUN
from confml.config import Config
from confml.config.warnings import Warned, unsilenced, warning_texts
from confml.measures.guarantees import region_promise
from confml.measures.p_values import has_label_conditional_p_values
from confml.measures.regions import smallest_p_notes
from confml.methods import BASELINE
from confml.methods.details import ChainSummary
from confml.methods.divisions import DIVISIONS
from confml.report.answers.promises import StepFacts, has_only_p_values
from confml.report.report import Report
from confml.report.run.results import RunResults, Variant
from confml.report.tables.table import Files
from confml.runner.results import CellResult

NOTES_FILE = f"{RUN}/notes.txt"
CONSTANT_ROWS = 10
"""Number of test rows of a method from which the same prediction for all of them is a warning."""


def result_warnings(results: RunResults) -> tuple[Warned, ...]:
    """Return the warnings that follow from the finished cells."""
    facts = results.collected(warning_facts)
    fewest: dict[str, dict[Any, Fewest]] = {}
    for variant in facts:
        of_dataset = fewest.setdefault(variant.dataset, {})
        for label, counted in variant.fewest.items():
            of_dataset[label] = min(of_dataset.get(label, counted), counted, key=attrgetter("rows"))
    small = (warned for name, counts in fewest.items() for warned in _small_levels(results, name, counts))
    return (*small, *_constant(facts))


class Fewest(NamedTuple):
    """Smallest number of examples that p-values are counted among, the method, and one of them by name."""

    rows: int
    method: str
    noun: str


class Group(NamedTuple):
    """A group of ``by`` by name, to tell it from a class."""

    name: str


class WarningFacts(NamedTuple):
    """Numbers of the splits of a variant that warnings depend on.

    fewest: by label of label-conditional p-values, `Group` of ``by``, None for others. predicted, true:
    labels of the first view; rows: number of test rows.
    """

    dataset: str
    label: str
    fewest: dict[Any, Fewest]
    predicted: set
    true: set
    rows: int


def warning_facts(variant: Variant) -> WarningFacts:
    """Return the numbers of a variant that warnings depend on."""
    facts = WarningFacts(variant.dataset, variant.label, {}, set(), set(), 0)
    rows = 0
    for result in variant.splits:
        first = next(iter(result.views.values()), None)
        if first is not None and len(facts.predicted) < 2 and result.cell.method != BASELINE:
            facts.predicted.update(first.labels.tolist())
            facts.true.update(result.truth.tolist())
        rows += len(result.truth)
        if any(view.kind == "p-value" for view in result.views.values()):
            for label, counted in _counted(result, variant.label).items():
                facts.fewest[label] = min(facts.fewest.get(label, counted), counted, key=attrgetter("rows"))
    return facts._replace(rows=rows)


def _counted(result: CellResult, method: str) -> dict[Any, Fewest]:
    """Return the number of examples that the p-values of one split are counted among, by label or group."""
    # P-values of a conformal method are counted among its calibration examples only.
    calibration, metrics = result.views.fit_details.calibration_rows, result.views.fit_metrics
    of_training = calibration is None and "calibration_rows" not in metrics
    noun = "training row" if of_training else "calibration row"
    counts: dict = {None: int(metrics.get("calibration_rows", result.train_rows))}
    divisions = result.views.fit_details.other.get(DIVISIONS)
    if divisions:
        counts = {
            Group(group): rows
            for division in divisions
            for group, rows in zip(division["groups"], division["rows"], strict=True)
        }
    elif has_label_conditional_p_values(result.cell.params):
        counts = dict(result.train_class_counts.items() if calibration is None else calibration)
    return {label: Fewest(n, method, noun) for label, n in counts.items()}


def _small_levels(results: RunResults, dataset: str, fewest: Mapping[Any, Fewest]) -> Iterator[Warned]:
    """Yield the warnings for all rows, then for each class, then for the groups of each method."""
    groups = {label: counted for label, counted in fewest.items() if isinstance(label, Group)}
    classes = sorted(label for label in fewest if label is not None and label not in groups)
    cases: list[tuple[Fewest, dict[str, Any]]] = []
    if None in fewest:
        cases.append((fewest[None], {"counted_rows": fewest[None].rows}))
    cases += [(fewest[label], {"class_counts": {label: fewest[label].rows}}) for label in classes]
    for method in dict.fromkeys(counted.method for counted in groups.values()):
        of_method = {label.name: one for label, one in groups.items() if one.method == method}
        rows = {name: one.rows for name, one in of_method.items()}
        cases.append((next(iter(of_method.values())), {"group_counts": rows}))
    for (_, method, noun), counts in cases:
        for note in smallest_p_notes(results.config.levels, **counts, of=method, noun=noun):
            yield Warned("level-too-small", note, "use larger levels or more rows", dataset)


def _constant(facts: Sequence[WarningFacts]) -> Iterator[Warned]:
    for one in facts:
        if len(one.predicted) == 1 and len(one.true) > 1 and one.rows >= CONSTANT_ROWS:
            sentence = f"{one.label} predicts class {next(iter(one.predicted))} for all {one.rows} test rows"
            remedy = "check its parameters and the scale of the features"
            yield Warned("constant-predictions", sentence, remedy, one.dataset)


class ChainWarnings(NamedTuple):
    """Number of splits of a variant with chains, and number and worst of those whose chains have warnings."""

    dataset: str
    label: str
    splits: int
    bad: int
    worst: ChainSummary | None


def chain_warnings(variant: Variant) -> ChainWarnings:
    """Return the warnings of the chains of a variant."""
    chains = [chains for one in variant.splits if (chains := one.views.fit_details.chains) is not None]
    bad = [one for one in chains if one.warnings]
    worst = max(bad, key=lambda one: (one.worst_rhat, -one.least_ess), default=None)
    return ChainWarnings(variant.dataset, variant.label, len(chains), len(bad), worst)


@functools.lru_cache(maxsize=1)  # they need all cells, and several files show them
def notes_of(results: RunResults) -> list[str]:
    """Return notes on missing cells and the data, warnings, and notes on steps and chains."""
    notes = []
    planned, done = len(results.cells), results.done
    if done < planned:
        failed = f", {len(results.failures)} failed (tables/failures.csv)" if results.failures else ""
        notes.append(
            f"{done} of {planned} cells are done{failed}; all numbers are from the cells that are done"
        )
    for name, info in sorted(results.datasets.items()):
        notes += [f"{name}: {note}" for note in info.notes]
    warned = unsilenced([*results.warnings, *result_warnings(results)], results.config.silence)
    notes += [f"warning: {text}" for text in warning_texts(warned)]
    notes += step_notes(results.config)
    return [*notes, *_chain_notes(results)]


def _chain_notes(results: RunResults) -> list[str]:
    """Return one note per variant and data set whose chains have warnings; it quotes the worst split."""
    notes = []
    for dataset, label, splits, bad, worst in results.collected(chain_warnings):
        if worst is not None:
            where = f" on {bad} of {splits} splits, at worst" if splits > 1 else ""
            notes.append(
                f"{dataset}, {label}: the chains did not converge{where}: {'; '.join(worst.warnings)}"
            )
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


def write(report: Report) -> None:
    """Caveats about the numbers, one sentence per line.

    Warnings end with their code in brackets, such as ``[unscaled-features]``. ``confml describe --type
    warning`` lists the codes, and ``silence: [unscaled-features]`` in the config leaves out the warnings of
    a code.
    """
    report.notes += notes_of(report.run)


NOTES = Files(
    "notes",
    {NOTES_FILE: "notes on the numbers, one per line"},
    write,
    collects=lambda run: (chain_warnings, warning_facts),
)
