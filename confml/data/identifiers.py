"""Columns that are not features: identifiers of rows and of subjects, dates, free text, empty ones."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from confml.data.dataset import DataSet
from confml.data.findings import MOST, Finding
from confml.data.text_table import Texts, listed, short

ID_ROWS = 10  # in fewer rows all values of a feature may well differ
FEWEST_SUBJECTS = 5  # a column of fewer values is a property, such as the group of a treatment
MOST_ROWS = 100  # per value on average: with more, the values are kinds, such as the seat of a person
ID_NAME = re.compile(r"(^|[\W_])(id|nr|no|number|key|code|index|uuid)([\W_]|$)", re.IGNORECASE)
_DATE = re.compile(  # such as 2024-05-31, 31.5.2024, 20240531 or 31 May 2024
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}"
    r"|(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"
    r"|\d{1,2}[ -][a-z]{3,9}\.?,?[ -]\d{2,4}|[a-z]{3,9}\.? \d{1,2},? \d{4})([ T].*)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+\d.,'%€$£\s]*\d[-+\d.,'%€$£\seE]*")  # also with signs and separators
KEY = "a different value in every row"
FIRST_DATE, LAST_DATE = 19_000_000, 21_000_000  # numbers between which dates are, such as 20240531
NEARLY_EMPTY = 0.2  # share of the rows with a value below which a column is nearly empty
SEQUENCE = 0.9  # share of the rows that are one more than the row before
FREE_TEXT = 4  # words per text on average
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")  # of patient_id, patientId and PatientID
_SUBJECTS = {"subject", "patient", "customer", "client", "user", "person", "group", "site", "family", "batch"}
_IDS, _NUMBERS = {"id", "uuid"}, {"no", "nr", "number", "num", "code", "key", "name"}


def no_features(data: DataSet, train: np.ndarray) -> list[Finding]:
    """Return findings on features that are none as they stand, or that seem to name subjects.

    train: (m,) rows.
    """
    by_code: dict[str, dict[str, str]] = {}
    subjects: dict[str, int] = {}
    for j, name in enumerate(data.table_attributes):
        values, categories = data.table[train, j], data.categories[j]
        column: Texts | np.ndarray = values
        if categories is not None:
            column = Texts(["", *categories], np.where(values >= 0, values, -1).astype(np.intp) + 1)
        code, reason = no_feature(name, column)
        has_subjects = data.groups is None and len(train) >= ID_ROWS and code in ("", "identifier")
        if has_subjects and names_subjects(name, values, categories is not None):
            subjects[name] = len(np.unique(values))
        elif code:
            by_code.setdefault(code, {})[name] = reason
    findings = [no_feature_finding(code, reasons) for code, reasons in by_code.items()]
    return [*findings, _subject_finding(subjects, len(train))] if subjects else findings


def is_like_identifier(name: str, values: np.ndarray) -> bool:
    """Return whether the numbers (n,) of a column are all different whole numbers, as those of an identifier.

    Amounts of money are too, so the numbers must be dense, or the name must be that of an identifier.
    """
    for part in (values[:1000], values):  # a few rows refute most columns
        if not _are_whole(part) or len(np.unique(part)) < len(part):
            return False
    return bool(np.ptp(values) < 3 * len(values)) or ID_NAME.search(name) is not None


def no_feature_finding(code: str, reasons: Mapping[str, str]) -> Finding:
    """Return a finding on columns that are not features. reasons: by column."""
    names, key = list(reasons), "id" if code == "identifier" else "ignore"
    fact, them = "a column is probably not a feature", "it"
    if len(names) > 1:
        fact, them = f"{len(names)} columns are probably not features", "them"
    shown = ", ".join(f"'{short(name, 40)}' ({reasons[name]})" for name in names[:5])
    remedy = f"{key}: [{', '.join(short(name, 60) for name in names[:5])}] leaves {them} out of the features"
    return Finding(code, f"{fact}: {shown}", remedy, columns=tuple(names[:MOST]))


def no_feature(name: str, column: Texts | np.ndarray) -> tuple[str, str]:
    """Return the code of a finding and the reason why a column is not a feature as it is; two empty texts
    for a feature.

    column: (n,) numbers, NaN where one is missing, or texts. The reason of an identifier of rows is `KEY`.
    """
    n = len(column)
    values: Any
    texts: list[str] = []
    is_text, is_whole = isinstance(column, Texts), False
    if isinstance(column, Texts):
        occurring = {column.distinct[code] for code in np.unique(column.codes)}
        values = texts = [text for text in column.distinct if text in occurring - {""}]
        filled = column.where(bool)
    else:
        filled = ~np.isnan(column)
        numbers = column[filled]
        is_whole = _are_whole(numbers[:1000]) and _are_whole(numbers)  # a few rows refute most columns
        # Of fractions, only constant columns are not features.
        values = np.unique(numbers if is_whole else [numbers.min(), numbers.max()])
        if is_whole and len(values) and values[0] > FIRST_DATE and values[-1] < LAST_DATE:  # 20240531
            texts = [f"{value:.0f}" for value in values]
    rows, distinct = int(filled.sum()), len(values)
    counts = f"{distinct} different values in {rows} rows"
    if rows < NEARLY_EMPTY * n:
        return "nearly-empty-columns", f"nearly empty: {rows} of {n} rows have a value"
    if distinct == 1:
        return "constant-columns", "constant: the same value in every row that has one"
    if texts and all(map(_DATE.fullmatch, texts)):
        reason = f"dates; to test on later rows: id: [{name}] and protocol: {{kind: ordered, by: {name}}}"
        return "dates", reason
    if rows < ID_ROWS:
        return "", ""
    last, few_repeats = (_WORDS.findall(name) or [""])[-1].lower(), distinct >= rows / 2
    if last in _IDS and (is_text or is_whole) and rows / 20 <= distinct < rows / 2:
        together = f"groups: {short(name, 60)} in place of ignore keeps those of one in one part"
        return "identifier", f"identifier of several rows each: {counts}; {together}"
    if not isinstance(column, Texts):
        if distinct == n and is_like_identifier(name, column):
            return "identifier", KEY
        if is_whole and np.mean(np.diff(column[filled]) == 1) >= SEQUENCE:
            return "identifier", "numbers the rows"
        is_identifier = is_whole and few_repeats and last in _IDS | _NUMBERS
        return ("identifier", f"identifier: {counts}") if is_identifier else ("", "")
    if any(map(_NUMBER.fullmatch, texts)):
        return "", ""
    is_long = sum(len(text.split()) for text in texts) >= FREE_TEXT * distinct
    if is_long and distinct >= max(ID_ROWS, rows / 20):
        return "free-text", f"free text: {counts}"
    reason = KEY if distinct == n else f"identifier: {counts}"
    return ("identifier", reason) if few_repeats else ("", "")


def _are_whole(values: np.ndarray) -> bool:
    return np.array_equal(values, np.trunc(values))


def names_subjects(name: str, values: np.ndarray, is_nominal: bool) -> bool:
    """Return whether a column seems to identify subjects with several rows each.

    Its name says so, and its values (n,), whole numbers or codes of categories, repeat; or it has many
    categories, of at least two rows on average.
    """
    is_named = _has_name_of_subjects(name)
    if not (is_named or is_nominal):
        return False
    values = values[~np.isnan(values)]
    if not _are_whole(values):
        return False
    distinct, rows = len(np.unique(values)), len(values)
    many = is_nominal and max(10, rows // 20) <= distinct <= rows // 2
    return many or (is_named and max(FEWEST_SUBJECTS, rows / MOST_ROWS) <= distinct < rows)


def _has_name_of_subjects(name: str) -> bool:
    """Return whether a name is like ``patient``, ``patient_no`` or ``storeId``; ``age_group`` is not."""
    *before, last = [word.lower() for word in _WORDS.findall(name)] or [""]
    if not before:
        return last in _SUBJECTS | _IDS
    return last in _IDS or (last in _NUMBERS and before[-1] in _SUBJECTS)


def _subject_finding(values: Mapping[str, int], rows: int) -> Finding:
    """Return a finding on columns of subjects. values: number of values of each."""
    shown = [f"'{short(name, 40)}' ({count} values)" for name, count in values.items()]
    names = tuple(values)
    column = "a column" if len(names) == 1 else "columns"
    return Finding(
        "repeated-identifier",
        f"{column} may name subjects with several rows each, in {rows} rows: {listed(shown)}",
        f"if so, groups: {short(names[0], 60)} leaves the column out of the features and keeps the rows of a "
        "subject in one part",
        columns=names[:MOST],
    )
