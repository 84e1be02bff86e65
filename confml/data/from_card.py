"""Load the `DataSet` of a card: read the files, apply the card's changes, compare the counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from confml.data.cards import Card, CardFile, Delimited, Idx, Inline, Keel, Sklearn, column_names, read_card
from confml.data.coding import code_columns, sort_categories
from confml.data.dataset import DataSet, as_labels
from confml.data.readers import Rows, code_rows, read_delimited, read_idx, read_keel
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
    return dataset_from_card(read_card(str(spec.get("card", name))), name=str(name))


def dataset_from_card(card: Card, name: str | None = None) -> DataSet:
    """Load the data set of a card and check it against the counts that the card expects."""
    table = _read(card)
    notes = list(card.notes)
    table = _handle_missing(card, table, notes)
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


@dataclass(frozen=True)
class _Table:
    """Attributes and labels of all files together, before coding."""

    names: tuple[str, ...]
    values: np.ndarray  # (n, a)
    texts: dict[str, list[str]]  # of the attributes that are text: nominal ones, and words in an order
    y: np.ndarray
    in_train: np.ndarray | None = None  # (n,) bool
    lines: np.ndarray | None = None  # (n,) of the file

    def rows(self, keep: np.ndarray) -> "_Table":
        in_train = None if self.in_train is None else self.in_train[keep]
        lines = None if self.lines is None else self.lines[keep]
        return replace(self, values=self.values[keep], y=self.y[keep], in_train=in_train, lines=lines)


def _read(card: Card) -> _Table:
    if isinstance(card.reader, Sklearn):
        return _read_sklearn(card.reader)
    if isinstance(card.reader, Idx):
        return _read_images(card)
    if isinstance(card.reader, Inline):
        return _read_inline(card)
    files = [(file, _read_rows(card, file)) for file in card.files]
    for file, rows in files:
        if file.rows is not None and len(rows.values) != file.rows:
            raise DataError(f"expected {file.rows} rows, got {len(rows.values)}", where=_where(card, file))
        if rows.names != files[0][1].names:
            raise DataError("its columns are not those of the card's first file", where=_where(card, file))
    return _table(card, _joined([rows for _, rows in files]), files)


def _read_inline(card: Card) -> _Table:
    names = column_names(card.columns or ())
    nominal = names if card.nominal == "all" else card.nominal
    text_columns = {*nominal, *card.ordinal, *card.ignore, str(card.label)}
    return _table(card, code_rows(card.path, names, card.rows, text_columns))


def _table(card: Card, rows: Rows, files: Sequence[tuple[CardFile, Rows]] = ()) -> _Table:
    """Return the table of the rows of all files, with the card's columns."""
    label = card.label or rows.label
    assert label is not None  # delimited cards have one, and KEEL files name theirs
    for column in (label, *card.ignore, *card.ordinal, *(card.nominal if card.nominal != "all" else ())):
        if column not in rows.names:
            message, near = f"the card names a column '{column}'", (column, rows.names)
            raise DataError(message, where=str(card.path), near=near)
    kept = [j for j, column in enumerate(rows.names) if column != label and column not in card.ignore]
    names = tuple(rows.names[j] for j in kept)
    return _Table(
        names=names,
        values=np.ascontiguousarray(rows.values[:, kept]),
        texts={column: texts for column, texts in rows.texts.items() if column in names},
        y=_labels(card, rows, label),
        in_train=_in_train([(file, len(own.values)) for file, own in files]),
        lines=rows.lines,
    )


def _read_rows(card: Card, file: CardFile) -> Rows:
    from confml.data.files import find

    path, reader = find(card.name, file), card.reader
    missing = None if card.missing is None else card.missing.marker
    if isinstance(reader, Keel):
        return read_keel(path, member=reader.member, missing=missing)
    assert isinstance(reader, Delimited)
    names = None if card.columns is None else column_names(card.columns)
    nominal = card.nominal
    if nominal == "all":
        nominal = tuple(column for column in names or () if column != card.label)
    return read_delimited(
        path,
        separator=reader.separator,
        names=names,
        text_columns={*nominal, *card.ordinal, *card.ignore},
        label=card.label,
        skip_lines=reader.skip_lines,
        compressed=reader.compressed,
        missing=missing,
    )


def _joined(all_rows: Sequence[Rows]) -> Rows:
    """Return the rows of several files below each other; columns of text get one common list of texts."""
    if len(all_rows) == 1:
        return all_rows[0]
    values = np.concatenate([rows.values for rows in all_rows])
    texts: dict[str, list[str]] = {}
    for j, column in enumerate(all_rows[0].names):
        if not any(column in rows.texts for rows in all_rows):
            continue
        place: dict[str, int] = {}
        start = 0
        for rows in all_rows:
            codes = rows.values[:, j]
            if column not in rows.texts:  # a label that is all numbers in this file and text in another
                raise DataError(f"column '{column}' is text in one file and numbers in another")
            new = np.array([place.setdefault(text, len(place)) for text in rows.texts[column]], dtype=float)
            there = ~np.isnan(codes)
            values[start : start + len(codes), j][there] = new[codes[there].astype(np.intp)]
            start += len(codes)
        texts[column] = list(place)
    lines = [rows.lines for rows in all_rows if rows.lines is not None]
    together = np.concatenate(lines) if len(lines) == len(all_rows) else None
    return replace(all_rows[0], values=values, texts=texts, lines=together)


def _labels(card: Card, rows: Rows, label: str) -> np.ndarray:
    column = rows.values[:, rows.names.index(label)]
    absent = np.flatnonzero(np.isnan(column))
    if len(absent):
        raise DataError(f"row {absent[0] + 1} has no label", where=f"data set '{card.name}'")
    if label in rows.texts:
        return as_labels(np.array(rows.texts[label]))[column.astype(np.intp)]
    return as_labels(column)


def _in_train(files: Sequence[tuple[CardFile, int]]) -> np.ndarray | None:
    if not files or files[0][0].part is None:
        return None
    return np.concatenate([np.full(rows, file.part == "train") for file, rows in files])


def _read_images(card: Card) -> _Table:
    """Return the images and labels of IDX files, paired in the order of the card, each image flattened row by
    row.
    """
    from confml.data.files import find

    images = [file for file in card.files if file.holds == "attributes"]
    labels = [file for file in card.files if file.holds == "labels"]
    names = column_names(card.columns or ())
    if len(images) != len(labels) or len(images) + len(labels) != len(card.files):
        raise DataError("every file of images needs one of labels (holds: ...)", where=str(card.path))
    pixels, y = [], []
    for image_file, label_file in zip(images, labels, strict=True):
        image, label = read_idx(find(card.name, image_file)), read_idx(find(card.name, label_file))
        if image.ndim < 2 or label.ndim != 1 or len(image) != len(label):
            raise DataError(
                f"expected images and as many labels, got {image.shape} and {label.shape}",
                where=f"{_where(card, image_file)} and {label_file.name}",
            )
        image = image.reshape(len(image), -1)
        if image.shape[1] != len(names):
            raise DataError(
                f"expected {len(names)} values an image, got {image.shape[1]}", where=_where(card, image_file)
            )
        pixels.append(image)
        y.append(label)
    return _Table(
        names=names,
        values=np.concatenate(pixels).astype(np.float64),
        texts={},
        y=np.concatenate(y).astype(np.int64),
        in_train=_in_train([(file, len(image)) for file, image in zip(images, pixels, strict=True)]),
    )


def _read_sklearn(reader: Sklearn) -> _Table:
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{reader.set}")()
    y = bunch.target if reader.labels == "codes" else np.asarray(bunch.target_names).astype(str)[bunch.target]
    names = tuple(str(column) for column in bunch.feature_names)
    return _Table(names, np.asarray(bunch.data, dtype=np.float64), {}, as_labels(y))


def _handle_missing(card: Card, table: _Table, notes: list[str]) -> _Table:
    if card.missing is None:
        return table
    absent = np.isnan(table.values)
    rows = np.flatnonzero(absent.any(axis=1))
    if len(rows) == 0:
        return table
    if card.missing.policy == "error":
        column = table.names[int(np.flatnonzero(absent[rows[0]])[0])]
        raise DataError(
            f"row {rows[0] + 1}, column '{column}': the value is missing", where=f"data set '{card.name}'"
        )
    if card.missing.policy == "mean":
        notes.append(f"{len(rows)} of {len(absent)} rows have a missing value; they are kept")
        return table
    notes.append(f"{len(rows)} of {len(absent)} rows have a missing value and are left out")
    return table.rows(~absent.any(axis=1))


def _change_classes(card: Card, table: _Table) -> _Table:
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
        table = table.rows(~np.isin(np.array(texts), card.drop_classes)[codes])
    return table


def _numbers_and_categories(
    card: Card, table: _Table
) -> tuple[np.ndarray, tuple[tuple[str, ...] | None, ...]]:
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


def _parts(card: Card, table: _Table) -> tuple[np.ndarray | None, np.ndarray | None]:
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


def _where(card: Card, file: CardFile) -> str:
    return f"data set '{card.name}', file {file.name}"
