"""A user's own table file as a `DataSet`; every mistake is one clear error with file, line and column."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confml.data.audit import alike_sentence
from confml.data.coding import code_columns, spelled_as
from confml.data.columns import Columns, handle_missing, read_columns
from confml.data.csv_spec import CsvSpec, check_columns, read_spec
from confml.data.dataset import DataSet, label_variants
from confml.data.memory import require_memory
from confml.data.table_files import read_table
from confml.data.text_table import SHOWN, TextTable, at_lines, counted, is_missing, quoted, short
from confml.errors import DataError

LONGEST_LABEL = 1000  # characters; a longer text is no class
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0+)?")


def load_csv(spec: Mapping[str, Any]) -> DataSet:
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
    missing: treatment of a missing feature (an empty field, ?, NA, N/A, nan, null, <NA> or #N/A in upper or
        lower case, a nan with a sign, or None): ``error``; ``drop`` leaves the row out; ``mean`` keeps it as
        NaN, for a step to fill in. A missing label is an error.
    separator, encoding: of a CSV file, detected if omitted. decimal: ``.`` or ``,``. thousands: the
        separator of thousands, detected if omitted; signs of currencies and percent signs are removed, and
        ``12 %`` is the number 12. header: False for a file without a header line, whose columns are called
        column-1, column-2 and so on. sheet: of a workbook, the first by default.

    Labels are whole numbers if all are written as such (``1`` or ``1.0``), else text; ``01`` or ``+1`` make
    all of them text. A category that only the test file has is 0 in all columns of its feature and -1 in
    ``table``. Labels or categories of a test file none of which the training file has are an error if they
    differ from its own in case or blanks only.
    Raises DataError for an error in a file; ConfigError for a wrong key, value or column, ConfigErrors for
    several.
    """
    wanted = read_spec(spec)
    paths = [path for path in (wanted.csv, wanted.test) if path is not None]
    how = (wanted.separator, wanted.encoding, wanted.header, wanted.sheet)
    return _load(wanted, [read_table(path, *how) for path in paths])


def load_tables(spec: Mapping[str, Any], files: Sequence[TextTable]) -> DataSet:
    """Load tables that were read already, as `load_csv` does: the training rows, and the test rows if there
    are any.

    The rows of a table that are left out are taken out of it.
    """
    return _load(read_spec(spec), files)


def _load(wanted: CsvSpec, files: Sequence[TextTable]) -> DataSet:
    train = files[0]
    features = check_columns(wanted, train)
    for test in files[1:]:
        _check_test_columns(wanted, train, test, features)
    notes = [note for file in files for note in file.notes]
    groups = [] if wanted.groups is None else [wanted.groups]
    for file in files:
        _check_labels(file, wanted.label)
        handle_missing(file, [*features, *groups], wanted, notes)
    if wanted.duplicates == "drop":
        _drop_duplicates(train, [*features, *groups, wanted.label], notes)
    y = _labels(files, wanted.label, notes)
    _check_classes(wanted, files, y, notes)
    columns = read_columns(wanted, files, features, notes)
    _require_memory_to_code(wanted, columns)
    coding = "dummy-drop-first" if wanted.drop_first else "dummy"
    X, names = code_columns(columns.values, columns.names, columns.categories, coding)
    id_columns = tuple(dict.fromkeys((*wanted.id, *columns.identifiers)))
    divided = len(files) == 2
    return DataSet(
        name=wanted.name,
        X=X,
        y=y,
        attributes=names,
        table=columns.values,
        table_attributes=tuple(columns.names),
        nominal=np.array([known is not None for known in columns.categories], dtype=bool),
        categories=columns.categories,
        train_rows=np.arange(len(train)) if divided else None,
        test_rows=np.arange(len(train), len(y)) if divided else None,
        groups=_texts([text for file in files for text in file.columns[groups[0]]]) if groups else None,
        lines=np.array([line for file in files for line in file.lines]),
        ids=_ids(files, id_columns),
        id_columns=id_columns,
        notes=tuple(notes),
        number_marks=columns.marks,
    )


def _check_test_columns(wanted: CsvSpec, train: TextTable, test: TextTable, features: Sequence[str]) -> None:
    groups = () if wanted.groups is None else (wanted.groups,)
    lacking = [name for name in (wanted.label, *groups, *features) if name not in test.columns]
    more = [name for name in test.names if name not in train.columns]
    if wanted.label in lacking:
        message, needed = f"there is no label column '{wanted.label}'", "a test file needs the true classes"
        raise DataError(message, where=str(test.path), hint=needed, near=(wanted.label, test.names))
    if lacking:
        message = f"columns of {train.path.name} are missing: {quoted(lacking)}"
        raise DataError(message, where=str(test.path), hint="", near=(lacking[0], more))
    if more:
        test.notes.append(
            f"{test.path.name}: columns that {train.path.name} does not have are left out: {quoted(more)}"
        )


def _drop_duplicates(table: TextTable, used: Sequence[str], notes: list[str]) -> None:
    """Leave out the training rows that repeat an earlier row in all columns used, label included."""
    seen: set[tuple[str, ...]] = set()
    kept = []
    for row in zip(*(table.columns[name] for name in used), strict=True):
        kept.append(row not in seen)
        seen.add(row)
    gone = kept.count(False)
    if gone:
        notes.append(f"{table.path.name}: {counted(gone, 'row')} equal to an earlier row left out")
        table.keep(kept)


# ---- labels


def _check_labels(file: TextTable, label: str) -> None:
    """Raise DataError for rows without a label, and for a label that is too long for a class."""
    texts = file.columns[label]
    lines = [at for at, text in zip(file.lines, texts, strict=True) if is_missing(text)]
    if lines:
        where = f"{file.path}, {at_lines(lines, file.unit)}, column '{label}'"
        raise DataError("the label is missing", where=where, hint="give it, or take the rows out of the file")
    row, longest = max(enumerate(texts), key=lambda entry: len(entry[1]))
    if len(longest) > LONGEST_LABEL:
        raise DataError(
            f"the label has {len(longest)} characters, a class label has at most {LONGEST_LABEL}",
            where=file.where(row, label),
            hint="is it the right column, and is a quote missing?",
        )


def _labels(files: Sequence[TextTable], label: str, notes: list[str]) -> np.ndarray:
    """Return (n,) int64 if every label is a whole number in its usual form, else text."""
    texts = [text for file in files for text in file.columns[label]]
    distinct = set(texts)
    if all(_INTEGER.fullmatch(text) for text in distinct):
        return np.array([int(text.partition(".")[0]) for text in texts], dtype=np.int64)
    train = files[0].columns[label]
    known = list(dict.fromkeys(train))
    for test in files[1:]:
        texts = [*train, *spelled_as(test.columns[label], known, label, str(test.path))]
    distinct = set(texts)
    for variants in label_variants(sorted(distinct)):
        notes.append(f"{alike_sentence(variants)}: use one spelling if they mean the same class")
    return _texts(texts)


def _check_classes(wanted: CsvSpec, files: Sequence[TextTable], y: np.ndarray, notes: list[str]) -> None:
    train = files[0]
    own, rest = y[: len(train)].tolist(), y[len(train) :].tolist()
    counts = Counter(own)
    where = f"{train.path}, column '{wanted.label}'"
    if len(counts) == 1:
        message = f"every row is of class {_shown(own[0])}: the data must have at least two classes"
        raise DataError(message, where=where)
    if len(counts) == len(own) > 2 and not rest:
        hint = "check --label: expected a column of classes, found measurements or identifiers"
        raise DataError("every row has a different label", where=where, hint=hint)
    single = {label for label, count in (counts + Counter(rest)).items() if count == 1}
    if len(single) > SHOWN:
        notes.append(
            f"{len(single)} of {len(counts)} classes have one row only: is '{wanted.label}' a class?"
        )
    elif single:
        places = ((file, at) for file in files for at in file.lines)
        for (file, at), label in zip(places, (*own, *rest), strict=True):
            if label in single:
                one = f"class {_shown(label)} has one row only ({file.unit} {at})"
                notes.append(f"{one}: no split has it in both parts")
    absent = {label: count for label, count in Counter(rest).items() if label not in counts}
    for label, count in list(absent.items())[:5]:
        rows = counted(count, "row")
        notes.append(f"class {_shown(label)} is in the test file only ({rows}): it cannot be learnt")
    if len(absent) > 5:
        notes.append(f"{len(absent) - 5} more classes are in the test file only")


def _shown(label: int | str) -> str:
    return repr(short(label, 60)) if isinstance(label, str) else repr(label)


# ---- texts and memory


def _ids(files: Sequence[TextTable], names: Sequence[str]) -> np.ndarray | None:
    """Return (n, k) the texts of the identifier columns; empty where a test file does not have the column."""
    if not names:
        return None
    columns = []
    for name in names:
        parts = [file.columns[name] if name in file.columns else [""] * len(file) for file in files]
        columns.append(_texts([text for part in parts for text in part]))
    return np.column_stack(columns)


def _texts(texts: Sequence[str]) -> np.ndarray:
    """Return (n,) text; numpy takes 4 bytes per character of the longest one for each."""
    longest = max(map(len, texts), default=1)
    require_memory(4 * longest * len(texts), f"a column of texts of up to {longest} characters")
    return np.array(texts, dtype=str)


def _require_memory_to_code(wanted: CsvSpec, columns: Columns) -> None:
    known = {name: len(c) for name, c in zip(columns.names, columns.categories, strict=True) if c is not None}
    if not known:
        return
    rows, count = len(columns.values), len(columns.names) - len(known) + sum(known.values())
    most = max(known, key=lambda name: known[name])
    require_memory(
        8 * rows * count,
        f"coding {rows} rows as {count} columns ('{short(most, 60)}' has {known[most]} categories)",
        where=str(wanted.csv),
        hint=f"leave it out by ignore: [{short(most, 60)}], or merge its rare categories",
    )
