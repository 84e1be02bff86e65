"""The tables and other files of a report, in its order: confml's own and those of other packages."""

import functools
import importlib
from importlib.metadata import entry_points

from confml.errors import ConfmlError
from confml.report.run.results import RunResults
from confml.report.tables.table import Files, Table

# Module of this package and name in it, in the order of the report.
OUTPUTS = (
    *("metrics:TABLE", "timings:TABLE", "tuning:TABLE", "summary:TABLE", "summary:JSON", "summary:RESULTS"),
    *("failures:TABLE", "confusion:CONFUSION", "confusion:CLASS_METRICS", "class_coverage:TABLE"),
    *("groups:TABLE", "rejection_curves:TABLE", "matched:TABLE", "certified:TABLE"),
    *("certified_jointly:TABLE", "regions:REGIONS", "shift:TABLE", "shift:OF_CLASSES", "monitoring:TABLE"),
    *("dropped:TABLE", "threshold_curves:TABLE", "published_tables:PUBLISHED", "ranks:RANKS"),
    *("notes:NOTES", "page:FIGURES", "page:PAGE"),
)


@functools.cache
def plugin_tables() -> tuple[tuple[Table, ...], tuple[ConfmlError, ...]]:
    """Return the tables of other packages, and an error for each that cannot be used."""
    tables, errors = [], []
    for offer in sorted(entry_points(group="confml.tables"), key=lambda offer: (offer.name, offer.value)):
        origin = f"{offer.dist.name} {offer.dist.version}" if offer.dist else offer.value
        try:
            table = offer.load()
        except Exception as error:
            reason = f"cannot be imported from {offer.value}: {type(error).__name__}: {error}"
        else:
            if isinstance(table, Table):
                tables.append(table)
                continue
            reason = f"must be a confml.report.tables.table.Table, but {offer.value} is {table!r}"
        errors.append(ConfmlError(f"table '{offer.name}' of the package {origin} {reason}"))
    return tuple(tables), tuple(errors)


def known_outputs() -> list[Table | Files]:
    """Return the tables and other files of a report, in order; those of other packages before the notes."""
    outputs: list[Table | Files] = []
    for location in OUTPUTS:
        module, _, name = location.partition(":")
        if location == "notes:NOTES":
            outputs += plugin_tables()[0]
        outputs.append(getattr(importlib.import_module(f"confml.report.tables.{module}"), name))
    return outputs


def outputs_of(run: RunResults) -> list[Table | Files]:
    """Return the outputs that can have content for a run, in order."""
    return [output for output in known_outputs() if output.applies(run)]
