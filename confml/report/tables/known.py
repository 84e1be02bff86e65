"""The tables and other files of a report, in its order: confml's own and those of other packages."""

import functools
import importlib
from importlib.metadata import entry_points

from confml.errors import ConfmlError
from confml.report.run.results import RunResults
from confml.report.tables.table import CellFiles, Files, Output, Table

# Module of this package and name in it, in the order of the report.
OUTPUTS = (
    *("metrics:TABLE", "timings:TABLE", "tuning:TABLE", "summary:TABLE", "summary:JSON", "summary:TABLES"),
    *("failures:TABLE", "confusion:CONFUSION", "confusion:CLASS_METRICS", "calibration:TABLE"),
    *("venn_bounds:TABLE", "class_coverage:TABLE", "conditional_coverage:CONDITIONAL"),
    *("conditional_coverage:GAPS", "groups:TABLE", "rejection_curves:TABLE", "matched:TABLE"),
    *("certified:SPLITS", "certified:TABLE", "certified:HALVES"),
    *("certified_jointly:SPLITS", "certified_jointly:TABLE", "regions:TABLE", "p_values:TABLE"),
    *("shift:TABLE", "shift:OF_CLASSES", "online:TABLE", "monitoring:TABLE", "dropped:TABLE"),
    *("threshold_curves:TABLE", "published_tables:PUBLISHED", "ranks:RANKS", "leaderboard:LEADERBOARD"),
    *("page:TREES", "notes:NOTES", "page:FIGURES", "page:PAGE"),
)


@functools.cache
def plugin_outputs() -> tuple[tuple[Output, ...], tuple[ConfmlError, ...]]:
    """Return the tables of other packages, and an error for each that cannot be used."""
    found, errors = [], []
    for offer in sorted(entry_points(group="confml.tables"), key=lambda one: (one.name, one.value)):
        origin = f"{offer.dist.name} {offer.dist.version}" if offer.dist else offer.value
        try:
            output = offer.load()
        except Exception as error:
            reason = f"cannot be imported from {offer.value}: {type(error).__name__}: {error}"
            errors.append(ConfmlError(f"table '{offer.name}' of the package {origin} {reason}"))
            continue
        if isinstance(output, Table | CellFiles | Files):
            found.append(output)
        else:
            reason = f"must be a confml.report.tables.table.Table, but {offer.value} is {output!r}"
            errors.append(ConfmlError(f"table '{offer.name}' of the package {origin} {reason}"))
    return tuple(found), tuple(errors)


def known_outputs() -> list[Output]:
    """Return the tables and other files of a report, in order; those of other packages before the notes."""
    found: list[Output] = []
    for location in OUTPUTS:
        module, _, name = location.partition(":")
        if location == "notes:NOTES":
            found += plugin_outputs()[0]
        found.append(getattr(importlib.import_module(f"confml.report.tables.{module}"), name))
    return found


def outputs_of(run: RunResults) -> list[Output]:
    """Return the outputs that can have content for a run, in order."""
    return [output for output in known_outputs() if output.applies(run)]
