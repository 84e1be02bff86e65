"""Columns of identifiers among the features: of rows, and of subjects with several rows each."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from confml.data.dataset import DataSet
from confml.data.findings import HAS, MOST, Finding, of_columns
from confml.data.text_table import listed, short

ID_ROWS = 10  # in fewer rows all values of a feature may well differ
FEWEST_SUBJECTS = 5  # a column of fewer values is a property, such as the group of a treatment
MOST_ROWS = 100  # per value on average: with more, the values are kinds, such as the seat of a person
_ID_NAME = re.compile(r"(^|[\W_])(id|nr|no|number|key|code|index|uuid)([\W_]|$)", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")  # of patient_id, patientId and PatientID
_SUBJECTS = {"subject", "patient", "customer", "client", "user", "person", "group", "site", "family", "batch"}
_IDS, _NUMBERS = {"id", "uuid"}, {"no", "nr", "number", "num", "code", "key", "name"}


def identifiers(data: DataSet, train: np.ndarray) -> list[Finding]:
    """Return findings on features that seem to identify rows or subjects. train: (m,) rows."""
    if len(train) < ID_ROWS:
        return []
    columns = list(enumerate(data.table_attributes))
    of_rows = [name for j, name in columns if is_like_identifier(name, data.table[train, j])]
    findings = [identifier_finding(of_rows)] if of_rows else []
    if data.groups is None:
        subjects = {
            name: len(np.unique(data.table[train, j]))
            for j, name in columns
            if names_subjects(name, data.table[train, j], bool(data.nominal[j])) and name not in of_rows
        }
        findings += [_subject_finding(subjects, len(train))] if subjects else []
    return findings


def is_like_identifier(name: str, values: np.ndarray) -> bool:
    """Return whether the numbers (n,) of a column are all different whole numbers, as those of an identifier.

    Amounts of money are too, so the numbers must be dense, or the name must be that of an identifier.
    """
    for part in (values[:1000], values):  # a few rows refute most columns
        if not np.array_equal(part, np.trunc(part)) or len(np.unique(part)) < len(part):
            return False
    return bool(np.ptp(values) < 3 * len(values)) or _ID_NAME.search(name) is not None


def identifier_finding(names: Sequence[str]) -> Finding:
    """Return a finding on features that have a different value in every row."""
    listed = ", ".join(short(name, 60) for name in names[:5])
    remedy = f"if it is an identifier, id: [{listed}] leaves it out of the features"
    return of_columns("identifier", names, HAS, "a different whole number or category in every row", remedy)


def names_subjects(name: str, values: np.ndarray, is_nominal: bool) -> bool:
    """Return whether a column seems to identify subjects with several rows each.

    Its name says so, and its values (n,), whole numbers or codes of categories, repeat; or it has many
    categories, of at least two rows on average.
    """
    is_named = _has_name_of_subjects(name)
    if not (is_named or is_nominal):
        return False
    values = values[~np.isnan(values)]
    if not np.all(values == np.trunc(values)):
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
