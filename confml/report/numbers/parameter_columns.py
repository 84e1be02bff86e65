"""Parameters of method variants as columns of their own, after those of a table with packed ``params``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from confml.plugins.parameters import value_text
from confml.report.items import Table
from confml.report.run.results import RunResults
from confml.runner.plan import Cell

PACKED, PREFIX = "params", "params."


def parameter_columns(results: RunResults) -> dict[str, dict[tuple[str, str], Any]]:
    """Return the values of each parameter by (method, packed text), in alphabetical order.

    Only parameters that the config sets have a column; it is empty for other variants.
    """
    columns: dict[str, dict[tuple[str, str], Any]] = {}
    for cell in results.cells:
        for name, value in cell.params.items():
            columns.setdefault(name, {})[cell.method, cell.variant] = value
    return dict(sorted(columns.items()))


def values_of(cell: Cell, columns: Mapping[str, Mapping[tuple[str, str], Any]]) -> list[Any]:
    """Return the values of the columns for one cell; None for parameters that it does not have."""
    key = cell.method, cell.variant
    return [_plain(column[key]) if key in column else None for column in columns.values()]


def with_parameters(table: Table, columns: Mapping[str, Mapping[tuple[str, str], Any]]) -> Table:
    """Return the table with a column ``params.<name>`` for each parameter, if it has ``method`` and
    ``params``."""
    header = list(table.header)
    if not columns or PACKED not in header or "method" not in header:
        return table
    keys = header.index("method"), header.index(PACKED)
    return replace(
        table,
        header=(*header, *(f"{PREFIX}{name}" for name in columns)),
        rows=_rows(table, keys, list(columns.values())),
    )


def _rows(
    table: Table, keys: tuple[int, int], columns: Sequence[Mapping[tuple[str, str], Any]]
) -> Iterator[tuple]:
    known: dict[tuple[Any, Any], tuple] = {}
    for row in table.rows:
        key = row[keys[0]], row[keys[1]]
        if key not in known:
            known[key] = tuple(_plain(column[key]) if key in column else None for column in columns)
        yield (*row, *known[key])


def _plain(value: Any) -> Any:
    """Return a value for one field: numbers and texts as they are, anything else as in ``params``."""
    return value if isinstance(value, str | int | float) else value_text(value)
