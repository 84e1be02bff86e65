"""`read_costs`: costs of decisions from a YAML or CSV file."""

from pathlib import Path

from confml.config.draft import Draft
from confml.data.table_files import read_table
from confml.errors import ConfigError, DataError
from confml.measures.costs import ABSTAIN, Costs, cost_number, costs_of
from confml.yaml import read_file
from confml.yaml.located import Loc


def read_costs(path: Path | str) -> Costs:
    """Read costs from a YAML file with ``matrix`` and ``abstain``, or from a table file.

    The table has the true classes in its first column and one column per prediction; a column ``abstain`` is
    the cost of abstaining. Raises ConfigError.
    """
    path = Path(path)
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        document = read_file(path, str(path), "file of costs", "abstain: 0.8")
        document.problems.raise_any()
        return costs_of(document.values, str(path))
    try:
        table = read_table(path)
    except DataError as error:
        raise ConfigError(error.message, where=error.where, hint=error.hint) from None
    true_classes, *names = table.names
    matrix: dict[str, dict[str, float]] = {}
    abstain: dict[str, float] = {}
    for row, true in enumerate(table.fields(true_classes)):
        if true in matrix:
            raise ConfigError(f"true class '{true}' is listed twice", where=str(path))
        costs = {
            name: cost_number(table.text(row, name), f"row '{true}', column '{name}'", str(path))
            for name in names
        }
        if ABSTAIN in costs:
            abstain[true] = costs.pop(ABSTAIN)
        matrix[true] = costs
    if not names or not matrix:
        hint = "true classes in the first column, predictions in the first line"
        raise ConfigError("expected a table of costs", where=str(path), hint=hint)
    return Costs(matrix, abstain or None, str(path))


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
        draft.say(_wrong_cost(draft), f"costs: {where}{error.message}", error.hint)
        if isinstance(value, str):
            del draft.values["costs"]  # its form is that of a path, not of costs


def _wrong_cost(draft: Draft) -> Loc:
    """Return the location of the first cost that is no number of at least 0, or else that of all costs."""
    for loc in draft.marks:
        if loc[:1] == ("costs",) and not isinstance(value := draft.find(loc)[2], dict):
            try:
                cost_number(value, "", None)
            except ConfigError:
                return loc
    return ("costs",)
