"""`write_by_parameter`: a metric for each value of a swept parameter, with the published number.

A paper that tunes a parameter prints one number and often not the chosen value. The table shows which values
give that number.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from confml.errors import ConfmlError
from confml.plugins.parameters import parameters_text
from confml.published import known_tables
from confml.report.files import write_csv
from confml.report.numbers.summaries import SummaryRow, read_summary
from confml.studies.reproduction.numbers import Stored, is_chance
from confml.studies.reproduction.sources import SOURCES

HEADER = ("dataset", "method", "value", "mean", "sd", "splits", "paper", "within_chance")
"""Columns of the CSV file; ``value`` is named after the parameter."""


@dataclass(frozen=True)
class Published:
    """A published number of a data set and a method. splits: number of splits behind it."""

    text: str
    splits: int


def write_by_parameter(runs: Sequence[Path], folder: Path, metric: str, parameter: str) -> Path:
    """Write ``<metric>-by-<parameter>.csv`` of runs that sweep a parameter; return its path.

    It has one row for each data set, method and value. within_chance: whether the difference from the
    published number is at most two standard errors of a difference between two means over random splits.
    Raises ConfmlError if no method of the runs has the metric at two or more values of the parameter, or if a
    run has no report.
    """
    for run in runs:
        if not (run / "summary.json").is_file():
            raise ConfmlError("the run has no report", where=str(run), hint=f"confml report {run}")
    rows = _swept([row for run in runs for row in read_summary(run / "summary.json")], metric, parameter)
    if not rows:
        raise ConfmlError(
            f"no method has the metric {metric} at two or more values of {parameter}",
            where=", ".join(map(str, runs)),
            hint=f"sweep it in the config: sweep: {{{parameter}: [...]}}",
        )
    published = {key: _published(*key, metric) for key in {(row.dataset, row.method) for row in rows}}
    header = [parameter if name == "value" else name for name in HEADER]
    return write_csv(folder / f"{metric}-by-{parameter}.csv", header, _lines(rows, parameter, published))


def _swept(summary: Sequence[SummaryRow], metric: str, parameter: str) -> list[SummaryRow]:
    """Return the rows of the metric, of the first view of each method, by data set, method and value."""
    views: dict[tuple[str, str], str] = {}
    kept = []
    for row in summary:
        value = row.params.get(parameter)
        if row.metric == metric and row.level is None and isinstance(value, Real):
            if views.setdefault((row.dataset, row.method), row.view) == row.view:
                kept.append(row)
    labels = [(row.dataset, _label(row, parameter)) for row in kept]
    kept = [row for row, label in zip(kept, labels, strict=True) if labels.count(label) > 1]
    places = {dataset: place for place, dataset in enumerate(dict.fromkeys(row.dataset for row in kept))}
    return sorted(
        kept, key=lambda row: (places[row.dataset], _label(row, parameter), float(row.params[parameter]))
    )


def _label(row: SummaryRow, parameter: str) -> str:
    """Return a method with its other parameters."""
    others = {name: value for name, value in row.params.items() if name != parameter}
    return f"{row.method} {parameters_text(others)}".strip()


def _published(dataset: str, method: str, metric: str) -> Published | None:
    """Return the first published number of a metric, None if there is none."""
    sources = {name: source for source in SOURCES for name in source.tables}
    for table in known_tables().values():
        for entry in table.entries():
            ours = entry.ours
            if ours is None or not entry.printed or (ours.method, ours.metric) != (method, metric):
                continue
            names = (ours.dataset,) if ours.dataset else table.names(entry.keys[0])
            if dataset in names and ours.level is None:
                return Published(entry.printed, sources[table.name].splits_of(entry.keys[0]))
    return None


def _lines(
    rows: Sequence[SummaryRow], parameter: str, published: Mapping[tuple[str, str], Published | None]
) -> Iterator[tuple]:
    for row in rows:
        paper = published[row.dataset, row.method]
        chance = None
        if paper is not None:
            sd = None if math.isnan(row.sd) else row.sd
            chance = is_chance(Stored(row.mean, sd, row.n, ""), paper.text, paper.splits)
        label, value = _label(row, parameter), float(row.params[parameter])
        numbers = (_short(row.mean), None if math.isnan(row.sd) else _short(row.sd), row.n)
        yield (row.dataset, label, value, *numbers, paper.text if paper else None, chance)


def _short(value: float) -> float:
    return float(f"{value:.6g}")
