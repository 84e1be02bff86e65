"""Notes on the numbers of a run: missing cells, warnings from its results, chains that did not converge."""

import functools
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any, NamedTuple

from confml._outputs import RUN
from confml.config import Config
from confml.config.warnings import Warned, unsilenced, warning_texts
from confml.measures.guarantees import region_promise
from confml.measures.p_values import has_label_conditional_p_values
from confml.measures.regions import by_usual_level, smallest_p_notes
from confml.methods import BASELINE
from confml.methods.divisions import DIVISIONS
from confml.report.answers.comparisons import Line, comparisons_of
from confml.report.answers.losses import losses_of
from confml.report.answers.promises import StepFacts, has_only_p_values
from confml.report.answers.text import listed
from confml.report.report import Report
from confml.report.run.results import RunResults, Variant
from confml.report.tables.table import Files

NOTES_FILE = f"{RUN}/notes.txt"
CONSTANT_ROWS = 10
"""Number of test rows of a method from which the same prediction for all of them is a warning."""
GROUPS = "groups of by"


def result_warnings(results: RunResults) -> tuple[Warned, ...]:
    """Return the warnings that follow from the finished cells."""
    constant = (warned for warnings in results.collected(constant_predictions) for warned in warnings)
    ends = (warned for warnings in results.collected(grid_ends) for warned in warnings)
    return (*small_levels(results), *constant, *ends, *class_warnings(results))


def class_warnings(results: RunResults) -> Iterator[Warned]:
    """Yield a warning for each data set with classes that promised regions contain too rarely."""
    comparisons, levels = comparisons_of(results), by_usual_level(results.config.levels)
    lines: dict[str, list[tuple[Line, float]]] = {}
    for level, line in product(levels, comparisons.lines):
        # A coverage of all rows that is too low is marked, and is not the fault of a class.
        if comparisons.promise(line, level) is not None and comparisons.low_coverage(line, level) is None:
            lines.setdefault(line.dataset, []).append((line, level))
    for dataset, of_dataset in lines.items():
        low = comparisons.low_classes(of_dataset)
        if not low:
            continue
        named = {of_class.line for of_class in low}
        methods = [comparisons.label(line) for line, _ in of_dataset if line in named]
        classes, shown = ({str(of_class[at]): None for of_class in low} for at in (1, 3))
        sentence = (
            f"at level {listed(list(shown))} the regions of {listed(list(dict.fromkeys(methods)))} contain "
            f"the true label too rarely for some classes: {listed(list(classes))}"
        )
        yield Warned(
            "class-coverage", sentence, "mondrian: true guarantees the coverage of each class", dataset
        )


class Counted(NamedTuple):
    """Smallest numbers of examples over the splits that the p-values of a method are computed from.

    kind: "classes", "groups of by", or "" for all rows. noun: one of the examples. counts: by class or group.
    """

    dataset: str
    kind: str
    method: str
    noun: str
    counts: dict[Any, int]


def counted_rows(variant: Variant) -> Counted | None:
    """Return the numbers of a variant; None without p-values that are at least 1 / (number + 1)."""
    counted = None
    counts: dict[Any, int]
    for result in variant.splits:
        views = [view for view in result.views.values() if view.kind == "p-value" and "tau" not in view.extra]
        if views and "conformal__shift" not in result.cell.params:
            # P-values of a conformal method are computed from its calibration examples only.
            calibration, metrics = result.views.fit_details.calibration_rows, result.views.fit_metrics
            of_training = calibration is None and "calibration_rows" not in metrics
            kind, counts = "", {None: int(metrics.get("calibration_rows", result.train_rows))}
            if divisions := result.views.fit_details.other.get(DIVISIONS):
                kind, counts = GROUPS, {}
                for division in divisions:
                    counts |= zip(division["groups"], division["rows"], strict=True)
            elif has_label_conditional_p_values(result.cell.params):
                kind = "classes"
                counts = dict(result.train_class_counts.items() if calibration is None else calibration)
            if counted is None:
                noun = "training row" if of_training else "calibration row"
                counted = Counted(variant.dataset, kind, variant.label, noun, {})
            for name, rows in counts.items():
                counted.counts[name] = min(rows, counted.counts.get(name, rows))
    return counted


def small_levels(results: RunResults) -> Iterator[Warned]:
    """Yield the warnings on levels that exclude no label, with the smallest numbers of each data set."""
    smallest: dict[tuple[str, str, tuple], Counted] = {}
    for counted in filter(None, results.collected(counted_rows)):
        groups = tuple(sorted(counted.counts)) if counted.kind == GROUPS else ()  # methods may differ in by
        key = counted.dataset, counted.kind, groups
        before = smallest.setdefault(key, counted)
        if min(counted.counts.values()) < min(before.counts.values()):
            smallest[key] = counted
    for dataset, kind, method, noun, counts in smallest.values():
        for note in smallest_p_notes(results.config.levels, counts, kind, method, noun):
            yield Warned("level-too-small", note, "use larger levels or more rows", dataset)


def constant_predictions(variant: Variant) -> list[Warned]:
    """Return a warning if the first view of a variant predicts one class for all rows."""
    if variant.splits[0].cell.method == BASELINE:
        return []
    predicted, true = set(), set()
    for result in variant.splits:
        for view in islice(result.views.values(), 1):
            predicted |= set(view.labels.tolist())
            true |= set(result.truth.tolist())
    rows = sum(len(result.truth) for result in variant.splits)
    if len(predicted) != 1 or len(true) < 2 or rows < CONSTANT_ROWS:
        return []
    sentence = f"{variant.label} predicts class {predicted.pop()} for all {rows} test rows"
    remedy = "check its parameters and the scale of the features"
    return [Warned("constant-predictions", sentence, remedy, variant.dataset)]


def grid_ends(variant: Variant) -> list[Warned]:
    """Return a warning for each tuned number that is at the same end of its grid on most splits.

    A smallest value of 0 or of the whole number 1 is not an end: smaller ones are seldom possible.
    """
    ends: Counter[tuple[str, Any, str]] = Counter()
    for result in variant.splits:
        points = [point["params"] for point in (result.tuning or {}).get("scores", ())]
        for name, value in (result.tuning or {}).get("chosen", {}).items():
            values = {point[name] for point in points}
            if len(values) < 2 or any(isinstance(v, bool) or not isinstance(v, int | float) for v in values):
                continue
            if value == max(values):
                ends[name, value, "largest"] += 1
            elif value == min(values) and value != 0 and not (value == 1 and isinstance(value, int)):
                ends[name, value, "smallest"] += 1
    splits = len(variant.splits)
    return [
        Warned(
            "end-of-grid",
            f"{variant.label}: {name} = {value} is the {end} value of its grid, chosen on {n} of {splits} "
            f"split{'s' * (splits > 1)}",
            f"add {'larger' if end == 'largest' else 'smaller'} values to tune",
            variant.dataset,
        )
        for (name, value, end), n in ends.items()
        if 2 * n > splits
    ]


def chain_notes(variant: Variant) -> list[str]:
    """Return a note if chains of a variant did not converge; it quotes the worst split."""
    chains = [chains for split in variant.splits if (chains := split.views.fit_details.chains) is not None]
    bad = [summary for summary in chains if summary.warnings]
    if not bad:
        return []
    worst = max(bad, key=lambda summary: (summary.worst_rhat, -summary.least_ess))
    where = f" on {len(bad)} of {len(chains)} splits, at worst" if len(chains) > 1 else ""
    start = f"{variant.dataset}, {variant.label}: the chains did not converge{where}"
    return [f"{start}: {'; '.join(worst.warnings)}"]


@functools.lru_cache(maxsize=1)  # they need all cells, and several files show them
def notes_of(results: RunResults) -> list[str]:
    """Return notes on missing cells and the data, warnings, and notes on steps and chains."""
    notes = []
    planned, done = len(results.cells), results.done
    if done < planned:
        failed = f", {len(results.failures)} failed (tables/failures.csv)" if results.failures else ""
        notes.append(f"{done} of {planned} fits finished{failed}; all numbers are from the finished fits")
    for name, info in sorted(results.datasets.items()):
        notes += [f"{name}: {note}" for note in info.notes]
    warned = unsilenced([*results.warnings, *result_warnings(results)], results.config.silence)
    notes += [f"warning: {text}" for text in warning_texts(warned)]
    views: dict[str, set[str]] = {}
    for metrics in results.metrics:
        views.setdefault(metrics.cell.method, set()).update(metrics.views)
    # The methods are not imported: that takes as long as a thousand small cells.
    notes += step_notes(results.config, lambda method: views.get(method) == {"p-value"})
    return [*notes, *(note for of_variant in results.collected(chain_notes) for note in of_variant)]


def step_notes(config: Config, only_p_values: Callable[[str], bool] = has_only_p_values) -> list[str]:
    """Return notes on the steps of a config that break exchangeability and make p-values too small, and on
    the methods whose bound is approximate: steps are fitted to the rows that p-values are computed from, or
    parameters are selected with their labels.

    Methods with ``conformal: split`` or ``cross`` are not concerned: their steps learn from the examples
    that the classifier is fitted to, not from the calibration part.
    """
    kinds = [(entry, entry.given.get("conformal")) for entry in config.methods]
    affected = [
        (entry, kind)
        for entry, kind in kinds
        if kind == "oob" or (not kind and (config.steps or entry.tune) and only_p_values(entry.name))
    ]  # without steps and tune the methods are not imported
    if not affected:
        return []
    steps, notes = StepFacts.of(config), []
    for entry, kind in affected:
        promise = region_promise(kind, steps.breaking, steps.fitted, list(entry.tune or ()), False)
        if promise.approximate:
            name, why = entry.label or entry.name, ", and ".join(promise.approximate)
            notes.append(f"{name}: the bound of its p-values is approximate, because {why}")
    notes += [
        f"step {name} is not imported here, so it is unknown whether it makes p-values too small; "
        f"add --allow-import {name.partition('.')[0]} to find out"
        for name in steps.unknown
    ]
    if names := steps.breaking:
        methods = " and ".join(dict.fromkeys(entry.name for entry, _ in affected))
        notes.append(
            f"{' and '.join(names)} {'makes' if len(names) == 1 else 'make'} training examples conform "
            f"better than test examples: p-values of {methods} are too small, and error rates of regions "
            "exceed the level; use conformal: split, whose calibration part is not changed by steps"
        )
    return list(dict.fromkeys(notes))


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
    collects=lambda run: (chain_notes, counted_rows, constant_predictions, grid_ends, losses_of),
)
