"""Columns of a table file as numbers or categories, and its missing values."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from confml.data.coding import (
    Marks,
    NumberFormat,
    Numbers,
    categories_in,
    has_point_decimals,
    marks_in_words,
    numbers_in,
    numbers_of,
    without_marks,
)
from confml.data.identifiers import ID_ROWS, identifier_finding, is_like_identifier
from confml.data.large_integers import rounded_texts
from confml.data.text_table import (
    HAS_HEADER,
    Texts,
    TextTable,
    at_lines,
    counted,
    listed,
    quoted,
    short,
)
from confml.errors import DataError, in_quotes

NOT_MISSING = 'if the text is a value, missing-values: [] (--missing-values "") keeps it'
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


class Plain(NamedTuple):
    """The features of a file as `plain_numbers`: values (n, a), and which of the a features are numbers."""

    values: np.ndarray
    is_plain: np.ndarray


def read_columns(
    files: Sequence[TextTable],
    features: Sequence[str],
    plain: Sequence[Plain],
    nominal: Collection[str],
    form: NumberFormat,
    has_header: bool,
    notes: list[str],
) -> Columns:
    """Return the features as numbers and categories.

    A column in ``nominal`` is categorical, and so is one none of whose training values is a number, or one of
    whole numbers that a float64 cannot hold (above 2^53). plain: of each file. Raises
    one DataError for all columns that mix numbers and text, with the lines of the rarer kind.
    """
    train, nominal = files[0], set(nominal)
    values = plain[0].values if len(files) == 1 else np.concatenate([part.values for part in plain])
    is_plain = np.all([part.is_plain for part in plain], axis=0) & ~(np.abs(values) >= 2**53).any(axis=0)
    names: list[str] = []
    kept: list[int] = []  # places of the names among the features
    categories: list[tuple[str, ...] | None] = []
    found: list[str] = []  # columns taken as categorical without being declared
    inexact: list[str] = []  # columns of integers that floats cannot hold, taken as categorical
    identifiers: list[str] = []
    mixed: list[tuple[Path, str]] = []
    of_header: list[str] = []  # texts on the first line of columns of numbers, without a header
    commas = False
    marked: dict[str, Marks] = {}
    unclear: list[tuple[Path, str]] = []  # columns with thousands separators or decimal commas
    for at, name in enumerate(features):
        if is_plain[at] and name not in nominal:
            names.append(name)
            kept.append(at)
            categories.append(None)
            continue
        texts = [file.texts(name) for file in files]
        numbers = None if name in nominal else numbers_in(texts, form)
        if numbers is not None:
            if numbers.unclear.any():
                unclear.append(_mixed(name, train, numbers.unclear, int(numbers.unclear.sum())))
            if numbers.marks:
                marked[name] = numbers.marks
            wrong = numbers.wrong[0]
            present = int(texts[0].where(bool).sum())
            if wrong.any() and int(wrong.sum()) == present:
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
        kept.append(at)
        if numbers is None:
            known, codes, unknown = categories_in(texts, name, [str(file.path) for file in files])
            values[:, at] = np.concatenate(codes)
            categories.append(known)
            notes += [_unseen(file, name, other) for file, other in zip(files, unknown, strict=True) if other]
            continue
        for file, column, wrong in zip(files, texts, numbers.wrong, strict=True):
            if wrong.any():
                mixed.append(_mixed(name, file, wrong, int(column.where(bool).sum())))
                of_header += [file.text(0, name)] if wrong[0] and wrong.sum() == 1 and not has_header else []
                commas = commas or _has_decimal_commas(column, wrong, form)
                break
        values[:, at] = np.concatenate(numbers.values)
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
    values = values if len(kept) == values.shape[1] else values[:, kept]
    check_finite(files, names, values)
    _note_kinds(found, identifiers, dict(zip(names, categories, strict=True)), notes)
    if inexact:
        columns_of = "a column" if len(inexact) == 1 else "columns"
        notes.append(
            f"{columns_of} of whole numbers above 2^53, which floats would round, taken as categorical: "
            f"{quoted(inexact, 10)}"
        )
    _note_number_identifiers(train, names, values, notes)
    return Columns(names, values, tuple(categories), tuple(identifiers), marked)


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
    groups, missing, n = spec.groups, spec.missing, len(table)
    used, gaps = [*features, *([] if groups is None else [groups])], {}
    incomplete = np.isnan(plain.values).any(axis=0)
    for at, name in enumerate(used):
        is_number = at < len(features) and plain.is_plain[at]
        if not is_number or incomplete[at]:
            gap = np.isnan(plain.values[:, at]) if is_number else ~table.texts(name).where(bool)
            if gap.any():
                gaps[name] = gap
    if not gaps:
        return plain
    absent, names = np.column_stack(list(gaps.values())), list(gaps)
    if missing == "drop":
        kept = np.asarray(~absent.any(axis=1))
        gone = f"{counted(int((~kept).sum()), 'row')} of {n}"
        notes.append(f"{table.path.name}: {gone} with missing values left out")
        if not kept.any():
            hint = "missing: mean keeps rows, ignore: leaves a column out"
            raise DataError("every row has missing values: none is left", where=str(table.path), hint=hint)
        table.keep(kept)
        return plain._replace(values=plain.values[kept])
    empty = [name for name, gap in gaps.items() if gap.all()]
    if empty and not is_test:
        column = "column has" if len(empty) == 1 else "columns have"
        raise DataError(
            f"{column} no values: {quoted(empty)}", where=str(table.path), hint="list them under ignore:"
        )
    if missing == "mean" and groups not in gaps:
        count = counted(int(absent.sum()), "value")
        notes.append(f"{table.path.name}: {count} missing, to be filled in with means")
        return plain
    if missing == "mean":
        absent &= np.array(names) == groups
    rows, of_gaps = np.nonzero(absent)
    first, name = int(rows[0]), names[of_gaps[0]]
    value = table.text(first, name)
    message = f"the value is missing ('{value}')" if value else "the field is empty"
    if len(rows) > 1:
        message += f"; {len(rows) - 1} more, on {at_lines(table.lines[rows[1:]].tolist(), table.unit)}"
    hint = (
        "missing: drop (--missing drop) leaves such rows out, missing: mean (--missing mean) fills in means"
    )
    if missing == "mean":
        hint = "a group cannot be filled in; missing: drop (--missing drop) leaves such rows out"
    raise DataError(message, where=table.where(first, name), hint=f"{hint}; {NOT_MISSING}" if value else hint)


def _has_inexact_integers(texts: Sequence[Texts], numbers: Numbers, form: NumberFormat) -> bool:
    """Return whether a column holds whole numbers only, and a float64 changes one of them."""
    if any(wrong.any() for wrong in numbers.wrong):
        return False
    values = np.concatenate(numbers.values)
    values = values[np.isfinite(values)]
    if np.all(np.abs(values) < 2**53) or np.any(values % 1):
        return False
    distinct = [text for column in texts for text in column.distinct]
    plain = without_marks(distinct, numbers.marks, form.decimal)
    return any(True for _ in rounded_texts(plain, numbers_of(plain, form.decimal)[0]))


def _has_decimal_commas(texts: Texts, wrong: np.ndarray, form: NumberFormat) -> bool:
    """Return whether all texts that are no numbers are numbers with a decimal comma."""
    if form.decimal != ".":
        return False
    codes = np.flatnonzero(np.bincount(texts.codes[wrong]))
    return all(_COMMA_NUMBER.fullmatch(texts.distinct[code]) for code in codes)


def _has_thousands(table: TextTable, names: Sequence[str], marked: Mapping[str, Marks], unclear: int) -> bool:
    """Return whether a column shows commas between thousands, or a point as decimal mark."""
    clear = sum("," in marks for marks in marked.values()) > unclear
    return clear or any(has_point_decimals(table.texts(name).distinct) for name in names)


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


def _unseen(table: TextTable, name: str, unknown: Mapping[str, int]) -> str:
    return (
        f"{table.path.name}: column {in_quotes(name)} has categories that the training file does not have, "
        f"coded as none of them: {quoted(unknown)} ({counted(sum(unknown.values()), 'row')})"
    )


def _mixed(name: str, table: TextTable, wrong: np.ndarray, present: int) -> tuple[Path, str]:
    """Return a column that mixes numbers and text, with the lines of the rarer kind. wrong: (n,) bool."""
    texts = int(wrong.sum())
    if 2 * texts > present > texts:
        wrong = table.texts(name).where(bool) & ~wrong
    odd = np.flatnonzero(wrong)
    example = short(table.text(odd[0], name))
    lines = at_lines(table.lines[odd].tolist(), table.unit)
    numbers = present - texts
    counts = counted(texts, "text")
    if numbers:
        counts = f"{counted(numbers, 'number')} and {counts}"
    return table.path, f"column {in_quotes(short(name, 60))} holds {counts} ('{example}' on {lines})"


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


def check_finite(files: Sequence[TextTable], names: Sequence[str], values: np.ndarray) -> None:
    """Raise DataError for infinite values (n, a) of the rows of one or two files."""
    rows, columns = np.nonzero(np.isinf(values))
    if not len(rows):
        return
    row, name = int(rows[0]), names[columns[0]]
    table = files[0]
    if row >= len(table):
        row, table = row - len(table), files[1]
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    text = short(table.text(row, name))
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


def _note_number_identifiers(train: TextTable, names, values: np.ndarray, notes: list[str]) -> None:
    values = values[: len(train)]
    head = values[:1000]  # a few rows refute most columns, all at once
    whole = np.flatnonzero((head == np.trunc(head)).all(axis=0)) if len(values) >= ID_ROWS else ()
    found = [names[j] for j in whole if is_like_identifier(names[j], values[:, j])]
    if found:
        identifier = identifier_finding(found)
        notes.append(f"{identifier.sentence}; {identifier.remedy}")


def _have(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def _all_different(texts: Texts) -> bool:
    return len(texts.distinct) == len(texts) >= ID_ROWS
