"""A user's own CSV file as a `DataSet`: every mistake one clear error with file, line and column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from confml.data._csv_text import CsvText, read_csv
from confml.data.coding import code_columns, sort_categories
from confml.data.dataset import DataSet
from confml.errors import ConfigError, DataError, did_you_mean

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})  # whatever their case
_ID_ROWS = 10  # fewer rows than this may well be all different
_SHOWN = 3  # places that one message names
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class CsvSpec:
    """What a config says of a CSV file; see `load_csv`."""

    csv: Path
    label: str
    name: str
    test: Path | None = None
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    groups: str | None = None
    missing: str = "error"
    separator: str | None = None
    encoding: str | None = None
    decimal: str = "."
    drop_first: bool = False


def load_csv(spec: Mapping[str, Any]) -> DataSet:
    """The data set of a CSV file with a header line.

    csv, label: the file, and the column of the class. name: of the data set, the file's stem unless given.
    test: a file of test rows with the same columns, in any order.
    ignore: columns to leave out. nominal: columns of categories, coded 0/1, one column a category (with
        drop-first: true, one fewer). Any other column must be numbers.
    groups: a column of groups, not an attribute.
    missing: what is done about an empty field, ?, NA, N/A, nan or null in an attribute: ``error``; ``drop``
        leaves the row out; ``mean`` keeps it as NaN, for a step to fill in. A missing label is an error.
    separator, encoding: found out unless given. decimal: ``.`` or ``,``.

    Labels are whole numbers if all are written as such, else text; ``01`` or ``+1`` make all of them text. A
    category that only the test file has is 0 in all columns of its attribute and -1 in ``table``.
    Raises DataError for what is wrong with a file, ConfigError for a key or value that is not known.
    """
    told = _spec(spec)
    files = [
        read_csv(path, told.separator, told.encoding) for path in (told.csv, told.test) if path is not None
    ]
    attributes = _attributes(told, files)
    notes = [note for file in files for note in file.notes]
    for file in files:
        _check_labels_there(file, told.label)
        _handle_missing(file, attributes, told, notes)
    train = files[0]
    y = _labels([label for file in files for label in file.column(told.label)])
    _check_classes(told, files, y, notes)
    table, categories = _table(told, files, attributes, notes)
    _note_identifiers(told, train, attributes, table, notes)
    coding = "dummy-drop-first" if told.drop_first else "dummy"
    X, columns = code_columns(table, attributes, categories, coding)
    groups = None
    if told.groups is not None:
        groups = np.array([group for file in files for group in file.column(told.groups)])
    divided = len(files) == 2
    return DataSet(
        name=told.name,
        X=X,
        y=y,
        attributes=columns,
        table=table,
        table_attributes=tuple(attributes),
        nominal=np.array([known is not None for known in categories], dtype=bool),
        categories=categories,
        train_rows=np.arange(len(train.rows)) if divided else None,
        test_rows=np.arange(len(train.rows), len(y)) if divided else None,
        groups=groups,
        notes=tuple(notes),
    )


# ---- what is asked for


def _spec(spec: Mapping[str, Any]) -> CsvSpec:
    given = {str(key).replace("-", "_"): value for key, value in spec.items() if value is not None}
    known = set(CsvSpec.__dataclass_fields__)
    for key in given:
        if key not in known:
            hint = did_you_mean(key.replace("_", "-"), sorted(other.replace("_", "-") for other in known))
            raise ConfigError(f"a data set from a CSV file has no key '{key}'", hint=hint)
    if "label" not in given:
        raise ConfigError(f"{given['csv']} needs label, the name of the column with the class")
    for key in ("csv", "test"):
        if key in given:
            given[key] = Path(given[key]).expanduser()
    given.setdefault("name", given["csv"].stem)
    for key in ("ignore", "nominal"):
        if key in given:
            names = [given[key]] if isinstance(given[key], str) else given[key]
            given[key] = tuple(dict.fromkeys(str(name) for name in names))
    for key in ("label", "groups"):
        if key in given:
            given[key] = str(given[key])
    told = CsvSpec(**given)
    if told.missing not in ("error", "drop", "mean"):
        hint = did_you_mean(str(told.missing), ("error", "drop", "mean"), list_all=False)
        raise ConfigError(f"missing must be error, drop or mean, got '{told.missing}'", hint=hint)
    if told.decimal not in (".", ","):
        raise ConfigError(f"decimal must be '.' or ',', got '{told.decimal}'")
    return told


def _attributes(told: CsvSpec, files: Sequence[CsvText]) -> list[str]:
    """The names of the attributes, in the order of the file, once all named columns are known to be there."""
    train = files[0]
    asked = {"label": (told.label,), "ignore": told.ignore, "nominal": told.nominal, "groups": ()}
    if told.groups is not None:
        asked["groups"] = (told.groups,)
    for key, names in asked.items():
        for name in names:
            if name not in train.names:
                raise _no_column(train, key, name)
    if told.label in (*told.ignore, *told.nominal, *asked["groups"]):
        key = next(key for key in ("ignore", "nominal", "groups") if told.label in asked[key])
        raise ConfigError(
            f"'{told.label}' is the label, it cannot stand under {key} too", where=str(told.csv)
        )
    for name in told.nominal:
        if name in told.ignore or name == told.groups:
            other = "ignore" if name in told.ignore else "groups"
            raise ConfigError(f"column '{name}' stands under nominal and {other}", where=str(told.csv))
    left_out = {told.label, told.groups, *told.ignore}
    attributes = [name for name in train.names if name not in left_out]
    if not attributes:
        raise DataError("no attributes are left beside the label", where=str(train.path))
    for test in files[1:]:
        lacking = [name for name in (told.label, *asked["groups"], *attributes) if name not in test.names]
        if told.label in lacking:
            hint = (
                did_you_mean(told.label, test.names, list_all=False) or "a test file needs the true classes"
            )
            raise DataError(f"there is no label column '{told.label}'", where=str(test.path), hint=hint)
        if lacking:
            which = _listed([f"'{name}'" for name in lacking])
            hint = did_you_mean(lacking[0], [n for n in test.names if n not in train.names], list_all=False)
            raise DataError(
                f"columns of {train.path.name} are missing: {which}", where=str(test.path), hint=hint
            )
        more = [name for name in test.names if name not in train.names]
        if more:
            which = _listed([f"'{name}'" for name in more])
            test.notes.append(
                f"{test.path.name}: columns that {train.path.name} has not are left out: {which}"
            )
    return attributes


def _no_column(file: CsvText, key: str, name: str) -> DataError:
    hint = did_you_mean(name, file.names, list_all=False)
    there = f"the columns are {_listed(file.names, 20)}"
    hint = f"{hint} ({there})" if hint else there
    if sum(_is_number(other) for other in file.names) * 2 > len(file.names):
        hint += "; they look like data: the file needs a first line with the names of its columns"
    what = "label column" if key == "label" else f"column of {key}:"
    return DataError(f"there is no {what} '{name}'", where=str(file.path), hint=hint)


# ---- labels


def _check_labels_there(file: CsvText, label: str) -> None:
    lines = [at for at, value in zip(file.lines, file.column(label), strict=True) if _is_missing(value)]
    if lines:
        where = f"{file.path}, {_lines(lines)}, column '{label}'"
        raise DataError("the label is missing", where=where, hint="give it, or take the rows out of the file")


def _labels(texts: Sequence[str]) -> np.ndarray:
    """(n,) int64 if every label is a whole number in its usual form, else text."""
    if all(_INTEGER.fullmatch(text) for text in set(texts)):
        return np.array([int(text) for text in texts], dtype=np.int64)
    return np.array(texts, dtype=str)


def _check_classes(told: CsvSpec, files: Sequence[CsvText], y: np.ndarray, notes: list[str]) -> None:
    train = files[0]
    own, rest = y[: len(train.rows)].tolist(), y[len(train.rows) :].tolist()
    counts = Counter(own)
    where = f"{train.path}, column '{told.label}'"
    if len(counts) == 1:
        raise DataError(f"every row is of class {own[0]!r}: there is nothing to tell apart", where=where)
    if len(counts) == len(own) > 2 and not rest:
        hint = "is it the right column? A class, not a measurement, is expected"
        raise DataError("every row has a label of its own", where=where, hint=hint)
    single = {label for label, count in (counts + Counter(rest)).items() if count == 1}
    for at, label in zip((at for file in files for at in file.lines), (*own, *rest), strict=True):
        if label in single and len(single) <= _SHOWN:
            notes.append(f"class {label!r} has one row only (line {at}): no split has it in both parts")
    if len(single) > _SHOWN:
        notes.append(f"{len(single)} of {len(counts)} classes have one row only: is '{told.label}' a class?")
    for label, count in Counter(rest).items():
        if label not in counts:
            rows = "row" if count == 1 else "rows"
            notes.append(f"class {label!r} is in the test file only ({count} {rows}): it cannot be learnt")


# ---- missing values


def _handle_missing(file: CsvText, attributes: Sequence[str], told: CsvSpec, notes: list[str]) -> None:
    used = [*attributes, told.groups] if told.groups is not None else list(attributes)
    at = [file.names.index(name) for name in used]
    places = [
        (row, name)
        for row, fields in enumerate(file.rows)
        for name, column in zip(used, at, strict=True)
        if len(fields[column]) < 5 and _is_missing(fields[column])
    ]
    if not places:
        return
    if told.missing == "drop":
        gone = {row for row, _ in places}
        notes.append(f"{file.path.name}: {_rows(len(gone))} of {len(file.rows)} with missing values left out")
        file.keep([row not in gone for row in range(len(file.rows))])
        if not file.rows:
            hint = "missing: mean keeps rows, ignore: leaves a column out"
            raise DataError("every row has missing values: none is left", where=str(file.path), hint=hint)
        return
    empty = [name for name, count in Counter(name for _, name in places).items() if count == len(file.rows)]
    if empty and file.path != told.test:  # a test file can be filled in from the training file
        which = _listed([f"'{name}'" for name in empty])
        column = "column has" if len(empty) == 1 else "columns have"
        raise DataError(f"{column} no values: {which}", where=str(file.path), hint="list them under ignore:")
    of_groups = [(row, name) for row, name in places if name == told.groups]
    if told.missing == "mean" and not of_groups:
        notes.append(f"{file.path.name}: {_values(len(places))} missing, to be filled in with means")
        return
    shown = of_groups if told.missing == "mean" else places
    row, name = shown[0]
    value = file.rows[row][file.names.index(name)]
    said = "the field is empty" if not value else f"the value is missing ('{value}')"
    if len(shown) > 1:
        lines = _lines([file.lines[other] for other, _ in shown[1:]])
        said += f"; {len(shown) - 1} more, on {lines}"
    hint = "missing: drop leaves such rows out, missing: mean fills in means"
    if of_groups and told.missing == "mean":
        hint = "a group cannot be filled in; missing: drop leaves such rows out"
    raise DataError(said, where=f"{file.path}, line {file.lines[row]}, column '{name}'", hint=hint)


# ---- attributes


def _table(
    told: CsvSpec, files: Sequence[CsvText], attributes: Sequence[str], notes: list[str]
) -> tuple[np.ndarray, tuple[tuple[str, ...] | None, ...]]:
    """The attributes of all files, (n, a) float64 with codes for categories, and the categories."""
    table = np.empty((sum(len(file.rows) for file in files), len(attributes)))
    all_categories: list[tuple[str, ...] | None] = []
    wrong: list[tuple[str, CsvText, list[int]]] = []
    for j, name in enumerate(attributes):
        if name in told.nominal:
            categories = sort_categories(text for text in files[0].column(name) if not _is_missing(text))
            table[:, j] = np.concatenate([_codes(file, name, categories, notes) for file in files])
            all_categories.append(categories)
            continue
        all_categories.append(None)
        start = 0
        for file in files:
            values, not_numbers = _numbers(file.column(name), told.decimal)
            if not_numbers:
                wrong.append((name, file, not_numbers))
            table[start : start + len(values), j] = values
            start += len(values)
    if wrong:
        raise _text_columns(told, wrong)
    _check_finite(files, attributes, all_categories, table)
    return table, tuple(all_categories)


def _codes(file: CsvText, name: str, categories: tuple[str, ...], notes: list[str]) -> np.ndarray:
    place: dict[str, float] = {category: code for code, category in enumerate(categories)}
    texts = file.column(name)
    unseen = Counter(text for text in texts if text not in place and not _is_missing(text))
    if unseen:
        which = _listed([f"'{text}'" for text in unseen])
        notes.append(
            f"{file.path.name}: column '{name}' has categories that the training file has not, "
            f"coded as none of them: {which} ({_rows(sum(unseen.values()))})"
        )
    return np.array([place.get(text, np.nan if _is_missing(text) else -1.0) for text in texts])


def _numbers(texts: Sequence[str], decimal: str) -> tuple[np.ndarray, list[int]]:
    """The numbers, NaN where one is missing, and the rows that are no numbers."""
    if decimal == ",":
        texts = [text.replace(",", ".") if "." not in text else f"'{text}'" for text in texts]
    if "_" not in "".join(texts):
        try:
            return np.array([float(text) for text in texts]), []
        except ValueError:
            pass
    values, wrong = np.full(len(texts), np.nan), []
    for row, text in enumerate(texts):
        if _is_number(text):
            values[row] = float(text)
        elif not _is_missing(text):
            wrong.append(row)
    return values, wrong


def _text_columns(told: CsvSpec, wrong: Sequence[tuple[str, CsvText, list[int]]]) -> DataError:
    """One error for all columns of text that are not said to be nominal."""
    told_of: dict[str, str] = {}
    names, identifiers, commas = [], [], True
    for name, file, rows in wrong:
        texts = file.column(name)
        row = rows[0]
        commas = commas and all(_COMMA_NUMBER.fullmatch(texts[other]) for other in rows)
        if name in told_of:
            continue
        which = "text" if len(rows) * 2 > len(texts) else f"{_values(len(rows))} of text"
        told_of[name] = f"'{name}' ({which}, as '{_short(texts[row])}' on line {file.lines[row]})"
        (identifiers if _all_different(texts) else names).append(name)
    path = wrong[0][1].path
    if commas and told.decimal == ".":
        hint = 'these are numbers with decimal commas: say decimal: ","'
    else:
        hints = []
        if names:
            hints.append(f"categories are listed as nominal: [{_listed(names, 20)}]")
        if identifiers:
            hints.append(f"names or identifiers as ignore: [{_listed(identifiers, 20)}]")
        hint = ", ".join(hints)
    column = "column holds" if len(told_of) == 1 else "columns hold"
    return DataError(f"{column} text, not numbers: {', '.join(told_of.values())}", where=str(path), hint=hint)


def _check_finite(files, attributes, categories, table: np.ndarray) -> None:
    rows, columns = np.nonzero(np.isinf(table))
    if not len(rows):
        return
    row, name = int(rows[0]), attributes[columns[0]]
    file = files[0]
    if row >= len(file.rows):
        row, file = row - len(file.rows), files[1]
    text = file.column(name)[row]
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    where = f"{file.path}, line {file.lines[row]}, column '{name}'"
    raise DataError(f"the value is infinite ('{text}'){more}", where=where, hint="give a number, or nothing")


def _note_identifiers(told: CsvSpec, train: CsvText, attributes, table: np.ndarray, notes: list[str]) -> None:
    if len(train.rows) < _ID_ROWS:
        return
    for j, name in enumerate(attributes):
        values = table[: len(train.rows), j]
        if np.all(values == np.trunc(values)) and len(np.unique(values)) == len(values):
            notes.append(
                f"column '{name}' has another value in every row: is it an identifier? "
                f"ignore: [{name}] leaves it out"
            )


# ---- words


def _is_missing(text: str) -> bool:
    return text.lower() in MISSING


def _is_number(text: str) -> bool:
    if "_" in text or _is_missing(text):
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _all_different(texts: Sequence[str]) -> bool:
    return len(texts) >= _ID_ROWS and len(set(texts)) == len(texts)


def _lines(lines: Sequence[int]) -> str:
    distinct = sorted(set(lines))
    shown = ", ".join(map(str, distinct[:_SHOWN]))
    more = len(distinct) - _SHOWN
    return f"line{'s' if len(distinct) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")


def _listed(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 30 else f"{text[:27]}..."


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def _values(count: int) -> str:
    return f"{count} value" if count == 1 else f"{count} values"
