"""`RunCells`: the planned cells of a run and the results of the finished ones."""

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

from confml.config import Config
from confml.config.warnings import Warned
from confml.measures.costs import Costs, costs_of
from confml.plugins.parameters import value_text
from confml.report.files import natural, safe_name, safe_names
from confml.runner.origins import RowOrigins
from confml.runner.plan import Cell
from confml.runner.results import CellResult


@dataclass(frozen=True)
class DatasetInfo:
    """Numbers of a data set. train_rows, test_rows: sizes of the provider's parts, None without parts.

    smallest_class, largest_class: rows of the smallest and the largest class. origins: key of the stored
    lines and identifiers of its rows. audit: code, sentence and remedy of each finding in the data; None in
    runs of older versions. audited_rows: number of rows that the audit saw.
    """

    name: str
    rows: int
    attributes: int
    classes: int
    train_rows: int | None = None
    test_rows: int | None = None
    notes: Sequence[str] = ()
    checksum: str = ""
    smallest_class: int | None = None
    largest_class: int | None = None
    origins: str | None = None
    audit: Sequence[Mapping[str, str]] | None = None
    audited_rows: int | None = None


@dataclass(frozen=True)
class Failure:
    """A failed cell, its error, and the calls of the method that led to it (`calls_of`)."""

    cell: Cell
    error: str
    calls: str = ""


def calls_of(traceback: Any) -> str:
    """Return the calls of a traceback outside confml, as ``own.py:12 fit > own.py:20 check``.

    It is the last call if all are inside. Files are named without their folders, so that a run has the same
    bytes on every machine.
    """
    if not isinstance(traceback, str):
        return ""
    calls = re.findall(r'^  File "(.+)", line (\d+), in (.+)$', traceback.rpartition(_TRACEBACK)[2], re.M)
    inside = [number for number, (path, _, _) in enumerate(calls) if _INSIDE.search(path)]
    after = calls[inside[0] :] if inside else calls  # not those of an engine
    own = [call for call in after if not _INSIDE.search(call[0])] or calls[-1:]
    files = [re.split(r"[\\/]", path)[-1] for path, _, _ in own]
    return " > ".join(f"{file}:{line} {name}" for file, (_, line, name) in zip(files, own, strict=True))


_TRACEBACK = "Traceback (most recent call last):"
_INSIDE = re.compile(
    r"[\\/]confml[\\/](?:(?:data|measures|methods|neighbours|plugins|runner|steps)[\\/]|_\w+\.py$)"
)


@dataclass(eq=False)
class RunCells:
    """The planned cells of a run in the order of the config, and the results of the finished ones.

    results: results by cell key, read when they are used. datasets: by name. origins: lines and identifiers
    of the rows of those data sets that have some. warnings: those of the start of the run.
    """

    config: Config
    cells: Sequence[Cell]
    results: Mapping[str, CellResult]
    failures: Sequence[Failure] = ()
    datasets: Mapping[str, DatasetInfo] = field(default_factory=dict)
    origins: Mapping[str, RowOrigins] = field(default_factory=dict)
    warnings: Sequence[Warned] = ()

    def finished(self) -> Iterator[CellResult]:
        """Yield finished cells in the order of the CSV files, which does not depend on the config."""
        for cell in self.ordered_cells:
            if cell.key in self.results:
                yield self.results[cell.key]

    @cached_property
    def costs(self) -> Costs | None:
        """Costs of decisions, from the config."""
        return None if self.config.costs is None else costs_of(self.config.costs)

    @cached_property
    def ordered_cells(self) -> list[Cell]:
        """The planned cells in the order of the CSV files."""
        return sorted(self.cells, key=cell_order)

    @property
    def done(self) -> int:
        """Number of finished cells."""
        return sum(cell.key in self.results for cell in self.cells)

    @property
    def pending(self) -> list[Cell]:
        """The planned cells that are neither finished nor failed."""
        failed = {one.cell.key for one in self.failures}
        return [cell for cell in self.cells if cell.key not in self.results and cell.key not in failed]

    @cached_property
    def _labels(self) -> dict[tuple[str, str], str]:
        """Short names of method variants; the full name if two variants would have the same one."""
        short = {
            (cell.method, cell.variant): self.short_label(cell.method, cell.params) for cell in self.cells
        }
        taken = list(short.values())
        return {
            (method, variant): label if taken.count(label) == 1 else f"{method} {variant}".strip()
            for (method, variant), label in short.items()
        }

    def has_groups(self, dataset: str) -> bool:
        """Return whether the rows of a data set are in groups, and therefore not independent."""
        return dataset in self._with_groups

    @cached_property
    def _with_groups(self) -> frozenset[str]:
        return frozenset(spec.name for spec in self.config.datasets if spec.groups)

    def label(self, cell: Cell) -> str:
        """Return the name of a cell's method variant in tables and figures, unique in the run."""
        return self._labels[cell.method, cell.variant]

    @cached_property
    def method_places(self) -> dict[str, int]:
        """Number of each method variant by label, in the order of the CSV files: its colour everywhere."""
        return {
            label: place for place, label in enumerate(dict.fromkeys(map(self.label, self.ordered_cells)))
        }

    def short_label(self, method: str, params: Mapping[str, Any]) -> str:
        """Return the config's label for a method variant, or its name and parameters."""
        if (given := self.given_label(method, params)) is not None:
            return given
        name = method.rpartition(".")[2] if method.startswith("sklearn.") else method
        return " ".join([name, *_said(params)])

    def given_label(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Return the config's label for a method variant with its swept parameters, None without a label."""
        from confml.runner.external_files import shown_params

        for entry in self.config.methods:
            if entry.label and entry.name == method:
                for swept in entry.variants():
                    if shown_params(entry, {**entry.given, **swept}) == dict(params):
                        return " ".join([entry.label, *_said(swept)])
        return None


def _said(params: Mapping[str, Any]) -> Iterator[str]:
    """Yield parameters and values for a label, such as "draws=60" of samples=bootstrap."""
    for name, value in params.items():
        owner, _, setting = name.rpartition("__")
        short = owner in ("", "conformal", "venn") or owner in params
        yield f"{setting if short else name.replace('__', ' ')}={value_text(value)}"


def with_details(label: str, *details: str) -> str:
    """Return a label with the view and the run, where they are given: "tcm-nn (p-value)"."""
    told = ", ".join(filter(None, details))
    return f"{label} ({told})" if told else label


def cell_order(cell: Cell) -> tuple:
    """Sort key of a cell: data set, method, parameters (numbers by value), split."""
    return (cell.dataset, cell.method, params_order(cell.params), cell.variant, natural(cell.split), cell.key)


def params_order(params: Mapping[str, Any]) -> tuple:
    """Sort key of parameters: numbers by value, before anything else by its text."""
    return tuple(
        (name, 0, float(value), "")
        if isinstance(value, Real) and not isinstance(value, bool)
        else (name, 1, 0.0, str(value))
        for name, value in params.items()
    )


def view_ending(view: str, views: Collection[str]) -> str:
    """Return the ending of a view's file; it contains the view if the method has several."""
    return f".{safe_name(view)}.csv" if len(views) > 1 else ".csv"


@functools.lru_cache(maxsize=1)  # several tables use them
def region_paths(results: RunCells) -> dict[str, str]:
    """Return the path of each cell's tables below ``regions/``, by key, without ending; all are different."""
    datasets = safe_names(cell.dataset for cell in results.cells)
    names = {cell.key: _folder_name(results, cell) for cell in results.cells}
    variants = safe_names(names.values())
    taken: dict[tuple, list[Cell]] = {}
    for cell in results.cells:
        taken.setdefault((cell.dataset, names[cell.key], cell.split), []).append(cell)
    paths, splits = {}, {split: safe_name(split) for split in {cell.split for cell in results.cells}}
    for (dataset, variant, split), cells in taken.items():
        for cell in cells:  # several only where a config has one method twice with different grids
            name = splits[split] if len(cells) == 1 else f"{splits[split]}-{cell.key[:8]}"
            paths[cell.key] = f"{datasets[dataset]}/{variants[variant]}/{name}"
    return paths


def _folder_name(results: RunCells, cell: Cell) -> str:
    """Return the config's label of a cell's method, else its name and parameters; ``;`` between words."""
    label = results.given_label(cell.method, cell.params)
    if label is not None:
        return ";".join(label.split())
    return f"{cell.method};{cell.variant}" if cell.variant else cell.method
