"""`read_costs`: costs of decisions from a YAML or CSV file."""

import csv
from pathlib import Path

from confml.config.draft import Draft
from confml.data.table_files import require_regular
from confml.errors import ConfigError
from confml.measures.costs import ABSTAIN, Costs, cost_number, costs_of
from confml.yaml import read_file


def read_costs(path: Path | str) -> Costs:
    """Read costs from a YAML file with ``matrix`` and ``abstain``, or from a CSV file.

    The CSV file has the true classes in its first column and one column per prediction; a column ``abstain``
    is the cost of abstaining. Raises ConfigError.
    """
    path = Path(path)
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        document = read_file(path, str(path), "file of costs", "abstain: 0.8")
        document.problems.raise_any()
        return costs_of(document.values, str(path))
    require_regular(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no such file" if missing else f"it cannot be read ({error.strerror})"
        raise ConfigError(reason, where=str(path)) from None
    except UnicodeError:
        raise ConfigError("it is not UTF-8", where=str(path)) from None
    return _from_csv(text, str(path))


def _from_csv(text: str, where: str) -> Costs:
    rows = [[field.strip() for field in row] for row in csv.reader(text.splitlines())]
    rows = [row for row in rows if any(row)]
    if len(rows) < 2 or len(rows[0]) < 2:
        hint = "true classes in the first column, predictions in the first line"
        raise ConfigError("expected a table of costs", where=where, hint=hint)
    header = rows[0][1:]
    if len(set(header)) < len(header):
        raise ConfigError("two columns of the costs have one name", where=where)
    matrix: dict[str, dict[str, float]] = {}
    abstain: dict[str, float] = {}
    for line, (true, *fields) in enumerate(rows[1:], start=2):
        if len(fields) != len(header):
            message = f"{len(fields) + 1} fields, expected {len(header) + 1}"
            raise ConfigError(message, where=f"{where}, row {line}")
        if true in matrix:
            raise ConfigError(f"true class '{true}' is listed twice", where=where)
        named = dict(zip(header, fields, strict=True))
        costs = {
            name: cost_number(field, f"row '{true}', column '{name}'", where) for name, field in named.items()
        }
        if ABSTAIN in costs:
            abstain[true] = costs.pop(ABSTAIN)
        matrix[true] = costs
    return Costs(matrix, abstain or None, where)


def check_costs(draft: Draft) -> None:
    """Replace the path of a file of costs in a draft by its costs, and note costs that are wrong."""
    value = draft.values.get("costs")
    if value is None:
        return
    try:
        if isinstance(value, str):
            costs = read_costs(draft.file(value))
            abstain = {} if costs.abstain is None else {ABSTAIN: costs.abstain}
            draft.values["costs"] = {"matrix": costs.matrix, **abstain}
        else:
            costs_of(value)
    except ConfigError as error:
        where = f"{error.where}: " if error.where else ""
        draft.say(("costs",), f"costs: {where}{error.message}", error.hint)
        if isinstance(value, str):
            del draft.values["costs"]  # its form is that of a path, not of costs
