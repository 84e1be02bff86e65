"""Columns of a table file as numbers or categories, and its missing values."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from confml.data.coding import (
    Marks,
    NumberFormat,
    Numbers,
    categories_in,
    has_point_decimals,
    marks_in_words,
    numbers_in,
    without_marks,
)
from confml.data.identifiers import ID_ROWS, identifier_finding, is_like_identifier
from confml.data.large_integers import rounded_texts
from confml.data.text_table import (
    HAS_HEADER,
    MISSING,
    TextTable,
    at_lines,
    counted,
    is_missing,
    listed,
    quoted,
    short,
)
from confml.errors import DataError

_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?")


@dataclass
class Columns:
    """The features of all files, concatenated.

    names: a features. values: (n, a) float64; codes for categories. categories: by feature, None for numbers.
    identifiers: columns of text with a different value in every row, which are not used as features.
    marks: thousands separators and signs of numbers, by feature.
    """

    names: list[str] = field(default_factory=list)
    values: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    categories: tuple[tuple[str, ...] | None, ...] = ()
    identifiers: tuple[str, ...] = ()
    marks: dict[str, Marks] = field(default_factory=dict)


def read_columns(
    files: Sequence[TextTable],
    features: Sequence[str],
    nominal: Collection[str],
    form: NumberFormat,
    has_header: bool,
    notes: list[str],
) -> Columns:
    """Return the features as numbers and categories.

    A column in ``nominal`` is categorical, and so is one none of whose training values is a number, or one of
    whole numbers that a float64 cannot hold (above 2^53). Raises
    one DataError for all columns that mix numbers and text, with the lines of the rarer kind.
    """
    train, nominal = files[0], set(nominal)
    columns: list[np.ndarray] = []
    names: list[str] = []
    categories: list[tuple[str, ...] | None] = []
    found: list[str] = []  # columns taken as categorical without being declared
    inexact: list[str] = []  # columns of integers that floats cannot hold, taken as categorical
    identifiers: list[str] = []
    mixed: list[tuple[Path, str]] = []
    of_header: list[str] = []  # texts on the first line of columns of numbers, without a header
    commas = False
    marked: dict[str, Marks] = {}
    unclear: list[tuple[Path, str]] = []  # columns with thousands separators or decimal commas
    for name in features:
        texts = [file.columns[name] for file in files]
        numbers = None if name in nominal else numbers_in(texts, form)
        if numbers is not None:
            if numbers.unclear:
                unclear.append(_mixed(name, train, numbers.unclear, len(numbers.unclear)))
            if numbers.marks:
                marked[name] = numbers.marks
            wrong = numbers.wrong[0]
            present = sum(not is_missing(text) for text in texts[0]) if wrong else 0
            if wrong and len(wrong) == present:
                if _has_decimal_commas(texts[0], wrong, form):
                    mixed.append(_mixed(name, train, wrong, present))
                    commas = True
                    continue
                if _all_different(texts[0]):
                    identifiers.append(name)
                    continue
                found.append(name)
                numbers = None
            elif _has_inexact_integers(texts, numbers, form):
                if _all_different(texts[0]):
                    identifiers.append(name)
                    continue
                inexact.append(name)
                numbers = None
        names.append(name)
        if numbers is None:
            known, codes, unknown = categories_in(texts, name, [str(file.path) for file in files])
            columns.append(np.concatenate(codes))
            categories.append(known)
            notes += [_unseen(file, name, other) for file, other in zip(files, unknown, strict=True) if other]
            continue
        for file, column, wrong in zip(files, texts, numbers.wrong, strict=True):
            if wrong:
                present = sum(not is_missing(text) for text in column)
                mixed.append(_mixed(name, file, wrong, present))
                of_header += column[:1] if wrong == [0] and not has_header else []
                commas = commas or _has_decimal_commas(column, wrong, form)
                break
        columns.append(np.concatenate(numbers.values))
        categories.append(None)
    if unclear and (commas or not _has_thousands(train, names, marked, len(unclear))):
        raise _unclear_error([*mixed, *unclear] if commas else unclear, commas)
    if mixed and len(of_header) == len(mixed):
        message = f"columns of numbers have a text on the first line: {quoted(of_header)}"
        raise DataError(message, where=str(train.path), hint=HAS_HEADER)
    if mixed:
        raise _mixed_error(mixed, commas)
    _note_marks(marked, notes)
    if not names:
        raise DataError(
            f"no features are left: {quoted(identifiers)} {_have(identifiers)} a different text in every row",
            where=str(train.path),
            hint="list a column under nominal: to use it all the same",
        )
    values = np.column_stack(columns)
    _check_finite(files, names, categories, values)
    _note_kinds(found, identifiers, dict(zip(names, categories, strict=True)), notes)
    if inexact:
        columns_of = "a column" if len(inexact) == 1 else "columns"
        notes.append(
            f"{columns_of} of whole numbers above 2^53, which floats would round, taken as categorical: "
            f"{quoted(inexact, 10)}"
        )
    _note_number_identifiers(train, names, categories, values, notes)
    return Columns(names, values, tuple(categories), tuple(identifiers), marked)


def handle_missing(
    table: TextTable,
    features: Sequence[str],
    groups: str | None,
    missing: str,
    is_test: bool,
    notes: list[str],
) -> None:
    """Drop the rows with missing values, keep them, or raise DataError, as ``missing`` says.

    groups: the column of groups, whose values can be missing too. is_test: whether it is a test file, whose
    features can be filled in from the training file.
    """
    used = [*features, *([] if groups is None else [groups])]
    incomplete = [name for name in used if not MISSING.isdisjoint(table.columns[name])]
    places = [
        (row, name)
        for row, fields in enumerate(zip(*(table.columns[name] for name in incomplete), strict=True))
        for name, text in zip(incomplete, fields, strict=True)
        if text in MISSING
    ]
    if not places:
        return
    if missing == "drop":
        gone = {row for row, _ in places}
        rows = f"{counted(len(gone), 'row')} of {len(table)}"
        notes.append(f"{table.path.name}: {rows} with missing values left out")
        table.keep([row not in gone for row in range(len(table))])
        if not len(table):
            hint = "missing: mean keeps rows, ignore: leaves a column out"
            raise DataError("every row has missing values: none is left", where=str(table.path), hint=hint)
        return
    counts = Counter(name for _, name in places)
    empty = [name for name, count in counts.items() if count == len(table)]
    if empty and not is_test:
        column = "column has" if len(empty) == 1 else "columns have"
        raise DataError(
            f"{column} no values: {quoted(empty)}", where=str(table.path), hint="list them under ignore:"
        )
    of_groups = [(row, name) for row, name in places if name == groups]
    if missing == "mean" and not of_groups:
        notes.append(
            f"{table.path.name}: {counted(len(places), 'value')} missing, to be filled in with means"
        )
        return
    shown = of_groups if missing == "mean" else places
    row, name = shown[0]
    value = table.columns[name][row]
    message = f"the value is missing ('{value}')" if value else "the field is empty"
    if len(shown) > 1:
        lines = at_lines([table.lines[other] for other, _ in shown[1:]], table.unit)
        message += f"; {len(shown) - 1} more, on {lines}"
    hint = (
        "missing: drop (--missing drop) leaves such rows out, missing: mean (--missing mean) fills in means"
    )
    if of_groups and missing == "mean":
        hint = "a group cannot be filled in; missing: drop (--missing drop) leaves such rows out"
    raise DataError(message, where=table.where(row, name), hint=hint)


def _has_inexact_integers(texts: Sequence[Sequence[str]], numbers: Numbers, form: NumberFormat) -> bool:
    """Return whether a column holds whole numbers only, and a float64 changes one of them."""
    if any(numbers.wrong):
        return False
    values = np.concatenate(numbers.values)
    if not np.any(np.abs(values) >= 2**53) or np.any(values[np.isfinite(values)] % 1):
        return False
    plain = [text for column in texts for text in without_marks(column, numbers.marks, form.decimal)]
    return any(True for _ in rounded_texts(plain, values))


def _has_decimal_commas(texts: Sequence[str], wrong: Sequence[int], form: NumberFormat) -> bool:
    """Return whether all texts that are no numbers are numbers with a decimal comma."""
    return form.decimal == "." and all(_COMMA_NUMBER.fullmatch(texts[row]) for row in wrong)


def _has_thousands(table: TextTable, names: Sequence[str], marked: Mapping[str, Marks], unclear: int) -> bool:
    """Return whether a column shows commas between thousands, or a point as decimal mark."""
    clear = sum("," in marks for marks in marked.values()) > unclear
    return clear or any(has_point_decimals(table.columns[name]) for name in names)


def _unclear_error(unclear: list[tuple[Path, str]], commas: bool) -> DataError:
    if commas:
        return _mixed_error(unclear, commas)
    return DataError(
        "; ".join(message for _, message in unclear[:5]),
        where=str(unclear[0][0]),
        hint='commas are either between thousands: thousands: "," (--thousands ,), or decimal commas: '
        'decimal: "," (--decimal ,)',
    )


def _note_marks(marked: Mapping[str, Marks], notes: list[str]) -> None:
    by_marks: dict[Marks, list[str]] = {}
    for name, marks in marked.items():
        by_marks.setdefault(marks, []).append(name)
    for marks, names in by_marks.items():
        column = "column" if len(names) == 1 else "columns"
        notes.append(
            f"numbers with {marks_in_words(marks)} are read as numbers: {column} {quoted(names, 10)}"
        )


def _unseen(table: TextTable, name: str, unknown: Sequence[str]) -> str:
    return (
        f"{table.path.name}: column '{name}' has categories that the training file does not have, coded "
        f"as none of them: {quoted(Counter(unknown))} ({counted(len(unknown), 'row')})"
    )


def _mixed(name: str, table: TextTable, wrong: Sequence[int], present: int) -> tuple[Path, str]:
    """Return a column that mixes numbers and text, with the lines of the rarer kind."""
    texts, odd = table.columns[name], wrong
    if 2 * len(wrong) > present > len(wrong):
        is_wrong = set(wrong)
        odd = [row for row, text in enumerate(texts) if row not in is_wrong and not is_missing(text)]
    example = short(texts[odd[0]])
    lines = at_lines([table.lines[row] for row in odd], table.unit)
    numbers = present - len(wrong)
    counts = counted(len(wrong), "text")
    if numbers:
        counts = f"{counted(numbers, 'number')} and {counts}"
    return table.path, f"column '{short(name, 60)}' holds {counts} ('{example}' on {lines})"


def _mixed_error(mixed: list[tuple[Path, str]], commas: bool) -> DataError:
    more = f"; {len(mixed) - 5} more such columns" if len(mixed) > 5 else ""
    if commas:
        hint = 'texts as 1,5 are numbers with a decimal comma: decimal: "," (--decimal ,)'
    else:
        hint = (
            "correct the fields, empty those of missing values, or list the column under nominal: "
            "(--nominal COLUMN)"
        )
    paths = {path for path, _ in mixed}
    message = "; ".join(text if len(paths) == 1 else f"{path}: {text}" for path, text in mixed[:5])
    return DataError(message + more, where=str(mixed[0][0]) if len(paths) == 1 else None, hint=hint)


def _check_finite(files, names, categories, values: np.ndarray) -> None:
    rows, columns = np.nonzero(np.isinf(values))
    if not len(rows):
        return
    row, name = int(rows[0]), names[columns[0]]
    table = files[0]
    if row >= len(table):
        row, table = row - len(table), files[1]
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    text = short(table.columns[name][row])
    message = f"the value is infinite ('{text}'){more}"
    raise DataError(message, where=table.where(row, name), hint="give a number, or leave the field empty")


def _note_kinds(found, identifiers, categories, notes: list[str]) -> None:
    if found:
        shown = [
            f"'{short(name, 40)}' ({counted(len(categories[name]), 'category', 'categories')})"
            for name in found
        ]
        column = "a column without numbers is" if len(found) == 1 else "columns without numbers are"
        notes.append(f"{column} taken as categorical: {listed(shown, 10)}")
    if identifiers:
        column = "a column" if len(identifiers) == 1 else "columns"
        notes.append(
            f"{column} with a different text in every row taken as an identifier, not as a feature: "
            f"{quoted(identifiers, 10)}; nominal: [{short(identifiers[0], 40)}] makes it a feature"
        )


def _note_number_identifiers(train: TextTable, names, categories, values, notes: list[str]) -> None:
    n = len(train)
    found = [name for j, name in enumerate(names) if n >= ID_ROWS and is_like_identifier(name, values[:n, j])]
    if found:
        identifier = identifier_finding(found)
        notes.append(f"{identifier.sentence}; {identifier.remedy}")


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _all_different(texts: Sequence[str]) -> bool:
    return len(texts) >= ID_ROWS and len(set(texts)) == len(texts)
