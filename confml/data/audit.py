"""Audit a data set: mistakes in the data that make results look better or worse than they are."""

import math
from collections.abc import Collection

import numpy as np

from confml.data.dataset import DataSet
from confml.data.findings import HAS, MOST, Finding
from confml.data.identifiers import no_features
from confml.data.text_table import at_lines, counted, is_number, listed, quoted, short

RANGES = 10.0  # features are unscaled where the largest range is as many times that of the lower quartile
_FIRST = 500  # rows that are looked at first for a conflict
_CHANCE = -3.0  # log10 of the probability by chance from which a feature is said to give the label away
FEW_ROWS = 10  # of a class: some of 10 folds have none of them
RARE = 0.005  # share of the rows
MANY_VALUES = 50  # categories of a feature


def audit(data: DataSet) -> list[Finding]:
    """Return the findings in a data set, in O(n log n) time per feature.

    Checked are duplicate and contradictory rows, rows in both parts, labels that look alike, rare classes,
    columns that are not features, identifiers of subjects, features that determine the label, duplicate
    features, categories with many values, and features of very different ranges.
    """
    y = np.unique(data.y, return_inverse=True)[1].reshape(-1)
    features = row_groups(data.table)
    rows = _first_of_equal(features * (y.max() + 1) + y)
    train = np.arange(len(data)) if data.train_rows is None else data.train_rows
    no_feature = no_features(data, train)
    left_out = [finding for finding in no_feature if finding.code != "repeated-identifier"]
    named = {name for finding in left_out for name in finding.columns}
    return [
        *_duplicate_rows(data, rows, features, y, train),
        *_rows_in_both_parts(data, rows),
        *_alike_labels(data),
        *_rare_classes(data, train),
        *no_feature,
        *_many_categories(data, named),
        *_determining_features(data, rows, y, train),
        *_duplicate_features(data, train),
        *_unscaled(data, train),
    ]


# ---- rows


def row_groups(table: np.ndarray) -> np.ndarray:
    """Return (n,) the first row that equals each row of a table (n, a); missing values are equal to each
    other.

    Rows are compared by a hash of 64 bits.
    """
    values = np.asarray(table, dtype=np.float64, order="C") + 0.0  # -0 is 0
    values[np.isnan(values)] = np.nan
    return _first_of_equal(np.fromiter((hash(row.tobytes()) for row in values), np.int64, len(values)))


def _first_of_equal(numbers: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    return first[inverse.reshape(-1)]


def _duplicate_rows(
    data: DataSet, rows: np.ndarray, features: np.ndarray, y: np.ndarray, train: np.ndarray
) -> list[Finding]:
    findings: list[Finding] = []
    numbers = np.arange(len(data))
    repeated = train[_repeats(rows[train])]
    if len(repeated):
        verb = "repeats" if len(repeated) == 1 else "repeat"
        sentence = f"{counted(len(repeated), 'row')} of {len(train)} {verb} an earlier row, label included"
        remedy = "set duplicates: drop to leave them out, or groups: to keep equal rows in one part"
        findings.append(_of_rows("duplicate-rows", data, repeated, sentence, remedy))
    clashes = numbers[(features != numbers) & (y != y[features])]
    if number := len(clashes):
        sentence = f"{counted(number, 'row')} {HAS[number > 1]} the features of an earlier row and"
        remedy = "correct the labels, or expect that no method predicts these rows"
        findings.append(_of_rows("contradictory-rows", data, clashes, f"{sentence} another label", remedy))
    return findings


def _of_rows(code: str, data: DataSet, rows: np.ndarray, sentence: str, remedy: str) -> Finding:
    lines = tuple((rows + 1 if data.lines is None else data.lines[rows]).tolist())
    at = at_lines(lines, "row" if data.lines is None else "line")
    return Finding(code, f"{sentence} ({at})", remedy, lines=lines[:MOST])


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
    remedy = "remove them from the training rows: their errors usually underestimate the error on new rows"
    verb = "is" if len(both) == 1 else "are"
    sentence = f"{counted(len(both), 'row')} of {len(data.test_rows)} test rows {verb} training rows too"
    return [_of_rows("rows-in-train-and-test", data, both, sentence, remedy)]


# ---- labels


def _alike_labels(data: DataSet) -> list[Finding]:
    """Return the labels that differ only in case, blanks or the form of a number: ``1``, ``1.0``, ``01``."""
    groups: dict[str, list[str]] = {}
    for label in data.classes.tolist() if data.y.dtype.kind == "U" else ():
        text = "".join(label.casefold().split())
        key = f"{float(text) + 0.0:.17g}" if len(text) < 40 and is_number(text) else text
        groups.setdefault(key, []).append(label)
    remedy = "use one spelling if they mean the same class"
    sentence = "labels {} are different texts and count as different classes"
    alike = [labels for labels in groups.values() if len(labels) > 1]
    return [Finding("alike-labels", sentence.format(quoted(labels)), remedy) for labels in alike]


def _rare_classes(data: DataSet, train: np.ndarray) -> list[Finding]:
    """Return the classes with fewer than 10 training rows, or with less than 0.5 % of them."""
    classes, counts = np.unique(data.y[train], return_counts=True)
    few = np.flatnonzero((counts < FEW_ROWS) | (counts < RARE * len(train)))
    if not len(few):
        return []
    few = few[np.argsort(counts[few], kind="stable")]
    shown = listed(f"'{short(str(classes[j]), 40)}' ({counted(int(counts[j]), 'row')})" for j in few)
    sentence = f"{len(few)} of {len(classes)} classes {'is' if len(few) == 1 else 'are'} rare: {shown}"
    remedy = "merge classes or collect rows; a label-conditional p-value from n rows is at least 1 / (n + 1)"
    if 2 * len(classes) > len(train):
        remedy = "confml predicts classes and not numbers; name another label, or intervals of this one"
    return [Finding("rare-classes", sentence, remedy)]


# ---- features


def _determining_features(data: DataSet, rows: np.ndarray, y: np.ndarray, train: np.ndarray) -> list[Finding]:
    """Return the features that determine the label, more often than chance would have it; equal rows count
    once.
    """
    first_rows = train[~_repeats(rows[train])]
    labels = y[first_rows]
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
        values = data.table[first_rows, j]
        # The first rows refute most features.
        if np.isnan(values).any() or _runs(values[:_FIRST], labels[:_FIRST])[0]:
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
    if not names:
        return []
    subject = (
        f"column {quoted(names)} determines" if len(names) == 1 else f"columns {quoted(names)} each determine"
    )
    sentence = f"{subject} the label of every training row"
    remedy = "leave it out with ignore: if it is known only after the label"
    return [Finding("gives-label-away", sentence, remedy, columns=tuple(names[:MOST]))]


def _runs(values: np.ndarray, labels: np.ndarray) -> tuple[bool, int]:
    """Return whether two rows of one value have two labels, and the number of runs of labels in the order of
    values.
    """
    order = np.argsort(values)
    value, label = values[order], labels[order]
    changes = label[1:] != label[:-1]
    return bool(np.any(changes & (value[1:] == value[:-1]))), 1 + int(np.count_nonzero(changes))


def _duplicate_features(data: DataSet, train: np.ndarray) -> list[Finding]:
    """Return the features that have the values of an earlier one, unless these are constant."""
    table, names = data.table[train], data.table_attributes
    first = row_groups(np.vstack([data.nominal, table]).T)
    repeated = [j for j in np.flatnonzero(first != np.arange(len(names))) if len(np.unique(table[:, j])) > 1]
    if not repeated:
        return []
    pairs = listed(f"'{short(names[j], 25)}' repeats '{short(names[first[j]], 25)}'" for j in repeated)
    remedy = "leave one of each pair out with ignore:, because distances count both"
    columns = tuple(names[j] for j in repeated[:MOST])
    return [Finding("duplicate-columns", f"columns have equal values: {pairs}", remedy, columns=columns)]


def _unscaled(data: DataSet, train: np.ndarray) -> list[Finding]:
    """Return the features of the widest ranges; one of 0 and 1 for each category that some rows have."""
    names: list[str] = []
    ranges: list[float] = []
    for j, (name, texts) in enumerate(zip(data.table_attributes, data.categories, strict=True)):
        values = data.table[train, j]
        values = values[~np.isnan(values)]
        if texts is None:
            names.append(name)
            ranges.append(float(np.ptp(values)) if len(values) else 0.0)
        else:
            counts = np.bincount(values[values >= 0].astype(np.intp), minlength=len(texts))
            names += [f"{name}={category}" for category in texts]
            ranges += ((counts > 0) & (counts < len(values))).astype(float).tolist()
    spread = np.array([value for value in ranges if 0 < value < np.inf])
    if len(spread) < 2:
        return []
    typical = float(np.quantile(spread, 0.25, method="lower"))
    wide = [names[j] for j in np.argsort(ranges)[::-1] if ranges[j] >= RANGES * typical]
    if not wide:
        return []
    sentence = (
        f"features have very different ranges: {quoted(wide, 3)} {HAS[len(wide) > 1]} "
        f"{RANGES:g} times the range of others or more"
    )
    remedy = "steps: [standardise] for distance and margin methods, unless all features have one unit"
    return [Finding("unscaled-features", sentence, remedy, columns=tuple(wide[:MOST]))]


def _many_categories(data: DataSet, named: Collection[str]) -> list[Finding]:
    """Return the features with many categories, without those that are ``named`` already."""
    counts = {n: len(k) for n, k in zip(data.table_attributes, data.categories, strict=True) if k}
    many = {n: count for n, count in counts.items() if count >= MANY_VALUES and n not in named}
    if not many:
        return []
    names = sorted(many, key=lambda name: -many[name])
    shown = listed(f"'{short(name, 40)}' ({many[name]})" for name in names)
    sentence = f"categorical features have many values in {len(data)} rows: {shown}"
    remedy = f"merge rare categories, or leave the column out with ignore: [{short(names[0], 40)}]"
    return [Finding("many-categories", sentence, remedy, columns=tuple(names[:MOST]))]
