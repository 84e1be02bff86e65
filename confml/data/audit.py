"""Audit a data set: mistakes in the data that make results look better or worse than they are."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from confml.data.dataset import DataSet, label_variants
from confml.data.findings import HAS, MOST, Finding, of_columns
from confml.data.identifiers import identifiers
from confml.data.memory import is_sparse
from confml.data.text_table import at_lines, counted, quoted, short

RANGES = 10.0  # features are unscaled where the largest range is as many times that of the lower quartile
_FIRST = 500  # rows that are looked at first for a conflict
_CHANCE = -3.0  # log10 of the probability by chance from which a feature is said to give the label away
MOST_VALUES = 2_500_000  # of the features, that the audit of a run looks at
_DOUBLED = 10  # distinct rows from which a file can be called doubled
FEW_ROWS = 10  # of a class: some of 10 folds have none of them
RARE = 0.005  # share of the rows
MANY_VALUES = 50  # categories of a feature
_DATE = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([ T].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}([ T].*)?")


def audit(data: DataSet, coded: bool = True) -> list[Finding]:
    """Return the findings in a data set, in O(n log n) time per feature.

    Checked are duplicate and contradictory rows, rows in both parts, a file that holds every row several
    times, labels that look alike, identifiers of rows and of subjects, features that determine the label,
    constant and duplicate features, and features of very different ranges. coded: False if ``X`` is the table
    before coding.
    """
    y = np.unique(data.y, return_inverse=True)[1].reshape(-1)
    rows = row_groups([*_columns(data.table), y])
    features = row_groups(_columns(data.table))
    train = np.arange(len(data)) if data.train_rows is None else data.train_rows
    return [
        *_duplicate_rows(data, rows, features, y),
        *_rows_in_both_parts(data, rows),
        *_alike_labels(data),
        *identifiers(data, train),
        *_given_away(data, rows, y, train),
        *_constant_and_duplicate(data, train),
        *_unscaled(data, train, coded and not is_sparse(data.X)),
    ]


def audited_rows(data: DataSet, most: int = MOST_VALUES) -> DataSet:
    """Return the data set, or about ``most`` / (number of features) of its rows if it has more than ``most``
    values.

    The rows are chosen by a hash of their values in the 16 features that vary most, so that equal rows are
    all chosen or all left out: their share stays the same, and the time does not grow with the number of
    features.
    """
    n, a = data.table.shape
    if n * a <= most:
        return data
    some = data.table[:: max(1, n // 1000)]
    varied = [len(np.unique(some[:, j])) for j in range(a)]
    mixed = _mixed([_bits(data.table[:, j]) for j in np.argsort(varied)[::-1][:4]])
    kept = np.flatnonzero(mixed % np.uint64(-(-n * a // most)) == 0)
    if not 0 < len(kept) * a < 2 * most:  # the features hardly vary
        kept = np.arange(0, n, -(-n * a // most))
    train, test = data.train_rows, data.test_rows
    table = data.table[kept]
    return replace(
        data,
        X=table if data.X is data.table else data.X[kept],
        y=data.y[kept],
        table=table,
        train_rows=None if train is None else np.flatnonzero(np.isin(kept, train)),
        test_rows=None if test is None else np.flatnonzero(np.isin(kept, test)),
        groups=None if data.groups is None else data.groups[kept],
        lines=None if data.lines is None else data.lines[kept],
        ids=None if data.ids is None else data.ids[kept],
    )


# ---- rows


def _columns(table: np.ndarray) -> list[np.ndarray]:
    return [table[:, j] for j in range(table.shape[1])]


def row_groups(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return (n,) the first row that equals each row; missing values are equal to each other.

    Rows are compared by a hash of 64 bits, and those with equal hashes value by value.
    """
    bits = [_bits(column) for column in columns]
    mixed = _mixed(bits)
    _, first, inverse = np.unique(mixed, return_index=True, return_inverse=True)
    group = first[inverse.reshape(-1)]
    own = np.arange(len(group))
    for column in bits:
        group = np.where(column == column[group], group, own)  # equal hashes of different rows
    return group


def _mixed(bits: Sequence[np.ndarray]) -> np.ndarray:
    """Return (n,) a hash of the bits of all columns."""
    mixed = np.zeros(len(bits[0]), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in bits:
            mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
    return mixed


def _bits(column: np.ndarray) -> np.ndarray:
    values = np.asarray(column, dtype=np.float64) + 0.0  # -0 is 0
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


def _duplicate_rows(data: DataSet, rows: np.ndarray, features: np.ndarray, y: np.ndarray) -> list[Finding]:
    findings: list[Finding] = []
    own = np.arange(len(data))
    train = own if data.train_rows is None else data.train_rows
    counts = np.bincount(rows[train])
    times = math.gcd(*counts[counts > 0].tolist()) if len(train) else 1
    repeated = train[_repeats(rows[train])]
    if times > 1 and np.count_nonzero(counts) >= _DOUBLED:
        findings.append(
            Finding(
                "doubled-file",
                f"every row occurs {times} times or a multiple of it: the file seems to hold its rows "
                f"{times} times",
                "keep each row once",
            )
        )
    elif len(repeated):
        verb = "repeats" if len(repeated) == 1 else "repeat"
        findings.append(
            Finding(
                "duplicate-rows",
                f"{counted(len(repeated), 'row')} of {len(train)} {verb} an earlier row, "
                f"label included ({_at(data, repeated)})",
                "set duplicates: drop to leave them out, or groups: to keep equal rows in one part",
                lines=_lines(data, repeated[:MOST]),
            )
        )
    other = own[(features != own) & (y != y[features])]
    if len(other):
        findings.append(
            Finding(
                "contradictory-rows",
                f"{counted(len(other), 'row')} {'has' if len(other) == 1 else 'have'} the features of an "
                f"earlier row and another label ({_at(data, other)})",
                "correct the labels, or expect that no method predicts these rows",
                lines=_lines(data, other[:MOST]),
            )
        )
    return findings


def _repeats(groups: np.ndarray) -> np.ndarray:
    """Return (n,) bool, whether an earlier row is of the same group."""
    again = np.ones(len(groups), dtype=bool)
    again[np.unique(groups, return_index=True)[1]] = False
    return again


def _rows_in_both_parts(data: DataSet, rows: np.ndarray) -> list[Finding]:
    if data.train_rows is None or data.test_rows is None:
        return []
    both = data.test_rows[np.isin(rows[data.test_rows], rows[data.train_rows])]
    if not len(both):
        return []
    remedy = (
        "remove them from the training rows; errors on training rows usually underestimate the error on new "
        "rows"
    )
    if len(both) == len(data.test_rows):
        sentence = f"all {len(both)} test rows are training rows too"
        return [Finding("test-rows-in-training-file", sentence, remedy, lines=_lines(data, both[:MOST]))]
    count = f"{counted(len(both), 'row')} of {len(data.test_rows)} test rows"
    sentence = f"{count} {'is' if len(both) == 1 else 'are'} training rows too ({_at(data, both)})"
    return [Finding("rows-in-train-and-test", sentence, remedy, lines=_lines(data, both[:MOST]))]


def _lines(data: DataSet, rows: np.ndarray) -> tuple[int, ...]:
    return tuple((rows + 1 if data.lines is None else data.lines[rows]).tolist())


def _at(data: DataSet, rows: np.ndarray) -> str:
    return at_lines(_lines(data, rows), "row" if data.lines is None else "line")


# ---- labels


def _alike_labels(data: DataSet) -> list[Finding]:
    if data.y.dtype.kind != "U":
        return []
    return [
        Finding("alike-labels", alike_sentence(variants), "use one spelling if they mean the same class")
        for variants in label_variants(data.classes.tolist())
    ]


def alike_sentence(labels: Sequence[str]) -> str:
    """Return a sentence on labels that look alike and are different classes."""
    return f"labels {quoted(labels)} are different texts and count as different classes"


# ---- features


def _given_away(data: DataSet, rows: np.ndarray, y: np.ndarray, train: np.ndarray) -> list[Finding]:
    """Return the features that determine the label, more often than chance would have it; equal rows count
    once.
    """
    kept = train[~_repeats(rows[train])]
    labels = y[kept]
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return []
    among = math.log10(max(1, data.table.shape[1]))
    # By chance: the probability that two rows have one label, and that classes are apart in a random order.
    alike = math.log10(float(np.sum((sizes / len(labels)) ** 2)))
    apart = math.lgamma(len(sizes) + 1) + sum(math.lgamma(size + 1) for size in sizes.tolist())
    apart = (apart - math.lgamma(len(labels) + 1)) / math.log(10)
    names = []
    for j, name in enumerate(data.table_attributes):
        values = data.table[kept, j]
        there = ~np.isnan(values)
        if not there.all():
            continue
        if len(values) > 2 * _FIRST:  # a few rows refute most features
            conflict, first_runs = _runs(values[:_FIRST], labels[:_FIRST])
            if conflict:
                continue
            repeated = len(values) - len(np.unique(values)) if first_runs > len(sizes) else len(values)
            if repeated * alike + among >= _CHANCE:
                continue
        conflict, runs = _runs(values, labels)
        if conflict:
            continue
        distinct = len(np.unique(values))
        chance = (len(labels) - distinct) * alike
        if runs == len(sizes) and not data.nominal[j]:
            chance = min(chance, apart)
        if distinct > 1 and chance + among < _CHANCE:
            names.append(name)
    rest = "the label of every training row" + ("" if len(names) == 1 else ", each alone")
    remedy = "leave it out by ignore: if it is known only after the label"
    verbs = ("determines", "determine")
    return [of_columns("gives-label-away", names, verbs, rest, remedy)] if names else []


def _runs(values: np.ndarray, labels: np.ndarray) -> tuple[bool, int]:
    """Return whether two rows of one value have two labels, and the number of runs of labels in the order of
    values.
    """
    order = np.lexsort((labels, values))
    value, label = values[order], labels[order]
    changes = label[1:] != label[:-1]
    return bool(np.any(changes & (value[1:] == value[:-1]))), 1 + int(np.count_nonzero(changes))


def _constant_and_duplicate(data: DataSet, train: np.ndarray) -> list[Finding]:
    constant, same = [], []
    seen: dict[int, list[int]] = {}
    for j, name in enumerate(data.table_attributes):
        values = _bits(data.table[train, j])
        if np.all(values == values[:1]):
            constant.append(name)
            continue
        key = (bool(data.nominal[j]), values.tobytes())
        first = seen.setdefault(hash(key), []) if len(values) else []
        equal = (k for k in first if np.array_equal(_bits(data.table[train, k]), values))
        twin = next(equal, None)
        if twin is None:
            first.append(j)
        else:
            same.append((name, data.table_attributes[twin]))
    findings = []
    if constant:
        rest = "the same value in every training row"
        findings.append(of_columns("constant-columns", constant, HAS, rest, "leave it out by ignore:"))
    if same:
        pairs = ", ".join(f"'{short(a, 40)}' as '{short(b, 40)}'" for a, b in same[:5])
        more = f", ... ({len(same)} in all)" if len(same) > 5 else ""
        findings.append(
            Finding(
                "duplicate-columns",
                f"columns have the values of another column: {pairs}{more}",
                "leave one of each pair out by ignore:; distances count both",
                columns=tuple(name for name, _ in same[:MOST]),
            )
        )
    return findings


def _ranges(names: Sequence[str], X: np.ndarray) -> tuple[list[str], list[float]]:
    """Return names, and the range of each column (n, d) without missing values."""
    columns = (X[:, j][~np.isnan(X[:, j])] for j in range(X.shape[1]))
    return list(names), [float(np.ptp(values)) if len(values) else 0.0 for values in columns]


def _ranges_of_table(data: DataSet, train: np.ndarray) -> tuple[list[str], list[float]]:
    """Return `_ranges` of the columns that the table will be coded to: 1 for each category of some rows."""
    names, ranges = _ranges(data.table_attributes, data.table[train])
    for j in np.flatnonzero(data.nominal)[::-1]:
        values, known = data.table[train, j], data.categories[j] or ()
        values = values[~np.isnan(values)]
        counts = np.bincount(values[values >= 0].astype(np.intp), minlength=len(known))
        ranges[j : j + 1] = ((counts > 0) & (counts < len(values))).astype(float).tolist()
        names[j : j + 1] = [f"{names[j]}={category}" for category in known]
    return names, ranges


def _unscaled(data: DataSet, train: np.ndarray, coded: bool) -> list[Finding]:
    names, ranges = _ranges(data.attributes, data.X[train]) if coded else _ranges_of_table(data, train)
    spread = np.array([value for value in ranges if 0 < value < np.inf])
    if len(spread) < 2:
        return []
    typical = float(np.quantile(spread, 0.25, method="lower"))
    if spread.max() < RANGES * typical:
        return []
    wide = [names[j] for j in np.argsort(ranges)[::-1] if ranges[j] >= RANGES * typical]
    return [
        Finding(
            "unscaled-features",
            f"features have very different ranges: {quoted(wide, 3)} {'has' if len(wide) == 1 else 'have'} "
            f"{RANGES:g} times the range of others or more",
            "steps: [standardise] for distance and margin methods, unless all features have one unit",
            columns=tuple(wide[:MOST]),
        )
    ]


# ---- the columns of a file


def column_findings(data: DataSet) -> list[Finding]:
    """Return findings on rare classes, on dates, and on categorical features with at least 50 values."""
    dates = _dates(data)
    return [*_rare_classes(data), *_date_finding(dates), *_many_categories(data, dates)]


def are_dates(texts: Sequence[str]) -> bool:
    """Return whether all texts that are not empty are dates, such as 2024-05-31 or 31.5.2024."""
    there = [text for text in texts if text]
    return bool(there) and all(_DATE.fullmatch(text) for text in there)


def _rare_classes(data: DataSet) -> list[Finding]:
    """Return the classes with fewer than 10 training rows, or with less than 0.5 % of them."""
    train = data.y if data.train_rows is None else data.y[data.train_rows]
    classes, counts = np.unique(train, return_counts=True)
    few = np.flatnonzero((counts < FEW_ROWS) | (counts < RARE * len(train)))
    if not len(few):
        return []
    few = few[np.argsort(counts[few], kind="stable")]
    shown = ", ".join(f"'{short(str(classes[j]), 40)}' ({counted(int(counts[j]), 'row')})" for j in few[:5])
    more = f", ... ({len(few)} in all)" if len(few) > 5 else ""
    smallest = int(counts.min())
    sentence = f"{len(few)} of {len(classes)} classes {'is' if len(few) == 1 else 'are'} rare: {shown}{more}"
    remedy = (
        f"merge classes or collect rows; a label-conditional p-value of a class with "
        f"{counted(smallest, 'row')} is at least {1 / (smallest + 1):.2g}"
    )
    return [Finding("rare-classes", sentence, remedy)]


def _dates(data: DataSet) -> list[str]:
    """Return the features and identifiers whose values are dates."""
    pairs = zip(data.table_attributes, data.categories, strict=True)
    columns = [(name, list(known)) for name, known in pairs if known is not None]
    columns += [(name, texts.tolist()) for name, texts in data.identifiers().items()]
    return [name for name, texts in columns if are_dates(texts)]


def _date_finding(dates: list[str]) -> list[Finding]:
    if not dates:
        return []
    rest = "dates as text, which are not used as times"
    remedy = "replace dates by numbers, such as days since a first date, or leave them out by ignore:"
    return [of_columns("dates", dates, ("holds", "hold"), rest, remedy)]


def _many_categories(data: DataSet, dates: Sequence[str]) -> list[Finding]:
    counts = {
        name: len(known)
        for name, known in zip(data.table_attributes, data.categories, strict=True)
        if known is not None and len(known) >= MANY_VALUES and name not in dates
    }
    if not counts:
        return []
    names = sorted(counts, key=lambda name: -counts[name])
    shown = ", ".join(f"'{short(name, 40)}' ({counts[name]})" for name in names[:5])
    more = f", ... ({len(names)} in all)" if len(names) > 5 else ""
    sentence = f"categorical features have many values in {len(data)} rows: {shown}{more}"
    remedy = f"merge rare categories, or leave the column out by ignore: [{short(names[0], 40)}]"
    return [Finding("many-categories", sentence, remedy, columns=tuple(names[:MOST]))]
