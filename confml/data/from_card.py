"""Load the `DataSet` of a card: find and read the files, apply the card's changes, compare the counts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from confml.data.cards import Card, read_card
from confml.data.coding import code_columns, sort_categories
from confml.data.dataset import DataSet, as_labels
from confml.data.files import find
from confml.data.readers import Rows, read_files
from confml.errors import DataError


def load_card(spec: Mapping[str, Any]) -> DataSet:
    """Return the data set of ``{"name": ..., "card": ...}``; the card is the one of the name unless it is
    given.

    Raises ConfigError for an unknown card; DataError for files that are missing or wrong.
    """
    name = spec.get("name", spec.get("card"))
    card = read_card(str(spec.get("card", name)))
    return dataset_from_card(card, name=str(name))


def dataset_from_card(card: Card, name: str | None = None) -> DataSet:
    """Load the data set of a card and check it against the counts that the card expects."""
    paths = [find(card.name, file) for file in card.files]
    notes = list(card.notes)
    table = _change_classes(card, _handle_missing(card, read_files(card, paths), notes))
    values, categories = _numbers_and_categories(card, table)
    X, attributes = code_columns(values, table.names, categories, card.coding)
    train_rows, test_rows = _parts(card, table)
    data = DataSet(
        name=name or card.name,
        X=X,
        y=table.y,
        attributes=attributes,
        table=values,
        table_attributes=table.names,
        nominal=np.array([texts is not None for texts in categories], dtype=bool),
        categories=categories,
        train_rows=train_rows,
        test_rows=test_rows,
        lines=table.lines,
        notes=tuple(notes),
    )
    _check(card, data)
    return data


def _handle_missing(card: Card, table: Rows, notes: list[str]) -> Rows:
    absent = np.isnan(table.values)
    rows = np.flatnonzero(absent.any(axis=1))
    if len(rows) == 0:
        return table
    if card.missing == "error":
        column = table.names[int(np.flatnonzero(absent[rows[0]])[0])]
        raise DataError(
            f"row {rows[0] + 1}, column '{column}': the value is missing", where=f"data set '{card.name}'"
        )
    if card.missing == "mean":
        notes.append(f"{len(rows)} of {len(absent)} rows have a missing value; they are kept")
        return table
    notes.append(f"{len(rows)} of {len(absent)} rows have a missing value and are left out")
    return table.only(~absent.any(axis=1))


def _change_classes(card: Card, table: Rows) -> Rows:
    """Return the label as an attribute, classes left out, classes merged: in this order."""
    if card.label_as_attribute is not None:
        values = np.column_stack([table.values, table.y.astype(np.float64)])
        table = replace(table, names=(*table.names, card.label_as_attribute), values=values)
    distinct, codes = np.unique(table.y, return_inverse=True)
    texts = [str(label) for label in distinct.tolist()]
    if card.merge:
        new = {old: merged for merged, olds in card.merge.items() for old in olds}
        table = replace(table, y=as_labels(np.array([new.get(text, text) for text in texts]))[codes])
    if card.drop_classes:
        table = table.only(~np.isin(np.array(texts), card.drop_classes)[codes])
    return table


def _numbers_and_categories(card: Card, table: Rows) -> tuple[np.ndarray, tuple[tuple[str, ...] | None, ...]]:
    """Return the table with sorted categories' codes and the places of ordinal words; categories by
    attribute.

    Only categories that occur in the rows count: a file's declarations name others.
    """
    values = table.values.copy() if table.texts else table.values
    categories: list[tuple[str, ...] | None] = []
    for j, column in enumerate(table.names):
        if column not in table.texts:
            categories.append(None)
            continue
        there = ~np.isnan(values[:, j])
        occurring, codes = np.unique(
            np.array(table.texts[column])[values[there, j].astype(np.intp)], return_inverse=True
        )
        ordinal = card.ordinal.get(column)
        order = list(ordinal or sort_categories(occurring.tolist()))
        ranks = np.array([order.index(text) for text in occurring.tolist()], dtype=np.float64)
        values[there, j] = ranks[codes] + (1 if ordinal else 0)
        categories.append(None if ordinal else tuple(order))
    return values, tuple(categories)


def _parts(card: Card, table: Rows) -> tuple[np.ndarray | None, np.ndarray | None]:
    if card.train_first is not None:
        return np.arange(card.train_first), np.arange(card.train_first, len(table.y))
    if table.in_train is None:
        return None, None
    return np.flatnonzero(table.in_train), np.flatnonzero(~table.in_train)


def _check(card: Card, data: DataSet) -> None:
    """Raise a DataError for the first count that differs from the card's."""
    expect = card.expect
    train, test = (0 if rows is None else len(rows) for rows in (data.train_rows, data.test_rows))
    counts = {
        "rows": (expect.rows, len(data)),
        "attributes": (expect.attributes, len(data.table_attributes)),
        "columns": (expect.columns or expect.attributes, data.X.shape[1]),
        "training rows": (expect.train_rows or 0, train),
        "test rows": (expect.test_rows or 0, test),
    }
    classes = Counter({str(label): count for label, count in data.class_counts().items()})
    for label in sorted({*expect.classes, *classes}):
        counts[f"rows of class '{label}'"] = expect.classes.get(label, 0), classes[label]
    for what, (expected, count) in counts.items():
        if expected != count:
            message, hint = f"expected {expected} {what}, got {count}", f"see its card, {card.path}"
            raise DataError(message, where=f"data set '{card.name}'", hint=hint)
