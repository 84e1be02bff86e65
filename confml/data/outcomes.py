"""`outcomes_of`: a table of outcomes of models on items, as arrays of the items that all models have."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from confml.data.identifiers import ID_NAME, ID_ROWS, is_like_identifier
from confml.data.text_table import TextTable, at_lines, column_hint, counted, is_number, is_numeric, quoted
from confml.errors import DataError, in_quotes

_WORDS = {
    **dict.fromkeys(("true", "t", "yes", "y", "right", "correct", "pass", "passed"), 1.0),
    **dict.fromkeys(("false", "f", "no", "n", "wrong", "incorrect", "fail", "failed"), 0.0),
}
_KEYS = ("task", "split", "item", "group", "model")
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
    unnamed = [name for name in table.names if name not in named.values()]
    frame, names = pd.DataFrame(index=range(len(table))), {}
    for option in _KEYS:
        texts = [""] * len(table)
        if option in named:
            texts = table.fields(named[option])
            if "" in texts:
                where = table.where(texts.index(""), named[option])
                raise DataError(f"the {option} is empty", where=where)
        elif option == "item":
            texts = list(map(str, range(1, len(table) + 1)))
        frame[option], names[option] = pd.factorize(np.array(texts, dtype=object))
    if wide:
        names["model"] = np.array(unnamed, dtype=object)
        of_models = []
        for code, name in enumerate(unnamed):
            outcomes = _numbers(table, name, wide)
            if "item" not in named:
                _refuse_items(table, name, outcomes)
            of_models.append(frame.assign(model=code, outcome=outcomes))
        frame = pd.concat(of_models) if unnamed else frame.assign(outcome=np.nan)
    else:
        frame["outcome"] = _numbers(table, named["outcome"], wide)

    def name_of(row: int, option: str) -> str:
        return f"{option} {in_quotes(names[option][frame[option].loc[[row]].iloc[0]])}"

    keys = ["task", "split", "item", "model"]
    repeated = frame.loc[frame.duplicated(keys, keep=False), keys]
    if len(repeated):
        rows = repeated.index[(repeated == repeated.iloc[0]).all(axis=1)]
        model = "" if wide else f" of {name_of(rows[0], 'model')}"
        lines = at_lines(table.lines[rows].tolist(), table.unit)
        hint = "repeated runs need --split COLUMN, and items of several tasks --task COLUMN"
        message = f"{name_of(rows[0], 'item')}{model} has {len(rows)} outcomes ({lines})"
        raise DataError(message, where=str(table.path), hint=hint)
    notes = list(table.notes)
    by_item = frame.groupby(["task", "item"])
    if "group" in named:
        changed = frame["group"] != by_item["group"].transform("first")
        if changed.any():
            row = int(np.argmax(changed))
            where = table.where(row, named["group"])
            raise DataError(f"{name_of(row, 'item')} is in two groups", where=where)
    elif not wide and (alike := [name for name in unnamed if _looks_like_groups(table, name, by_item)]):
        notes.append(
            f"{quoted(alike)} {'has' if len(alike) == 1 else 'have'} one value for several items: if such "
            f"items are not independent (of one document or patient), add --group {alike[0]}."
        )
    tasks = []
    for task, name in enumerate(names["task"]):
        part = frame[frame["task"] == task]
        values = part.pivot(index=["split", "item"], columns="model", values="outcome")
        values = values.set_axis(names["model"][values.columns], axis=1).dropna(axis=1, how="all")
        of_task = _of_task(name, values)
        if isinstance(of_task, TaskOutcomes):
            if "group" in named:
                groups = part.groupby("item")["group"].first()
                of_task = of_task._replace(
                    groups=groups.reindex(range(len(names["item"])), fill_value=0).to_numpy()
                )
            tasks.append(of_task)
        elif len(names["task"]) == 1:
            raise DataError(of_task, where=str(table.path))
        else:
            notes.append(f"{name} is left out: {of_task}.")
    if not tasks:
        raise DataError("no task has two models with outcomes on the same two items", where=str(table.path))
    return tasks, notes


def _of_task(name: str, values: pd.DataFrame) -> TaskOutcomes | str:
    """Return the outcomes of a task on common items, or why nothing can be compared.

    values: outcomes by split and item, and by model; NaN for a missing one.
    """
    models = values.columns.tolist()
    if len(models) < 2:
        who = f"only the model {in_quotes(models[0])} has outcomes" if models else "no outcomes"
        return f"{who}, and a comparison needs two models"
    common = values.dropna()
    lacking = values.isna().sum().sort_values(ascending=False, kind="stable")
    texts = [f"{model} lacks {count}" for model, count in lacking.items() if count]
    numbers = common.index.get_level_values("item").nunique()
    if numbers < 2:
        few = f"only {numbers} item has outcomes" if numbers else "no item has outcomes"
        rest = f" ({', '.join(texts[:4])} of {len(values)}); leave a model out" if texts else ""
        return f"{few} of all {len(models)} models, and a comparison needs two items{rest}"
    notes = []
    if texts:
        further = f" and {counted(len(texts) - 4, 'other model')}" if len(texts) > 4 else ""
        noun = "items" if values.index.get_level_values("split").nunique() == 1 else "items of splits"
        notes.append(
            f"{len(common):,} of {len(values):,} {noun} are compared, those with outcomes of all "
            f"models ({', '.join(texts[:4])}{further})."
        )
    splits = [
        (split.index.get_level_values("item").to_numpy(), np.ascontiguousarray(split).T)
        for _, split in common.groupby(level="split")
    ]
    return TaskOutcomes(name, models, splits, None, notes)


def _refuse_items(table: TextTable, name: str, outcomes: np.ndarray) -> None:
    """Raise DataError for a column of outcomes that looks like the numbers of items."""
    if is_like_identifier(name, outcomes) and (len(outcomes) >= ID_ROWS or ID_NAME.search(name)):
        message = f"the column {in_quotes(name)} has a different whole number in every row, as items have"
        hint = f"add --item {name}; if it is a model, name the column of the items with --item"
        raise DataError(message, where=str(table.path), hint=hint)


def _numbers(table: TextTable, name: str, wide: bool) -> np.ndarray:
    """Return (n,) the outcomes in a column, NaN where they are missing."""
    column = table.data.column(table.positions[name])
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


def _looks_like_groups(table: TextTable, name: str, by_item: Any) -> bool:
    """Return whether a column has one value for each item, and the same for two items or more on average."""
    texts = pd.Series(table.fields(name))
    distinct = texts.unique()
    are_ids = not any(is_number(text) and not float(text).is_integer() for text in distinct[:100])
    of_items = texts.groupby(by_item.ngroup()).nunique()
    return are_ids and 1 < len(distinct) <= len(of_items) / 2 and bool((of_items == 1).all())
