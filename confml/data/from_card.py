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
from confml.errors import ConfigError, DataError


def load_card(spec: Mapping[str, Any]) -> DataSet:
    """Return the data set of ``{"name": ..., "card": ...}``; the card is the one of the name unless it is
    given.

    Raises ConfigError for a card or key that is not known; DataError for files that are missing, broken or
    not what the card expects.
    """
    for key in spec:
        if key not in ("name", "card"):
            near = key, ("name", "card", "csv", "generate")
            raise ConfigError(f"a data set of a card has no key '{key}'", near=near)
    name = spec.get("name", spec.get("card"))
    if name is None:
        raise ConfigError("a data set needs a name, or a card, csv or generate")
    card = read_card(str(spec.get("card", name)))
    return dataset_from_card(card, name=str(name))


def dataset_from_card(card: Card, name: str | None = None) -> DataSet:
    """Load the data set of a card and check it against the counts that the card expects."""
    paths = [find(card.name, file) for file in card.files]
    rows = read_files(card, paths)
    notes = list(card.notes)
    table = _handle_missing(card, _table(card, rows), notes)
    table = _change_classes(card, table)
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
        nominal=np.array([known is not None for known in categories], dtype=bool),
        categories=categories,
        train_rows=train_rows,
        test_rows=test_rows,
        lines=table.lines,
        notes=tuple(notes),
    )
    _check(card, data)
    return data


def _table(card: Card, rows: Rows) -> Rows:
    """Return the rows of all files with the card's columns, and the label apart from them."""
    if len(rows.y):
        return replace(rows, y=as_labels(rows.y))
    label = card.label or rows.label
    assert label is not None  # delimited cards have one, and KEEL files name theirs
    for column in (label, *card.ignore, *card.ordinal, *(card.nominal if card.nominal != "all" else ())):
        if column not in rows.names:
            message, near = f"the card names a column '{column}'", (column, rows.names)
            raise DataError(message, where=str(card.path), near=near)
    kept = [j for j, column in enumerate(rows.names) if column != label and column not in card.ignore]
    names = tuple(rows.names[j] for j in kept)
    texts = {column: texts for column, texts in rows.texts.items() if column in names}
    values = np.ascontiguousarray(rows.values[:, kept])
    return replace(rows, names=names, values=values, texts=texts, y=_labels(card, rows, label))


def _labels(card: Card, rows: Rows, label: str) -> np.ndarray:
    column = rows.values[:, rows.names.index(label)]
    absent = np.flatnonzero(np.isnan(column))
    if len(absent):
        raise DataError(f"row {absent[0] + 1} has no label", where=f"data set '{card.name}'")
    if label in rows.texts:
        return as_labels(np.array(rows.texts[label]))[column.astype(np.intp)]
    return as_labels(column)


def _handle_missing(card: Card, table: Rows, notes: list[str]) -> Rows:
    if not card.missing_values:
        return table
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
        if table.y.dtype.kind != "i":
            raise DataError("label-as-attribute is for labels that are numbers", where=str(card.path))
        values = np.column_stack([table.values, table.y.astype(np.float64)])
        table = replace(table, names=(*table.names, card.label_as_attribute), values=values)
    distinct, codes = np.unique(table.y, return_inverse=True)
    texts = [str(label) for label in distinct.tolist()]
    for label in (*card.drop_classes, *(old for olds in card.merge.values() for old in olds)):
        if label not in texts:
            message = f"the card names a class '{label}'"
            raise DataError(message, where=str(card.path), near=(label, texts))
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
    values = table.values
    if table.texts:
        values = values.copy()
    categories: list[tuple[str, ...] | None] = []
    for j, column in enumerate(table.names):
        if column not in table.texts:
            categories.append(None)
            continue
        there = ~np.isnan(values[:, j])
        codes = values[there, j].astype(np.intp)
        occurring = [table.texts[column][k] for k in np.unique(codes)]
        ordinal = card.ordinal.get(column)
        known = ordinal or sort_categories(occurring)
        place = {text: float(k) for k, text in enumerate(known, start=1 if ordinal else 0)}
        for text in occurring:
            if text not in place:
                where = f"data set '{card.name}', column '{column}'"
                raise DataError(f"expected one of {', '.join(known)}, got '{text}'", where=where)
        new = np.array([place.get(text, np.nan) for text in table.texts[column]])
        values[there, j] = new[codes]
        categories.append(None if ordinal else known)
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
    counts = [
        ("rows", expect.rows, len(data)),
        ("attributes", expect.attributes, len(data.table_attributes)),
        ("columns", expect.columns or expect.attributes, data.X.shape[1]),
        ("training rows", expect.train_rows, None if data.train_rows is None else len(data.train_rows)),
        ("test rows", expect.test_rows, None if data.test_rows is None else len(data.test_rows)),
    ]
    for what, expected, got in counts:
        if expected != got:
            raise _unexpected(card, f"expected {expected or 'no'} {what}, got {got or 'none'}")
    got = Counter({str(label): count for label, count in data.class_counts().items()})
    for label in sorted({*expect.classes, *got}):
        if expect.classes.get(label, 0) != got[label]:
            expected = expect.classes.get(label, 0)
            raise _unexpected(card, f"expected {expected} rows of class '{label}', got {got[label]}")


def _unexpected(card: Card, message: str) -> DataError:
    return DataError(message, where=f"data set '{card.name}'", hint=f"see its card, {card.path}")
