"""Points of papers for figures: numbers of published tables on the same data set, method and setting."""

import functools
from typing import Any, NamedTuple

from confml.errors import ConfmlError
from confml.published import PublishedTable, known_tables

KRZANOWSKI = "bayesian-knn-table2"
_VIEWS = {"envelope": "env", "reject": "rej", "posterior": "post"}


class PaperPoint(NamedTuple):
    """One printed number as a fraction, the setting x that it belongs to, and its source."""

    x: float
    y: float
    source: str


def source_of(table: PublishedTable) -> str:
    """Return a short name of the paper, such as "Proedrou et al. 2002", from the source of a table."""
    authors, _, rest = table.source.partition(",")
    year = next((word for word in rest.replace("(", " ").replace(")", " ").replace(",", " ").split()
                 if word.isdigit() and len(word) == 4), "")  # fmt: skip
    return f"{authors.split(' &')[0]} et al. {year}".strip()


def errors_of(dataset: str, method: str, parameter: str) -> list[PaperPoint]:
    """Return the printed errors of a method at values of a parameter, each value once."""
    points: dict[float, PaperPoint] = {}
    for table, entry in _entries(dataset):
        ours = entry.ours
        if ours.method == method and ours.metric == "error" and parameter in ours.params:
            value = float(ours.params[parameter])
            points.setdefault(value, PaperPoint(value, float(entry.printed) / ours.factor, source_of(table)))
    return [points[value] for value in sorted(points)]


def rejections_of(dataset: str, view: str) -> list[PaperPoint]:
    """Return the printed points (unsure, sure incorrect) of a view of Bayesian k-NN."""
    table = known_tables()[KRZANOWSKI]
    if view not in _VIEWS:
        return []
    start = _VIEWS[view]
    points = (
        PaperPoint(float(row[f"{start}_u"]), float(row[f"{start}_si"]), source_of(table))
        for row in table.rows()
        if dataset in table.names(row["dataset"]) and row[f"{start}_u"] and row[f"{start}_si"]
    )
    return sorted(set(points))


@functools.cache
def _entries(dataset: str) -> list[tuple[PublishedTable, Any]]:
    """Return the printed numbers of a data set that confml computes too, with their tables."""
    return [
        (table, entry)
        for table, entry in _all_entries()
        if dataset in ((entry.ours.dataset,) if entry.ours.dataset else table.names(entry.keys[0]))
    ]


@functools.cache
def _all_entries() -> list[tuple[PublishedTable, Any]]:
    return [
        (table, entry)
        for table in known_tables().values()
        for entry in table.entries()
        if entry.ours is not None and entry.printed
    ]


def default_params(method: str) -> dict[str, Any]:
    """Return the default parameters of a method; empty if it is unknown."""
    from confml.methods.registry import method_class
    from confml.plugins.registry import default_parameters

    try:
        return default_parameters(method_class(method))
    except ConfmlError:
        return {}
