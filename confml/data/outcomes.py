"""`outcomes_of`: a table of outcomes of models on items, as arrays of the items that all models have."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from confml.data.identifiers import ID_NAME, ID_ROWS, is_like_identifier
from confml.data.text_table import TextTable, at_lines, column_hint, counted, is_number, is_numeric, quoted
from confml.errors import DataError, in_quotes

_WORDS = {
    **dict.fromkeys(("true", "t", "yes", "y", "right", "correct", "pass", "passed"), 1.0),
    **dict.fromkeys(("false", "f", "no", "n", "wrong", "incorrect", "fail", "failed"), 0.0),
}
_OUTCOMES = "outcomes are numbers, or yes and no, true and false, right and wrong, pass and fail"


class TaskOutcomes(NamedTuple):
    """Outcomes of K models on one task.

    splits: item numbers (n,) and outcomes (K, n) of each split, of the items that all models have there.
    groups: of all item numbers, or None. notes: sentences on what is left out.
    """

    name: str
    models: list[str]
    splits: list[tuple[np.ndarray, np.ndarray]]
    groups: np.ndarray | None
    notes: list[str]


def outcomes_of(
    table: TextTable, columns: Mapping[str, str | None], wide: bool = False
) -> tuple[list[TaskOutcomes], list[str]]:
    """Return the outcomes of each task, and sentences on the table.

    columns: names of the columns ``item``, ``model``, ``outcome``, ``group``, ``task`` and ``split``, None
    without one. In a wide table, each row is an item if it has no column of them, and all columns without
    such a name are outcomes of a model.

    Raises DataError for a table without these columns, with two outcomes of a model on an item, with texts
    that are not outcomes, and without two models that have outcomes on the same two items.
    """
    unused = ("model", "outcome") if wide else ()
    named = {option: name for option, name in columns.items() if name and option not in unused}
    for option, name in named.items():
        if name not in table:
            hint = f"--{option} names it; {column_hint(name, table.names, table)}"
            raise DataError(f"there is no column {in_quotes(name)}", where=str(table.path), hint=hint)
    others = [name for name in table.names if name not in named.values()]
    table_of_names = replace(table, missing=frozenset())  # a model may be called "none"
    names, codes = {}, {}
    for option in ("task", "split", "item", "group", "model"):
        if option in named:
            texts = table_of_names.texts(named[option])
            if "" in texts.distinct:
                row = int(np.argmax(texts.codes == texts.distinct.index("")))
                raise DataError(f"the {option} is empty", where=table.where(row, named[option]))
            names[option], codes[option] = texts.distinct, texts.codes
        else:
            names[option], codes[option] = [""], np.zeros(len(table), dtype=np.intp)
    if "item" not in named:
        names["item"], codes["item"] = list(map(str, range(1, len(table) + 1))), np.arange(len(table))
    items = codes["task"] * len(names["item"]) + codes["item"]
    keys = (codes["task"] * len(names["split"]) + codes["split"]) * len(names["item"]) + codes["item"]
    keys, first, units = np.unique(keys, return_index=True, return_inverse=True)
    models = others if wide else names["model"]
    values = np.full((len(keys), len(models)), np.nan)

    def name_of(row: int, option: str = "item") -> str:
        return f"{option} {in_quotes(names[option][codes[option][row]])}"

    positions = units if wide else units * len(models) + codes["model"]
    counts = np.bincount(positions)
    if counts.max(initial=0) > 1:
        rows = np.flatnonzero(positions == np.argmax(counts))
        model = "" if wide else f" of {name_of(rows[0], 'model')}"
        lines = at_lines(table.lines[rows].tolist(), table.unit)
        hint = "repeated runs need --split COLUMN, and items of several tasks --task COLUMN"
        message = f"{name_of(rows[0])}{model} has {len(rows)} outcomes ({lines})"
        raise DataError(message, where=str(table.path), hint=hint)
    for at, name in enumerate(models if wide else [named["outcome"]]):
        outcomes = _numbers(table, name, wide)
        if wide and "item" not in named and is_like_identifier(name, outcomes):
            if len(outcomes) >= ID_ROWS or ID_NAME.search(name):
                message = (
                    f"the column {in_quotes(name)} has a different whole number in every row, as items have"
                )
                hint = f"add --item {name}; if it is a model, name the column of the items with --item"
                raise DataError(message, where=str(table.path), hint=hint)
        values[units, at if wide else codes["model"]] = outcomes
    notes = list(table.notes)
    groups = None
    if "group" in named:
        if (change := _first_change(items, codes["group"])) is not None:
            where = table.where(change, named["group"])
            raise DataError(f"{name_of(change)} is in two groups", where=where)
        groups = codes["group"]
    elif not wide and (alike := [name for name in others if _looks_like_groups(table_of_names, name, items)]):
        notes.append(
            f"{quoted(alike)} {'has' if len(alike) == 1 else 'have'} one value for several items: if such "
            f"items are not independent (of one document or patient), add --group {alike[0]}."
        )
    tasks = []
    for task, name in enumerate(names["task"]):
        rows = np.flatnonzero(codes["task"][first] == task)
        of_items = None
        if groups is not None:
            of_items = np.zeros(len(names["item"]), dtype=np.intp)
            of_items[codes["item"][first[rows]]] = groups[first[rows]]
        places = codes["item"][first[rows]], codes["split"][first[rows]]
        of_task = _of_task(name, models, values[rows], *places, of_items)
        if isinstance(of_task, TaskOutcomes):
            tasks.append(of_task)
        elif len(names["task"]) == 1:
            raise DataError(of_task, where=str(table.path))
        else:
            notes.append(f"{name} is left out: {of_task}.")
    if not tasks:
        raise DataError("no task has two models with outcomes on the same two items", where=str(table.path))
    return tasks, notes


def _of_task(
    name: str,
    models: Sequence[str],
    values: np.ndarray,
    items: np.ndarray,
    splits: np.ndarray,
    groups: np.ndarray | None,
) -> TaskOutcomes | str:
    """Return the outcomes of a task on common items, or why nothing can be compared.

    values: (units, K), NaN for a missing outcome; items and splits: (units,).
    """
    present = ~np.isnan(values)
    used = np.flatnonzero(present.any(axis=0)).tolist()
    if len(used) < 2:
        who = f"only the model {in_quotes(models[used[0]])} has outcomes" if len(used) else "no outcomes"
        return f"{who}, and a comparison needs two models"
    present = present[:, used]
    common = present.all(axis=1)
    counts = present.sum(axis=0)
    lacking = {models[model]: len(values) - int(n) for model, n in zip(used, counts, strict=True)}
    texts = [f"{model} lacks {n}" for model, n in sorted(lacking.items(), key=lambda pair: -pair[1]) if n]
    numbers = len(np.unique(items[common]))
    if numbers < 2:
        few = f"only {numbers} item has outcomes" if numbers else "no item has outcomes"
        rest = f" ({', '.join(texts[:4])} of {len(values)}); leave a model out" if texts else ""
        return f"{few} of all {len(used)} models, and a comparison needs two items{rest}"
    notes = []
    if texts:
        more = f" and {counted(len(texts) - 4, 'other model')}" if len(texts) > 4 else ""
        noun = "items" if len(np.unique(splits)) == 1 else "items of splits"
        notes.append(
            f"{int(common.sum()):,} of {len(values):,} {noun} are compared, those with outcomes of all "
            f"models ({', '.join(texts[:4])}{more})."
        )
    chosen = [np.flatnonzero(common & (splits == split)) for split in np.unique(splits[common])]
    parts = [(items[rows], values[rows][:, used].T) for rows in chosen]
    return TaskOutcomes(name, [models[model] for model in used], parts, groups, notes)


def _numbers(table: TextTable, name: str, wide: bool) -> np.ndarray:
    """Return (n,) the outcomes in a column, NaN where they are missing."""
    column = table.data.column(table.places[name])
    if is_numeric(column.type):
        values = column.to_numpy().astype(np.float64)
        wrong = np.isinf(values)
    else:
        texts = table.texts(name)
        distinct = np.array(list(map(_number, texts.distinct)))
        values, wrong = distinct[texts.codes], np.isinf(distinct)[texts.codes]
    if wrong.any():
        row = int(np.argmax(wrong))
        hint = "name a column that is not a model with --item, --group, --task or --split, or remove it"
        hint = f"{_OUTCOMES}{f'; {hint}' if wide else ''}"
        text = f"{in_quotes(table.text(row, name))} is not an outcome"
        raise DataError(text, where=table.where(row, name), hint=hint)
    return values


def _number(text: str) -> float:
    """Return the outcome that a text stands for; NaN for a missing one, inf for others."""
    if not text:
        return np.nan
    return _WORDS.get(text.casefold(), float(text) if is_number(text) else np.inf)


def _first_change(items: np.ndarray, codes: np.ndarray) -> int | None:
    """Return the first row whose code differs from that of an earlier row of its item; None without one."""
    _, first, of_item = np.unique(items, return_index=True, return_inverse=True)
    changed = codes != codes[first[of_item]]
    return int(np.argmax(changed)) if changed.any() else None


def _looks_like_groups(table: TextTable, name: str, items: np.ndarray) -> bool:
    """Return whether a column has one value for each item, and the same for two items or more on average."""
    texts = table.texts(name)
    are_ids = not any(is_number(text) and not float(text).is_integer() for text in texts.distinct[:100])
    number = len(np.unique(items))
    return are_ids and 1 < len(texts.distinct) <= number / 2 and _first_change(items, texts.codes) is None
