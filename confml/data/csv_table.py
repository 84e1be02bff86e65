"""A user's own table file as a `DataSet`; every mistake is one clear error with file, line and column."""

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from confml.data.audit import row_groups
from confml.data.coding import SEPARATORS, code_columns, plain_numbers, spelled_as
from confml.data.columns import (
    NOT_MISSING,
    Plain,
    UnknownCategory,
    check_new_columns,
    code_features,
    handle_missing,
    read_columns,
    unknown_notes,
)
from confml.data.dataset import DataSet
from confml.data.memory import require_memory
from confml.data.table_files import read_table, table_name
from confml.data.text_table import (
    TextTable,
    at_lines,
    column_hint,
    counted,
    listed,
    missing_texts,
    quoted,
    short,
)
from confml.errors import ConfigError, ConfigErrors, DataError, in_quotes

LISTS = ("ignore", "nominal", "id")  # keys that name columns, one or more
_SINGLE = ("label", "groups")
DECIMALS = (".", ",")
_VALUES = {  # of keys
    "missing": ("error", "drop", "mean"),
    "duplicates": ("keep", "drop"),
    "decimal": DECIMALS,
    "thousands": (None, *SEPARATORS),
}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0+)?")


@dataclass(frozen=True)
class CsvSpec:
    """A table file and the keys that say how it is read; `load_csv` documents them."""

    csv: Path
    label: str
    name: str
    test: Path | None = None
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    groups: str | None = None
    missing: str = "error"
    separator: str | None = None
    encoding: str | None = None
    decimal: str = "."
    thousands: str | None = None
    header: bool = True
    sheet: str | None = None
    duplicates: str = "keep"
    drop_first: bool = False
    missing_values: tuple[str, ...] | None = None


def load_csv(spec: Mapping[str, Any], coding: str | None = None) -> DataSet:
    """Load the data set of a table file with a header line.

    csv, label: the file, and the column of the class. The file is CSV, also compressed (``.gz``, ``.bz2``,
        ``.zst``), Parquet (``.parquet``) or an Excel workbook (``.xlsx``). name: of the data set, the file's
        stem unless given.
    test: a file of test rows with the same columns, in any order.
    ignore: columns to leave out. id: columns that identify a row: no features, kept in ``ids``.
    nominal: columns of categories, coded 0/1, one column per category (with drop-first: true, one fewer). A
        column none of whose values is a number is categorical too, unless every text in it is different: then
        it is an identifier. Any other column must be numbers.
    groups: a column of groups, not a feature.
    duplicates: ``keep``; ``drop`` leaves out the training rows that repeat an earlier one, label included.
    missing: treatment of a missing feature: ``error``; ``drop`` leaves the row out; ``mean`` keeps it as NaN,
        for a step to fill in. A missing label is an error.
    missing-values: the texts that are missing values, in every column; an empty field is one too. By default
        ?, NA, N/A, nan, null, <NA> or #N/A in upper or lower case, a nan with a sign, and None.
    separator, encoding: of a CSV file, detected if omitted. decimal: ``.`` or ``,``. thousands: the
        separator of thousands, detected if omitted; signs of currencies and percent signs are removed, and
        ``12 %`` is the number 12. header: False for a file without a header line, whose columns are called
        column-1, column-2 and so on. sheet: of a workbook, the first by default.

    Labels are whole numbers if all are written as such (``1`` or ``1.0``), else text; ``01`` or ``+1`` make
    all of them text. A category that only the test file has is 0 in all columns of its feature and -1 in
    ``table``.
    coding: of categories in ``X`` (`confml.data.coding.code_columns`), by default that of drop-first;
        ``integer`` for an audit, since each column of a category takes memory.
    Raises DataError for an error in a file; ConfigError for a wrong key, value or column, ConfigErrors for
    several.
    """
    keys = read_spec(spec)
    how = (keys.separator, keys.encoding, keys.header, keys.sheet)
    paths = [keys.csv, *([] if keys.test is None else [keys.test])]
    return load_tables(keys, [read_table(path, *how) for path in paths], coding)


def load_tables(
    spec: CsvSpec | Mapping[str, Any], files: Sequence[TextTable], coding: str | None = None
) -> DataSet:
    """Load tables that were read already, as `load_csv` does: the training rows, and the test rows if there
    are any.

    The rows of a table that are left out are taken out of it.
    """
    keys = spec if isinstance(spec, CsvSpec) else read_spec(spec)
    train = files[0]
    for file in files:
        file.missing = missing_texts(keys.missing_values)
    features = check_columns(keys, train)
    groups = [] if keys.groups is None else [keys.groups]
    notes = [note for file in files for note in file.notes]
    for test in files[1:]:
        notes += check_new_columns(test, [keys.label, *groups, *features], train.names)
    for file in files:
        _check_labels(file, keys.label)
    plain = Plain(*plain_numbers(train, features, keys.decimal, keys.nominal))
    plain = handle_missing(train, features, plain, keys, False, notes)
    rows_of_file = len(train)
    if keys.duplicates == "drop":  # before the kinds of columns are found
        texts = [train.texts(name).codes for name in [*features, *groups, keys.label]]
        plain = plain._replace(values=_without_duplicates(train, plain.values, texts))
    names, values, categories, text_ids, marks = read_columns(train, features, plain, keys, notes)
    if keys.duplicates == "drop":
        # The same numbers and labels in other forms, and rows that differ in identifiers only.
        of_rows = [*(train.texts(name).codes for name in groups), _labels([train], keys.label)[1]]
        values = _without_duplicates(train, values, [*values.T, *of_rows])
    if gone := rows_of_file - len(train):
        notes.append(f"{train.path.name}: {counted(gone, 'row')} equal to an earlier row left out")
    for test in files[1:]:
        unknown: dict[str, UnknownCategory] = {}
        coded = code_features(test, names, categories, marks, keys.decimal, unknown)
        notes += [f"{test.path.name}: {note}" for note in unknown_notes(unknown, names, categories)]
        plain = Plain(coded, np.ones(len(names), dtype=bool))
        values = np.concatenate([values, handle_missing(test, names, plain, keys, True, notes).values])
    classes, codes = _labels(files, keys.label)
    _check_classes(keys, files, classes, codes, notes)
    coding = coding or ("dummy-drop-first" if keys.drop_first else "dummy")
    X, attributes = code_columns(values, names, categories, coding)
    id_columns = tuple(dict.fromkeys((*keys.id, *text_ids)))
    # A test file may lack an identifier.
    ids = [
        _texts([file.fields(name) if name in file else [""] * len(file) for file in files])
        for name in id_columns
    ]
    rows, divided = np.arange(len(codes)), len(files) == 2
    return DataSet(
        name=keys.name,
        X=X,
        y=np.array(classes)[codes],
        attributes=attributes,
        table=values,
        table_attributes=tuple(names),
        nominal=np.array([texts is not None for texts in categories], dtype=bool),
        categories=categories,
        train_rows=rows[: len(train)] if divided else None,
        test_rows=rows[len(train) :] if divided else None,
        groups=_texts([file.fields(groups[0]) for file in files]) if groups else None,
        lines=np.concatenate([file.lines for file in files]),
        ids=np.column_stack(ids) if ids else None,
        id_columns=id_columns,
        notes=tuple(notes),
        number_marks=marks,
    )


def _without_duplicates(table: TextTable, values: np.ndarray, columns: Sequence[np.ndarray]) -> np.ndarray:
    """Remove rows that repeat an earlier one in all columns (n,) from a table; return the others' values."""
    first = row_groups(np.column_stack(columns)) == np.arange(len(table))
    table.keep(first)
    return values[first]


# ---- keys


def read_spec(spec: Mapping[str, Any]) -> CsvSpec:
    """Return the spec of plain keys; hyphens and underscores are the same. Raises ConfigError for a wrong
    one.
    """
    values = {str(key).replace("-", "_"): value for key, value in spec.items() if value is not None}
    fields = CsvSpec.__dataclass_fields__
    for key in values.keys() - fields.keys():
        near = key.replace("_", "-"), sorted(field.replace("_", "-") for field in fields)
        raise ConfigError(f"a data set from a CSV file has no key '{key}'", near=near)
    if "label" not in values:
        raise ConfigError(f"{values['csv']} needs label, the name of the column with the class")
    for key in {"csv", "test"} & {*values}:
        values[key] = Path(os.path.expanduser(values[key]))
    for key in {*LISTS, "missing_values"} & {*values}:
        names = [values[key]] if isinstance(values[key], str | int) else values[key]
        values[key] = tuple(dict.fromkeys(map(str, names)))
    values |= {key: str(values[key]) for key in _SINGLE if key in values}
    keys = CsvSpec(**{"name": table_name(values["csv"]), **values})
    for key, allowed in _VALUES.items():
        check_value(key, getattr(keys, key), allowed)
    if keys.thousands == keys.decimal:
        raise ConfigError(f"thousands is the decimal mark, '{keys.decimal}'")
    return keys


def check_value(key: str, value: Any, allowed: Sequence[str | None]) -> None:
    """Raise ConfigError for a value of a key that is not one of those that it may have."""
    if value not in allowed:
        options = ", ".join(f"'{option}'" for option in allowed if option is not None)
        raise ConfigError(f"{key} must be one of {options}, got '{value}'")


def named_columns(spec: Any) -> Iterator[tuple[str, int | None, str]]:
    """Iterate over (key, position in its list or None, name) for every column that a key names.

    spec: the keys, as a `CsvSpec` or as an entry of a config, where None is a key that is not given.
    """
    for key in _SINGLE:
        if getattr(spec, key) is not None:
            yield key, None, getattr(spec, key)
    for key in LISTS:
        for at, name in enumerate(getattr(spec, key) or ()):
            yield key, at, name


def column_mistakes(
    spec: Any, names: Sequence[str], table: TextTable | None = None
) -> Iterator[tuple[str, int | None, str, str | None]]:
    """Iterate over (key, position in its list, message, hint) for every key that names a wrong column.

    names: the columns of the file. table: with their fields, where they are read.
    """
    there = set(names)
    used: dict[str, str] = {}  # the key that named a column first
    for key, at, name in named_columns(spec):
        if name not in there:
            what = "label column" if key == "label" else f"column of {key}:"
            yield key, at, f"there is no {what} {in_quotes(short(name, 60))}", column_hint(name, names, table)
            continue
        first_key = used.setdefault(name, key)
        if first_key != key and {first_key, key} not in ({"id", "ignore"}, {"id", "groups"}):
            message = f"column {in_quotes(name)} is listed under {first_key} and {key}"
            yield key, at, message, "take it out of one of them"


def check_columns(spec: CsvSpec, table: TextTable) -> list[str]:
    """Return the names of the features, in the order of the file.

    Raises one ConfigErrors for all keys that name wrong columns, ConfigError where no feature is left.
    """
    where = str(table.path)
    errors = [
        ConfigError(text, where=where, hint=hint)
        for _, _, text, hint in column_mistakes(spec, table.names, table)
    ]
    if errors:
        raise errors[0] if len(errors) == 1 else ConfigErrors(errors)
    left_out = {spec.label, spec.groups, *spec.ignore, *spec.id}
    features = [name for name in table.names if name not in left_out]
    if not features:
        raise ConfigError("no features are left besides the label", where=where)
    return features


# ---- labels


def _check_labels(file: TextTable, label: str) -> None:
    """Raise DataError for rows without a label."""
    texts = file.texts(label)
    if "" in texts.distinct:
        missing = np.flatnonzero(~texts.where(bool))
        where = f"{file.path}, {at_lines(file.lines[missing].tolist(), file.unit)}, column {in_quotes(label)}"
        unmatched = quoted(sorted({file.text(row, label) for row in missing.tolist()} - {""}))
        hint = f"give it, or take the rows out of the file; {NOT_MISSING}"
        raise DataError(f"the label is missing ({unmatched or 'empty'})", where=where, hint=hint)


def _labels(files: Sequence[TextTable], label: str) -> tuple[list[int] | list[str], np.ndarray]:
    """Return the classes in the order of their first rows, and (n,) the code of the class of each row.

    They are whole numbers if every label is one in its usual form, else text.
    """
    columns = [file.texts(label) for file in files]
    labels: list[Any] = [texts.distinct for texts in columns]
    if all(_INTEGER.fullmatch(text) for distinct in labels for text in distinct):
        labels = [[int(text.partition(".")[0]) for text in distinct] for distinct in labels]
    else:
        for at in range(1, len(files)):
            labels[at] = spelled_as(labels[at], labels[0])
    classes = list(dict.fromkeys(itertools.chain(*labels)))
    code_of = {text: code for code, text in enumerate(classes)}
    codes = [np.array([code_of[text] for text in distinct], dtype=np.intp) for distinct in labels]
    return classes, np.concatenate([code[texts.codes] for code, texts in zip(codes, columns, strict=True)])


def _check_classes(
    keys: CsvSpec, files: Sequence[TextTable], classes: Sequence, codes: np.ndarray, notes: list[str]
) -> None:
    """Raise DataError for a label that is not a class; note classes of one row or of the test file."""
    train, n = files[0], len(files[0])
    counts = np.bincount(codes[:n], minlength=len(classes))
    of_test = np.bincount(codes[n:], minlength=len(classes))
    of_train = np.flatnonzero(counts).tolist()
    where = f"{train.path}, column {in_quotes(keys.label)}"
    if len(of_train) == 1:
        only = short(repr(classes[of_train[0]]), 60)
        raise DataError(f"every row is of class {only}: the data must have at least two classes", where=where)
    if len(of_train) == n > 2 and len(files) == 1:
        hint = "check --label: expected a column of classes, found measurements or identifiers"
        raise DataError("every row has a different label", where=where, hint=hint)
    if single := [short(repr(classes[j]), 60) for j in np.flatnonzero(counts + of_test == 1).tolist()]:
        notes.append(
            f"{len(single)} of {len(classes)} classes have only one row, so no split has it in both parts: "
            f"{listed(single)}; is {in_quotes(keys.label)} the class?"
        )
    absent = np.flatnonzero(counts == 0).tolist()
    if absent:
        shown = listed(f"{short(repr(classes[j]), 60)} ({counted(of_test[j], 'row')})" for j in absent)
        if not of_test[of_train].any():
            hint = f"write labels as the training file does: {listed(repr(classes[j]) for j in of_train)}"
            where = files[1].where(0, keys.label)
            raise DataError(f"no test label is a class of the training file: {shown}", where=where, hint=hint)
        notes.append(f"classes in the test file only, which cannot be learnt: {shown}")


# ---- texts


def _texts(parts: Sequence[Sequence[str]]) -> np.ndarray:
    """Return (n,) text; numpy takes 4 bytes per character of the longest one for each."""
    texts = list(itertools.chain(*parts))
    longest = max(map(len, texts), default=1)
    require_memory(4 * longest * len(texts), f"a column of texts of up to {longest} characters")
    return np.array(texts, dtype=str)
