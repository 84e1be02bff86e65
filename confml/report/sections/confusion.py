"""Confusion matrices and the measures of each class: ``confusion.csv`` and ``class-metrics.csv``."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from confml.measures import Metric
from confml.measures.confusion_matrix import Confusion
from confml.measures.metric import HIGHER
from confml.methods.details import ClassTreeNode
from confml.report.files import safe_name
from confml.report.items import Document, Item, TableKind
from confml.report.numbers.outcomes import node_error
from confml.report.sections.base import KEY, Section, ViewSection
from confml.runner.results import CellResult

_SOURCE = "Sokolova and Lapalme 2009"
METRICS = {
    "precision": Metric(
        "share of correct predictions among the rows predicted as the class; 0 for a class that is never "
        "predicted",
        HIGHER,
        "#{i: predicted c, y_i = c} / #{i: predicted c}",
        _SOURCE,
    ),
    "recall": Metric(
        "share of correct predictions among the rows of the class; 0 for a class without test rows",
        HIGHER,
        "#{i: predicted c, y_i = c} / #{i: y_i = c}",
        _SOURCE,
    ),
    "f1": Metric(
        "harmonic mean of precision and recall of the class",
        HIGHER,
        "2 #{i: predicted c, y_i = c} / (#{i: predicted c} + #{i: y_i = c})",
        _SOURCE,
    ),
}
"""Declarations of the metrics of ``class-metrics.csv``."""
CONFUSION = TableKind("confusion.csv", "dataset method params view label prediction count")
CLASS_METRICS = TableKind("class-metrics.csv", (*KEY, "class", "rows", "predicted", "correct", *METRICS))


class ConfusionMatrices(ViewSection):
    """Counts of true and predicted labels over all splits, and precision, recall and F1 of each class.

    ``confusion.csv`` has a row for each pair of a true label (``label``) and a predicted label
    (``prediction``) that occurs, with its number of test rows (``count``); pairs that do not occur are left
    out.

    ``class-metrics.csv`` has a row for each class: its test rows (``rows``), the rows that are predicted as
    it (``predicted``), those of both (``correct``), and its precision, recall and F1. All of them are
    computed from the counts of all splits together. The means over the classes and then over the splits are
    in ``summary.csv`` (``precision_macro``, ``recall_macro``, ``f1_macro``).
    """

    name = "confusion"
    place = 55
    files = {
        "confusion.csv": "confusion matrices: counts of true and predicted labels over all splits",
        "class-metrics.csv": "precision, recall and F1 of each class over all splits",
    }
    metrics = {"class-metrics.csv": METRICS}

    tables = (CONFUSION, CLASS_METRICS)
    kept = dict

    def add_view(self, found, result, view, case):
        labels = case.confusion.labels.tolist()
        for i, row in enumerate(case.confusion.counts.tolist()):
            for j, count in enumerate(row):
                if count:
                    pair = labels[i], labels[j]
                    found[pair] = found.get(pair, 0) + count

    def rows_of(self, key, found):
        pairs = [(*key, *pair, count) for pair, count in sorted(found.items())]
        return pairs, [(*key, *row) for row in _class_rows(found)]


def _class_rows(counts: dict[tuple[Any, Any], int]) -> Iterator[tuple]:
    """Yield class, rows, predicted, correct, precision, recall and F1 of each class."""
    labels = sorted({label for pair in counts for label in pair})
    place = {label: i for i, label in enumerate(labels)}
    matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for (label, predicted), count in counts.items():
        matrix[place[label], place[predicted]] = count
    all_splits = Confusion(np.array(labels), matrix)
    columns = [all_splits.rows, all_splits.predicted, all_splits.correct]
    columns += [all_splits.precision, all_splits.recall, all_splits.f1]
    yield from zip(labels, *(column.tolist() for column in columns), strict=True)


class ClassTrees(Section):
    """The class tree of each split, each node with its cut and its test error on that split."""

    name = "class-trees"
    place = 160
    needs = "smart-svm"
    files = {"trees": "class trees"}

    def start(self) -> None:
        self._texts: dict[tuple[str, str], list[str]] = {}

    def add(self, result: CellResult) -> None:
        tree = result.views.fit_details.tree
        if tree is not None:
            labels = next(iter(result.views.values())).labels

            def error_text(node: ClassTreeNode) -> str:
                error, n = node_error(node, result.truth, labels)
                return f"error {100 * error:.1f} % of {n}" if n else "no test example"

            heading = f"split {result.cell.split}\n{tree.to_text(error_text)}\n"
            key = (result.cell.dataset, self.results.label(result.cell))
            self._texts.setdefault(key, []).append(heading)

    def items(self) -> Iterator[Item]:
        for (dataset, label), parts in self._texts.items():
            yield Document(f"trees/{safe_name(f'{dataset}-{label}')}.txt", "\n".join(parts))
