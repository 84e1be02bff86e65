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
    numbers_in,
    numbers_of,
    without_marks,
)
from confml.data.identifiers import ID_ROWS, KEY, is_like_identifier, no_feature_finding
from confml.data.large_integers import rounded_texts
from confml.data.text_table import (
    Texts,
    TextTable,
    at_lines,
    counted,
    listed,
    quoted,
    short,
)
from confml.errors import DataError, in_quotes

NOT_MISSING = 'if the text is a value, missing-values: [] (init --missing-values "") keeps it'
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
    categories: dict[str, tuple[str, ...] | None] = {}  # of the columns that are features
    by_kind: dict[str, list[str]] = {"text": [], "integer": [], "identifier": []}
    problems: list[tuple[Path, str]] = []
    problem_kinds: set[str] = set()
    by_marks: dict[Marks, list[str]] = {}
    for at, name in enumerate(features):
        if is_plain[at] and name not in nominal:
            categories[name] = None
            continue
        texts = [file.texts(name) for file in files]
        if name not in nominal:
            numbers = numbers_in(texts, form)
            kind = _kind(texts, numbers, form)
            if kind == "number":
                categories[name] = None
                values[:, at] = np.concatenate(numbers.values)
                if numbers.marks:
                    by_marks.setdefault(numbers.marks, []).append(name)
                continue
            if kind not in by_kind:
                file, wrong = next(pair for pair in zip(files, numbers.wrong, strict=True) if pair[1].any())
                problems.append((file.path, _mixed(name, file, wrong)))
                problem_kinds.add(kind)
                continue
            if len(texts[0].distinct) == len(train) >= ID_ROWS:
                by_kind["identifier"].append(name)
                continue
            by_kind[kind].append(name)
        categories[name], codes, unknown = categories_in(texts)
        values[:, at] = np.concatenate(codes)
        notes += [_unseen(file, name, other) for file, other in zip(files, unknown, strict=True) if other]
    if problems:
        raise _mixed_error(problems, problem_kinds)
    names, identifiers = list(categories), by_kind["identifier"]
    if not names:
        raise DataError(
            f"no features are left: {quoted(identifiers)} {'has' if len(identifiers) == 1 else 'have'} a "
            "different text in every row",
            where=str(train.path),
            hint="list a column under nominal: to use it as a feature",
        )
    values = values[:, [name in categories for name in features]] if len(names) < len(features) else values
    check_finite(files, names, values)
    for marks, marked in by_marks.items():
        column = "column" if len(marked) == 1 else "columns"
        notes.append(f"fields with {quoted(marks)} are read as numbers: {column} {quoted(marked, 10)}")
    _note_kinds(by_kind, categories, notes)
    head = values[: min(len(train), 1000)]  # a few rows refute most columns, all at once
    whole = np.flatnonzero((head == np.trunc(head)).all(axis=0)) if len(train) >= ID_ROWS else ()
    if numbered := [names[j] for j in whole if is_like_identifier(names[j], values[: len(train), j])]:
        identifier = no_feature_finding("identifier", dict.fromkeys(numbered, KEY))
        notes.append(f"{identifier.sentence}; {identifier.remedy}")
    marks_of = {name: marks for marks, marked in by_marks.items() for name in marked}
    return Columns(names, values, tuple(categories.values()), tuple(identifiers), marks_of)


def _kind(texts: Sequence[Texts], numbers: Numbers, form: NumberFormat) -> str:
    """Return ``number``, ``text``, ``integer`` (above 2^53), or a problem: ``mixed``, ``comma``, ``unclear``.

    The last two are numbers with a decimal comma, and with commas that may be decimal commas.
    """
    wrong = next((pair for pair in zip(texts, numbers.wrong, strict=True) if pair[1].any()), None)
    if wrong is None:
        return "integer" if _has_inexact_integers(texts, numbers, form) else "number"
    if numbers.is_unclear:
        return "unclear"
    of_wrong = np.flatnonzero(np.bincount(wrong[0].codes[wrong[1]]))
    if form.decimal == "." and all(_COMMA_NUMBER.fullmatch(wrong[0].distinct[code]) for code in of_wrong):
        return "comma"
    return "text" if np.array_equal(numbers.wrong[0], texts[0].where(bool)) else "mixed"


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
    for at, name in enumerate(used):
        if at < len(features) and plain.is_plain[at]:
            gap = np.isnan(plain.values[:, at])
        else:
            gap = ~table.texts(name).where(bool)
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
            raise DataError(
                "every row has missing values, so no row is left", where=str(table.path), hint=hint
            )
        table.keep(kept)
        return plain._replace(values=plain.values[kept])
    empty = [name for name, gap in gaps.items() if gap.all()]
    if empty and not is_test:
        message = f"columns have no values: {quoted(empty)}"
        raise DataError(message, where=str(table.path), hint="list them under ignore:")
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
    hint = "missing: drop (--missing drop) leaves such rows out"
    hint += ", missing: mean (--missing mean) fills in means" if missing == "error" else ""
    raise DataError(message, where=table.where(first, name), hint=f"{hint}; {NOT_MISSING}" if value else hint)


def _has_inexact_integers(texts: Sequence[Texts], numbers: Numbers, form: NumberFormat) -> bool:
    """Return whether a column holds whole numbers only, and a float64 changes one of them."""
    values = np.concatenate(numbers.values)
    values = values[np.isfinite(values)]
    if np.all(np.abs(values) < 2**53) or np.any(values % 1):
        return False
    distinct = [text for column in texts for text in column.distinct]
    plain = without_marks(distinct, numbers.marks, form.decimal)
    return any(True for _ in rounded_texts(plain, numbers_of(plain, form.decimal)[0]))


def _unseen(table: TextTable, name: str, unknown: Mapping[str, int]) -> str:
    return (
        f"{table.path.name}: column {in_quotes(name)} has categories that the training file does not have, "
        f"coded as none of them: {quoted(unknown)} ({counted(sum(unknown.values()), 'row')})"
    )


def _mixed(name: str, table: TextTable, wrong: np.ndarray) -> str:
    """Return that a column mixes numbers and text, with the lines of the rarer kind. wrong: (n,) bool."""
    present = table.texts(name).where(bool)
    texts, numbers = int(wrong.sum()), int((present & ~wrong).sum())
    odd = np.flatnonzero(present & ~wrong if texts > numbers > 0 else wrong)
    lines = at_lines(table.lines[odd].tolist(), table.unit)
    counts = (f"{counted(numbers, 'number')} and " if numbers else "") + counted(texts, "text")
    example = short(table.text(odd[0], name))
    return f"column {in_quotes(short(name, 60))} holds {counts} ('{example}' on {lines})"


_REMEDIES = {
    "comma": 'texts such as 1,5 are numbers with a decimal comma: decimal: "," (--decimal ,)',
    "unclear": 'commas separate thousands: thousands: "," (init --thousands ,), or are decimal marks: '
    'decimal: "," (--decimal ,)',
    "mixed": "correct the fields, empty those of missing values, or list the column under nominal: "
    "(--nominal COLUMN)",
}


def _mixed_error(problems: Sequence[tuple[Path, str]], kinds: Collection[str]) -> DataError:
    rest = f"; {len(problems) - 5} more such columns" if len(problems) > 5 else ""
    paths = {path for path, _ in problems}
    message = "; ".join(text if len(paths) == 1 else f"{path}: {text}" for path, text in problems[:5])
    hint = next(hint for kind, hint in _REMEDIES.items() if kind in kinds)
    return DataError(message + rest, where=str(problems[0][0]) if len(paths) == 1 else None, hint=hint)


def check_finite(files: Sequence[TextTable], names: Sequence[str], values: np.ndarray) -> None:
    """Raise DataError for infinite values (n, a) of the rows of one or two files."""
    is_infinite = np.isinf(values)
    if not is_infinite.any():
        return
    rows, columns = np.nonzero(is_infinite)
    row, name = int(rows[0]), names[columns[0]]
    table = files[0]
    if row >= len(table):
        row, table = row - len(table), files[1]
    others = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    text = short(table.text(row, name))
    message = f"the value is infinite ('{text}'){others}"
    raise DataError(message, where=table.where(row, name), hint="give a number, or leave the field empty")


def _note_kinds(by_kind: Mapping[str, list[str]], categories: Mapping[str, Any], notes: list[str]) -> None:
    text, integers, identifiers = by_kind["text"], by_kind["integer"], by_kind["identifier"]
    if text:
        shown = [
            f"'{short(name, 40)}' ({counted(len(categories[name]), 'category', 'categories')})"
            for name in text
        ]
        column = "a column without numbers is" if len(text) == 1 else "columns without numbers are"
        notes.append(f"{column} taken as categorical: {listed(shown, 10)}")
    if identifiers:
        notes.append(
            f"columns with a different text in every row are taken as identifiers, not as features: "
            f"{quoted(identifiers, 10)}; nominal: [{short(identifiers[0], 40)}] makes it a feature"
        )
    if integers:
        notes.append(
            "columns of whole numbers above 2^53, which floats would round, are taken as categorical: "
            f"{quoted(integers, 10)}"
        )
