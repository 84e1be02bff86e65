"""Load the `DataSet` of a card: find and read the files, apply the card's changes, compare the counts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from confml.data.cards import Card, read_card
from confml.data.csv_table import load_tables
from confml.data.dataset import DataSet, as_labels
from confml.data.files import find
from confml.data.readers import LABEL, read_files
from confml.data.text_table import TextTable
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
    tables, label, nominal = read_files(card, [find(card.name, file) for file in card.files])
    target = LABEL if label == card.label_as_attribute else label
    keys = {
        "csv": card.path,
        "name": name or card.name,
        "label": target,
        "ignore": card.ignore,
        "nominal": nominal,
        "missing": card.missing,
        "missing-values": card.missing_values,
    }
    data = load_tables(keys, [_change_columns(card, table, label, target) for table in tables], card.coding)
    data = replace(data, notes=(*card.notes, *data.notes))
    if card.train_first is not None:
        rows = np.arange(len(data))
        data = replace(data, train_rows=rows[: card.train_first], test_rows=rows[card.train_first :])
    if tables[0].unit == "row":
        data = replace(data, lines=None)
    _check(card, data)
    return data


def _change_columns(card: Card, table: TextTable, label: str, target: str) -> TextTable:
    """Return the ranks of ordinal words, the label as a feature, and the classes that the card makes of the
    labels, in the last column: target.
    """
    data = table.data.drop_columns([label])
    for name, words in card.ordinal.items():
        texts = table.texts(name)
        ranks = np.array([words.index(text) + 1 for text in texts.distinct])
        data = data.set_column(data.column_names.index(name), name, pa.array(ranks[texts.codes]))
    texts = table.texts(label)
    labels = as_labels(np.array(texts.distinct))
    if card.label_as_attribute is not None:
        data = data.append_column(card.label_as_attribute, pa.array(labels.astype(np.float64)[texts.codes]))
    new = {old: merged for merged, olds in card.merge.items() for old in olds}
    classes = np.array([new.get(text, text) for text in map(str, labels.tolist())])
    changed = replace(table, data=data.append_column(target, pa.array(classes[texts.codes])))
    changed.keep(~np.isin(labels.astype(str), card.drop_classes)[texts.codes])
    return changed


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
            message, hint = f"expected {expected} {what}, got {count}", f"see expect: in {card.path}"
            raise DataError(message, where=f"data set '{card.name}'", hint=hint)
