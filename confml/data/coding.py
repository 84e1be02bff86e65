"""Columns of text as numbers with their marks, as categories with their spellings, and as columns of X."""

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confml.data.memory import require_memory
from confml.data.text_table import Texts, TextTable, is_number, is_numeric, short

CURRENCIES = ("$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY")
SEPARATORS = (",", ".", "'", "’", " ", "\u00a0", "\u202f")  # between thousands
Marks = tuple[str, ...]
CODINGS = ("dummy", "dummy-drop-first", "integer")
FEWEST_SPARSE = 1000  # columns from which X may be sparse
SPARSENESS = 10  # it is if at most one of so many values is stored


def sort_categories(texts: Iterable[str]) -> tuple[str, ...]:
    """Return categories in their order: by value if all are whole numbers, else by their characters."""
    distinct = set(texts)
    if all(re.fullmatch(r"[+-]?[0-9]+", text) for text in distinct):
        return tuple(sorted(distinct, key=lambda text: (int(text), text)))
    return tuple(sorted(distinct))


def code_columns(
    table: np.ndarray,
    names: Sequence[str],
    categories: Sequence[Sequence[str] | None],
    coding: str = "dummy",
) -> tuple[Any, tuple[str, ...]]:
    """Return the columns of X, and their names.

    table: (n, a) numbers, and for a nominal attribute places in its ``categories`` (None: numeric).
    coding: ``dummy`` makes one 0/1 column a category, called ``colour=red``; ``dummy-drop-first`` leaves
        out the first of each attribute (full rank with an intercept); ``integer`` keeps the place.
    Returns X (n, d) float64, a CSR matrix where categories make very many columns, and d names. A
    missing value (NaN) is NaN in all columns of its attribute. Raises ValueError for another coding.
    """
    if coding not in CODINGS:
        raise ValueError(f"coding is one of {', '.join(CODINGS)}, got {coding!r}")
    if coding == "integer" or all(texts is None for texts in categories):
        return table, tuple(names)
    skipped = 1 if coding == "dummy-drop-first" else 0
    columns: list[str] = []
    starts: list[int] = []
    for name, texts in zip(names, categories, strict=True):
        starts.append(len(columns))
        columns += [name] if texts is None else [f"{name}={category}" for category in texts[skipped:]]
    starts.append(len(columns))
    shape, nominal = (len(table), len(columns)), [texts is not None for texts in categories]
    entries = table.size + int(np.isnan(table[:, nominal]).sum(axis=0) @ np.diff(starts)[nominal])
    if len(columns) >= FEWEST_SPARSE and SPARSENESS * entries <= len(table) * len(columns):
        from scipy.sparse import coo_matrix

        parts = zip(*_entries(table, categories, starts, skipped), strict=True)
        rows, positions, values = map(np.concatenate, parts)
        return coo_matrix((values, (rows, positions)), shape).tocsr(), tuple(columns)
    require_memory_to_code(*shape, names, categories)
    X = np.zeros(shape)
    for rows, positions, values in _entries(table, categories, starts, skipped):
        X[rows, positions] = values
    return X, tuple(columns)


def _entries(
    table: np.ndarray, categories: Sequence[Sequence[str] | None], starts: Sequence[int], skipped: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield rows, columns and values of the entries of `code_columns`, attribute by attribute.

    starts: the first column of each attribute, and the number of columns.
    """
    for j, texts in enumerate(categories):
        values, start = table[:, j], starts[j]
        if texts is None:
            yield np.arange(len(values)), np.full(len(values), start), values
            continue
        present, width = np.flatnonzero(values >= skipped), starts[j + 1] - start
        yield present, start - skipped + values[present].astype(np.intp), np.ones(len(present))
        missing = np.repeat(np.flatnonzero(np.isnan(values)), width)
        yield missing, start + np.arange(len(missing)) % max(1, width), np.full(len(missing), np.nan)


def require_memory_to_code(
    rows: int,
    columns: int,
    names: Sequence[str],
    categories: Sequence[Sequence[str] | None],
    where: str | None = None,
) -> None:
    """Raise DataError where columns of categories do not fit in memory; warn where they are large."""
    counts = [len(texts or ()) for texts in categories]
    most = int(np.argmax(counts))
    name = short(names[most], 60)
    require_memory(
        8 * rows * columns,
        f"coding {rows} rows as {columns} columns ('{name}' has {counts[most]} categories)",
        where=where,
        hint=f"leave it out with ignore: [{name}], or merge its rare categories",
    )


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*)?")  # 02 and +2 may be codes


def category_codes(texts: Texts, categories: Sequence[str]) -> tuple[Texts, np.ndarray]:
    """Return `spelled_as`, and the codes (n,): NaN of a missing value, -1 of an unknown category."""
    codes = {text: float(code) for code, text in enumerate(categories)}
    spelled = Texts(spelled_as(texts.distinct, categories), texts.codes)
    values = [codes.get(text, -1.0 if text else np.nan) for text in spelled.distinct]
    return spelled, np.array(values, dtype=np.float64)[texts.codes]


def spelled_as(texts: Sequence[str], known_texts: Collection[str]) -> list[str]:
    """Return the texts, with a number that is unknown in its form replaced by the known text of its value."""
    distinct = set(known_texts)
    if distinct.issuperset(texts):
        return list(texts)
    by_value: dict[Decimal, str | None] = {}  # exact: a float would make integers above 2^53 equal
    for text in known_texts:
        if _NUMBER.fullmatch(text):
            by_value[Decimal(text)] = None if Decimal(text) in by_value else text
    unknown = [text for text in {*texts} - distinct if _NUMBER.fullmatch(text)]
    new = {text: by_value.get(Decimal(text)) or text for text in unknown}
    return [new.get(text, text) for text in texts]


# ---- numbers


class Numbers(NamedTuple):
    """A column that is read as numbers.

    values: (n,), NaN where one is missing. wrong: (n,) bool, the rows that are no numbers. marks: signs and
    thousands separators, which are removed. is_unclear: whether commas between thousands may be decimal
    commas; then the numbers with commas are wrong.
    """

    values: np.ndarray
    wrong: np.ndarray
    marks: Marks
    is_unclear: bool


_TOGETHER = 1 << 20  # fields that are read as numbers at a time


def plain_numbers(
    table: TextTable, names: Sequence[str], decimal: str, nominal: Collection[str] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return columns as numbers (n, a), NaN where one is missing, and (a,) bool, which columns are numbers.

    Columns with marks, with numbers that only Python reads, and those in ``nominal`` are none. Many columns
    are read together: they take no time of their own.
    """
    n = len(table)
    by_column, plain = np.empty((len(names), n)), np.zeros(len(names), dtype=bool)
    columns = [table.data.column(table.positions[name]) for name in names]
    numbers = [float(text.replace(",", ".")) for text in table.missing if is_number(text.replace(",", "."))]
    texts = []
    for at, column in enumerate(columns):
        if is_numeric(column.type):
            by_column[at] = column.cast(pa.float64(), safe=False).to_numpy()
            if numbers:
                by_column[at, np.isin(by_column[at], numbers)] = np.nan
            plain[at] = True
        elif names[at] not in nominal:
            texts.append(at)
    step = max(1, _TOGETHER // max(1, n))
    parts = [texts[first : first + step] for first in range(0, len(texts) if n else 0, step)]
    while parts:
        part = parts.pop()
        fields = pa.chunked_array([chunk for at in part for chunk in columns[at].chunks])
        of_part = _plain(fields, sorted({"", *table.missing}), decimal)
        if of_part is not None:
            by_column[part] = of_part.reshape(-1, n)
            plain[part] = True
        elif len(part) > 1:
            parts += [part[: len(part) // 2], part[len(part) // 2 :]]
    return by_column.T, plain


def _plain(fields: pa.ChunkedArray, missing: Sequence[str], decimal: str) -> np.ndarray | None:
    """Return fields as numbers, None if one is neither a number nor missing."""
    if numbers := [text for text in missing if is_number(text.replace(",", "."))]:  # such as -999
        fields = pc.if_else(pc.is_in(fields, value_set=pa.array(numbers)), None, fields)
    if decimal == ",":
        if pc.any(pc.match_substring(fields, ".")).as_py():
            return None
        fields = pc.replace_substring(fields, ",", ".")
    for is_sure in (True, False):
        if not is_sure:  # numbers begin with a digit, a sign or a point, and these stand between + and :
            is_text = pc.or_(pc.less(fields, "+"), pc.greater_equal(fields, ":"))
            if not pc.all(pc.is_in(fields.filter(is_text), value_set=pa.array(missing))).as_py():
                return None
            fields = pc.if_else(is_text, None, fields)
        with contextlib.suppress(pa.ArrowInvalid):
            numbers = fields.cast(pa.float64())
            if not pc.any(pc.is_nan(numbers)).as_py():
                return numbers.to_numpy()
    return None


def numbers_in(texts: Texts, decimal: str, thousands: str | None) -> Numbers:
    """Return a column as numbers. thousands: their separator, detected if it is None."""
    marks: Marks = ()
    is_unclear = False
    values, wrong = numbers_of(texts.distinct, decimal)
    if wrong.any():
        marks = marks_of(texts.distinct, decimal) or ()
        if thousands is not None and {*marks} & {*SEPARATORS} - {thousands}:
            marks = ()
        is_unclear = thousands is None and is_ambiguous(texts.distinct, marks, decimal)
        if not is_unclear:
            values, wrong = numbers_of(without_marks(texts.distinct, marks, decimal), decimal)
    return Numbers(values[texts.codes], wrong[texts.codes], marks, is_unclear)


def numbers_of(texts: Sequence[str], decimal: str) -> tuple[np.ndarray, np.ndarray]:
    """Return (m,) numbers, NaN for an empty text, and (m,) bool, which texts are not numbers."""
    if decimal == ",":
        texts = [text.replace(",", ".") if "." not in text else f"'{text}'" for text in texts]
    values = np.array([float(text) if is_number(text) else np.nan for text in texts], dtype=np.float64)
    return values, np.isnan(values) & np.array(list(map(bool, texts)), dtype=bool)


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    between = "".join(re.escape(mark) for mark in SEPARATORS if mark != decimal)
    d, money = re.escape(decimal), "|".join(map(re.escape, CURRENCIES))
    return re.compile(
        rf"(?P<minus>[+-]?)\s*(?P<before>{money})?\s*(?P<sign>[+-]?)"
        rf"(?P<number>(?:[1-9]\d{{0,2}}(?P<between>[{between}])\d{{3}}(?:(?P=between)\d{{3}})*|\d+)(?:{d}\d*)?|{d}\d+)"
        rf"\s*(?P<after>%|{money})?"
    )


def _parts(text: str, decimal: str) -> tuple[str, Marks] | None:
    """Return a number without its marks, and the marks; None for a text that is not a number."""
    match = _pattern(decimal).fullmatch(text)
    if match is None or (match["minus"] and match["sign"]) or (match["before"] and match["after"]):
        return None
    between = match["between"]
    number = match["number"] if between is None else match["number"].replace(between, "")
    marks = tuple(mark for mark in (match["before"], match["after"], between) if mark)
    return match["minus"] + match["sign"] + number.replace(decimal, "."), marks


def marks_of(texts: Iterable[str], decimal: str) -> Marks | None:
    """Return the marks of a column: at most one sign and one thousands separator.

    None if a text is not a number, if two signs or separators occur, or if only some numbers have a percent
    sign.
    """
    parts = [_parts(text, decimal) for text in texts if text]
    if None in parts:
        return None
    of_texts = [part[1] for part in parts if part is not None]
    marks = {mark for of_text in of_texts for mark in of_text}
    signs = marks - {*SEPARATORS}
    if len(signs) > 1 or len(marks - signs) > 1 or ("%" in marks and not all("%" in of for of in of_texts)):
        return None
    return tuple(sorted(marks))


def is_ambiguous(texts: Iterable[str], marks: Marks, decimal: str) -> bool:
    """Return whether commas between thousands may be decimal commas: 5,074 without other evidence.

    Evidence is a number with two commas or with a decimal point, or a number below 1000 without a comma
    unless a longer number has none either.
    """
    if "," not in marks or decimal != ".":
        return False
    there = {*filter(None, texts)}
    if any("." in text or text.count(",") > 1 for text in there):
        return False
    lengths = [sum(map(str.isdigit, text)) for text in there if "," not in text]
    return not lengths or max(lengths) > 3


def without_marks(texts: Sequence[str], marks: Marks, decimal: str) -> list[str]:
    """Return numbers without these marks, with a decimal point replaced by ``decimal``; others unchanged."""
    if not marks:
        return list(texts)
    parts = [(text, _parts(text, decimal)) for text in texts]
    return [
        text if part is None or not {*part[1]} <= {*marks} else part[0].replace(".", decimal)
        for text, part in parts
    ]
