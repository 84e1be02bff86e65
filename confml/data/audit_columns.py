"""Findings about rare classes, dates, and categorical features with many values."""

import re
from collections.abc import Sequence

import numpy as np

from confml.data.audit import Finding, of_columns
from confml.data.dataset import DataSet
from confml.data.text_table import counted, short

FEW_ROWS = 10  # of a class: some of 10 folds have none of them
RARE = 0.005  # share of the rows
MANY_VALUES = 50  # categories of a feature
_DATE = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([ T].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}([ T].*)?")


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
    return [Finding("many-categories", sentence, remedy, columns=tuple(names[:20]))]
