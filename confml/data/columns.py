"""Columns of a table file as numbers or categories, and its missing values."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from confml.data.coding import (
    Marks,
    Numbers,
    category_codes,
    numbers_in,
    numbers_of,
    plain_numbers,
    sort_categories,
    without_marks,
)
from confml.data.identifiers import ID_ROWS
from confml.data.large_integers import rounded_texts
from confml.data.text_table import Texts, TextTable, at_lines, counted, listed, quoted, short
from confml.errors import DataError, did_you_mean, in_quotes

NOT_MISSING = 'if the text is a value, missing-values: [] (init --missing-values "") keeps it'
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")
_KEPT_CATEGORIES = 20  # unknown ones that are remembered per column
_REMEDIES = {
    "comma": 'texts such as 1,5 are numbers with a decimal comma: decimal: "," (--decimal ,)',
    "unclear": 'commas separate thousands: thousands: "," (init --thousands ,), or are decimal marks: '
    'decimal: "," (--decimal ,)',
    "mixed": "correct the fields, empty those of missing values, or list the column under nominal: "
    "(--nominal COLUMN)",
}


class Columns(NamedTuple):
    """The features of the training rows.

    names: a features. values: (n, a) float64; codes for categories. categories: by feature, None for numbers.
    identifiers: columns of text with a different value in every row, which are not used as features.
    marks: thousands separators and signs of numbers, by feature.
    """

    names: list[str]
    values: np.ndarray
    categories: tuple[tuple[str, ...] | None, ...]
    identifiers: tuple[str, ...]
    marks: dict[str, Marks]


class Plain(NamedTuple):
    """The features of a file as `plain_numbers`: values (n, a), and which of the a features are numbers."""

    values: np.ndarray
    is_plain: np.ndarray


# ---- training rows


def read_columns(
    table: TextTable,
    features: Sequence[str],
    plain: Plain,
    spec: Any,
    notes: list[str],
) -> Columns:
    """Return the features of the training rows as numbers and categories.

    spec: has ``nominal``, ``decimal`` and ``thousands``. A column in ``nominal`` is categorical, and so is
    one none of whose values is a number, or one of whole numbers that a float64 cannot hold (above 2^53).
    Raises one DataError for all columns that mix numbers and text, with the lines of the rarer kind.
    """
    nominal, values = set(spec.nominal), plain.values
    is_plain = plain.is_plain & ~((values >= 2**53) | (values <= -(2**53))).any(axis=0)
    categories: dict[str, tuple[str, ...] | None] = {}  # of the columns that are features
    by_kind: dict[str, list[str]] = {"nominal": [], "text": [], "integer": [], "identifier": []}
    problems: dict[str, str] = {}  # kind by sentence
    marks: dict[str, Marks] = {}
    for at, name in enumerate(features):
        if is_plain[at] and name not in nominal:
            categories[name] = None
            continue
        texts, kind = table.texts(name), "nominal"
        if name not in nominal:
            numbers = numbers_in(texts, spec.decimal, spec.thousands)
            kind = _kind(texts, numbers, spec.decimal)
            if kind == "number":
                categories[name], values[:, at] = None, numbers.values
                if numbers.marks:
                    marks[name] = numbers.marks
                continue
            if kind in _REMEDIES:
                problems[_mixed(name, table, texts, numbers.wrong)] = kind
                continue
            if len(texts.distinct) == len(table) >= ID_ROWS:
                by_kind["identifier"].append(name)
                continue
        by_kind[kind].append(name)
        categories[name] = sort_categories(filter(None, texts.distinct))
        values[:, at] = category_codes(texts, categories[name] or ())[1]
    if problems:
        hint = next(hint for kind, hint in _REMEDIES.items() if kind in problems.values())
        raise _joined(list(problems), table, hint)
    names, identifiers = list(categories), by_kind["identifier"]
    if not names:
        message = f"no features are left: a different text in every row of {quoted(identifiers)}"
        hint = "list a column under nominal: to use it as a feature"
        raise DataError(message, where=str(table.path), hint=hint)
    values = values[:, [name in categories for name in features]] if len(names) < len(features) else values
    check_finite(table, names, values)
    for signs in dict.fromkeys(marks.values()):
        marked = [name for name in marks if marks[name] == signs]
        column = "column" if len(marked) == 1 else "columns"
        signs_shown = quoted(sign.strip() or "blank" for sign in signs)
        notes.append(f"fields with {signs_shown} are read as numbers: {column} {quoted(marked, 10)}")
    _note_kinds(by_kind, categories, notes)
    if spec.thousands is not None:
        numeric = (name for name in names if categories[name] is None)
        marks = {name: tuple(sorted({*marks.get(name, ()), spec.thousands})) for name in numeric}
    return Columns(names, values, tuple(categories.values()), tuple(identifiers), marks)


def _kind(texts: Texts, numbers: Numbers, decimal: str) -> str:
    """Return ``number``, ``text``, ``integer`` (above 2^53), or a problem: ``mixed``, ``comma``, ``unclear``.

    The last two are numbers with a decimal comma, and with commas that may be decimal commas.
    """
    if not numbers.wrong.any():
        return "integer" if _has_inexact_integers(texts, numbers, decimal) else "number"
    if numbers.is_unclear:
        return "unclear"
    wrong = [texts.distinct[code] for code in np.unique(texts.codes[numbers.wrong])]
    if decimal == "." and all(map(_COMMA_NUMBER.fullmatch, wrong)):
        return "comma"
    return "text" if np.array_equal(numbers.wrong, texts.where(bool)) else "mixed"


def _has_inexact_integers(texts: Texts, numbers: Numbers, decimal: str) -> bool:
    """Return whether a column holds whole numbers only, and a float64 changes one of them."""
    values = numbers.values[np.isfinite(numbers.values)]
    if np.all(np.abs(values) < 2**53) or np.any(values % 1):
        return False
    plain = without_marks(texts.distinct, numbers.marks, decimal)
    return next(rounded_texts(plain, numbers_of(plain, decimal)[0]), None) is not None


def _mixed(name: str, table: TextTable, texts: Texts, wrong: np.ndarray) -> str:
    """Return that a column mixes numbers and text, with the lines of the rarer kind. wrong: (n,) bool."""
    present = texts.where(bool)
    words, numbers = int(wrong.sum()), int((present & ~wrong).sum())
    odd = np.flatnonzero(present & ~wrong if words > numbers > 0 else wrong)
    lines = at_lines(table.lines[odd].tolist(), table.unit)
    counts = (f"{counted(numbers, 'number')} and " if numbers else "") + counted(words, "text")
    example = short(table.text(odd[0], name))
    return f"column {in_quotes(short(name, 60))} holds {counts} ('{example}' on {lines})"


def _joined(problems: Sequence[str], table: TextTable, hint: str) -> DataError:
    rest = f"; {len(problems) - 5} more such columns" if len(problems) > 5 else ""
    return DataError("; ".join(problems[:5]) + rest, where=str(table.path), hint=hint)


# ---- test rows and new rows


def check_new_columns(table: TextTable, needed: Sequence[str], usable: Collection[str]) -> list[str]:
    """Raise one DataError for all missing columns; return a note on columns that are not used."""
    lacking, used = [name for name in needed if name not in table], set(usable)
    extra = [name for name in table.names if name not in used]
    if lacking:
        similar = did_you_mean(lacking[0], extra, list_all=False)
        hint = "; ".join(filter(None, [f"there are {quoted(table.names, 20)}", similar]))
        message = f"columns of the training rows are missing: {quoted(lacking, 20)}"
        raise DataError(message, where=str(table.path), hint=hint)
    unused = f"{table.path.name}: columns that the training rows do not have are not used: {quoted(extra)}"
    return [unused] if extra else []


@dataclass
class UnknownCategory:
    """Categories of one column that no training row has, or whole numbers that float64 changes: some of them,
    number of rows, place of the first."""

    rows: int = 0
    location: str = ""
    texts: set[str] = field(default_factory=set)


def code_features(
    table: TextTable,
    names: Sequence[str],
    categories: Sequence[tuple[str, ...] | None],
    marks: Mapping[str, Marks],
    decimal: str,
    unknown: dict[str, UnknownCategory],
) -> np.ndarray:
    """Return the values (n, a) of the features of test rows or new rows, coded as those of training rows.

    categories, marks: as in `Columns`. unknown: gets the unknown categories and the numbers that are rounded,
    by column. Raises one DataError for all columns with texts in place of numbers, and for infinite values.
    """
    values, plain = np.empty((len(table), len(names)), order="F"), np.zeros(len(names), dtype=bool)
    numeric = [j for j, texts in enumerate(categories) if texts is None]
    values[:, numeric], plain[numeric] = plain_numbers(table, [names[j] for j in numeric], decimal)
    problems: list[str] = []
    hint = "correct the fields, or leave them empty if the values are missing"
    for j in np.flatnonzero(~plain | (np.abs(values) >= 2**53).any(axis=0)).tolist():
        name, of_column, texts = names[j], categories[j], table.texts(names[j])
        if of_column is not None:
            texts, values[:, j] = category_codes(texts, of_column)
            _remember(unknown, name, table, texts, np.unique(texts.codes[values[:, j] == -1.0]).tolist())
            continue
        plain_texts = Texts(without_marks(texts.distinct, marks.get(name, ()), decimal), texts.codes)
        numbers, wrong = numbers_of(plain_texts.distinct, decimal)
        if wrong.any() and table.separator is None:  # not from a CSV file: numbers have a point
            numbers, wrong = numbers_of(texts.distinct, ".")
        if wrong.any():
            decimal_mark = "," if decimal == "." else "."
            if table.separator is not None and not numbers_of(texts.distinct, decimal_mark)[1].any():
                hint = f"name the decimal mark of this file: --decimal {decimal_mark}"
            lines = at_lines(table.lines[wrong[texts.codes]].tolist(), table.unit)
            text = short(texts.distinct[int(np.argmax(wrong))])
            problems.append(
                f"column {in_quotes(short(name, 60))} must be numbers as in the training rows, got '{text}' "
                f"({lines})"
            )
        values[:, j] = numbers[texts.codes]
        _remember(unknown, name, table, plain_texts, list(rounded_texts(plain_texts.distinct, numbers)))
    if problems:
        raise _joined(problems, table, hint)
    check_finite(table, names, values)
    return values


def _remember(
    unknown: dict[str, UnknownCategory], name: str, table: TextTable, texts: Texts, codes: Sequence[int]
) -> None:
    """Add the distinct texts of these codes to ``unknown``."""
    rows = np.flatnonzero(np.isin(texts.codes, codes))
    if len(rows):
        first = UnknownCategory(location=f"{table.unit} {table.lines[rows[0]]}")
        category = unknown.setdefault(name, first)
        category.rows += len(rows)
        category.texts |= {texts.distinct[code] for code in codes[: _KEPT_CATEGORIES - len(category.texts)]}


def unknown_notes(
    unknown: Mapping[str, UnknownCategory],
    names: Sequence[str],
    categories: Sequence[tuple[str, ...] | None],
) -> list[str]:
    """Return sentences on the categories that no training row has, and on numbers that are rounded."""
    notes = []
    for name, category in unknown.items():
        texts = categories[names.index(name)]
        if texts is None:
            fact = "whole numbers above 2^53, which are rounded to float64"
            effect = f"nominal: [{short(name, 40)}] makes it categorical"
        else:
            fact = "categories that no training row has"
            effect = f"they are coded as none of the training categories: {quoted(texts)}"
        notes.append(
            f"column {in_quotes(short(name, 60))} has {fact}: {quoted(sorted(category.texts))} "
            f"({counted(category.rows, 'row')}, the first on {category.location}); {effect}"
        )
    return notes


# ---- all rows


def handle_missing(
    table: TextTable,
    features: Sequence[str],
    plain: Plain,
    spec: Any,
    is_test: bool,
    notes: list[str],
) -> Plain:
    """Drop the rows with missing values, keep them, or raise DataError, as ``missing`` says.

    spec: has ``missing``, and ``groups``, the column of groups, whose values can be missing too. is_test:
    whether it is a test file, whose features can be filled in from the training file.
    """
    groups, where = spec.groups, str(table.path)
    absent = np.isnan(plain.values)
    for at in np.flatnonzero(~plain.is_plain).tolist():
        absent[:, at] = ~table.texts(features[at]).where(bool)
    names = list(features)
    if groups is not None:
        absent, names = np.column_stack([absent, ~table.texts(groups).where(bool)]), [*names, groups]
    if not absent.any():
        return plain
    if spec.missing == "drop":
        complete = np.asarray(~absent.any(axis=1))
        gone = f"{counted(int((~complete).sum()), 'row')} of {len(table)}"
        notes.append(f"{table.path.name}: {gone} with missing values left out")
        if not complete.any():
            hint = "missing: mean keeps rows, ignore: leaves a column out"
            raise DataError("every row has missing values, so no row is left", where=where, hint=hint)
        table.keep(complete)
        return plain._replace(values=plain.values[complete])
    empty = [name for name, is_empty in zip(names, absent.all(axis=0), strict=True) if is_empty]
    if empty and not is_test:
        message = f"columns have no values: {quoted(empty)}"
        raise DataError(message, where=where, hint="list them under ignore:")
    if spec.missing == "mean":
        count = counted(int(absent.sum()), "missing value")
        absent = absent & (np.array(names) == groups)
        if not absent.any():
            notes.append(f"{table.path.name}: mean imputation of {count}")
            return plain
    hint = "missing: drop (--missing drop) leaves such rows out"
    hint += ", missing: mean (--missing mean) replaces them by means" if spec.missing == "error" else ""
    raise missing_error(table, names, absent, hint)


def missing_error(table: TextTable, names: Sequence[str], absent: np.ndarray, hint: str) -> DataError:
    """Return the error of missing values. absent: (n, a) bool."""
    rows, columns = np.nonzero(absent)
    first, name = int(rows[0]), names[int(columns[0])]
    value = table.text(first, name)
    message = f"the value is missing ('{value}')" if value else "the field is empty"
    if len(rows) > 1:
        message += f"; {len(rows) - 1} more, on {at_lines(table.lines[rows[1:]].tolist(), table.unit)}"
    return DataError(
        message, where=table.where(first, name), hint=f"{hint}; {NOT_MISSING}" if value else hint
    )


def check_finite(table: TextTable, names: Sequence[str], values: np.ndarray) -> None:
    """Raise DataError for infinite values (n, a)."""
    rows, columns = np.nonzero(np.isinf(values))
    if len(rows):
        row, name = int(rows[0]), names[columns[0]]
        rest = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
        message = f"the value is infinite ('{short(table.text(row, name))}'){rest}"
        raise DataError(message, where=table.where(row, name), hint="give a number, or leave the field empty")


def _note_kinds(by_kind: Mapping[str, list[str]], categories: Mapping[str, Any], notes: list[str]) -> None:
    text, integers, identifiers = by_kind["text"], by_kind["integer"], by_kind["identifier"]
    if text:
        counts = (counted(len(categories[name]), "category", "categories") for name in text)
        shown = [f"'{short(name, 40)}' ({count})" for name, count in zip(text, counts, strict=True)]
        column = "a column without numbers is" if len(text) == 1 else "columns without numbers are"
        notes.append(f"{column} taken as categorical: {listed(shown, 10)}")
    if identifiers:
        notes.append(
            f"columns with a different text in every row are taken as identifiers, not as features: "
            f"{quoted(identifiers, 10)}; nominal: [{short(identifiers[0], 40)}] makes it a feature"
        )
    if integers:
        fact = "columns of whole numbers above 2^53, which floats would round, are taken as categorical"
        notes.append(f"{fact}: {quoted(integers, 10)}")
