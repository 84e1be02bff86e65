"""Notes on the numbers of a run: missing cells, significance levels too small for the data, chains that did
not converge."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from confml.errors import ConfmlError
from confml.measures.guarantees import approximations
from confml.methods.details import ChainSummary
from confml.methods.registry import method_class, views_of
from confml.report.collectors import Collector
from confml.report.items import Item, Note
from confml.report.sections.base import Section
from confml.report.warnings import WarningFacts, all_warnings
from confml.steps.base import Step
from confml.steps.registry import step_class

if TYPE_CHECKING:
    from confml.config import Config
    from confml.report.results import RunResults
    from confml.runner.results import CellResult


class ChainWarnings(Collector):
    """Splits with chains, and number and worst of those whose chains have warnings, by data set and label."""

    def __init__(self, results: RunResults):
        super().__init__(results)
        self.splits: dict[tuple[str, str], int] = {}
        self.bad: dict[tuple[str, str], tuple[int, ChainSummary]] = {}

    def add(self, result: CellResult) -> None:
        chains = result.details.chains
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
    planned = len(results.cells)
    done = sum(cell.key in results.results for cell in results.cells)
    if done < planned:
        failed = f", {len(results.failures)} failed (failures.csv)" if results.failures else ""
        notes.append(f"{done} of {planned} cells are done{failed}: the numbers are of those")
    for name, info in sorted(results.datasets.items()):
        notes += [f"{name}: {note}" for note in info.notes]
    notes += _origin_notes(results)
    notes += [f"warning: {warning.text}" for warning in all_warnings(results)]
    notes += step_notes(results.config)
    return [*notes, *_chain_notes(results)]


def _origin_notes(results: RunResults) -> list[str]:
    """Return a note for each table file whose lines an older version of confml did not store."""
    return [
        f"{spec.name}: regions/ has no lines of the file, because the run was started by an older version of "
        "confml; run its config again, which keeps the finished cells"
        for spec in getattr(results.config, "datasets", ())
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
    affected = [entry for entry in config.methods if entry.conformal is None and _has_p_values(entry.name)]
    if not affected:
        return []
    steps = [(step.name, _step_class(step.name)) for step in getattr(config, "steps", ())]
    names = [name for name, cls in steps if cls is not None and cls.breaks_exchangeability]
    fitted = [name for name, cls in steps if cls is not None and cls.learns and not names]
    notes: dict[str, None] = {}
    for entry in affected:
        reasons = approximations(list(getattr(entry, "tune", None) or ()), fitted)
        if reasons:
            text = f"{entry.name}: the bound of its p-values is approximate, because {', and '.join(reasons)}"
            notes[text] = None
    for name, cls in steps:
        if cls is None:
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


def _has_p_values(method: str) -> bool:
    """Return whether a method has p-values and no other view; False if it cannot be imported here."""
    try:
        return views_of(method_class(method)) == ["p-value"]
    except ConfmlError:
        return False


def _step_class(step: str) -> type[Step] | None:
    """Return the class of a step; None if it cannot be imported here."""
    try:
        return step_class(step)
    except ConfmlError:
        return None
