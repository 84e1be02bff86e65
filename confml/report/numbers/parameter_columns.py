"""Parameters of method variants as columns of their own, after those of a table with packed ``params``."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from confml.plugins.parameters import value_text
from confml.report.run.results import RunResults

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


def with_parameters(
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    columns: Mapping[str, Mapping[tuple[str, str], Any]],
) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
    """Return a table with a column ``params.<name>`` for each parameter, if it has ``method`` and
    ``params``."""
    if not columns or PACKED not in header or "method" not in header:
        return header, rows
    method, packed = list(header).index("method"), list(header).index(PACKED)

    @functools.cache
    def values(key: tuple[str, str]) -> tuple:
        return tuple(_plain(column[key]) if key in column else None for column in columns.values())

    longer = ((*row, *values((row[method], row[packed]))) for row in rows)
    return (*header, *(f"{PREFIX}{name}" for name in columns)), longer


def _plain(value: Any) -> Any:
    """Return a value for one field: numbers and texts as they are, anything else as in ``params``."""
    return value if isinstance(value, str | int | float) else value_text(value)
