"""`FirstSplit`: chains and class tree of the first split of a variant, and the parameters of each split."""

from typing import Any

import numpy as np

from confml.methods.details import ChainSummary, ClassTreeNode
from confml.report.numbers.variant_numbers import VariantNumbers


def node_error(node: ClassTreeNode, truth: np.ndarray, labels: np.ndarray) -> tuple[float, int]:
    """Return (error rate, number) of the test examples of a node's classes that pass through it.

    truth, labels (n,): true and predicted labels; an example passes through the node if its predicted label
    is below it. The error is the share sent to the wrong side.
    """
    truth, labels = np.asarray(truth), np.asarray(labels)
    here = np.isin(truth, node.classes) & np.isin(labels, node.classes)
    right = node.sides[1].classes
    wrong = np.isin(truth[here], right) != np.isin(labels[here], right)
    return (float(wrong.mean()) if here.any() else float("nan")), int(here.sum())


class FirstSplit(VariantNumbers):
    """The first split of a variant, and the parameters of each split.

    split: its name. chains, tree: None without them. errors: error rate and number of the test examples of
    each inner node of the tree. chosen: parameters of each split that inner cross-validation chose.
    """

    def start(self, options):
        self.split: str | None = None
        self.chains: ChainSummary | None = None
        self.tree: ClassTreeNode | None = None
        self.errors: list[tuple[float, int]] = []
        self.chosen: dict[str, dict[str, Any]] = {}

    def add(self, result, view, case):
        if result.tuning:
            self.chosen[result.cell.split] = dict(result.tuning["chosen"])
        if self.split is None:
            self.split = result.cell.split
            self.chains, self.tree = result.views.fit_details.chains, result.views.fit_details.tree
            labels = case.prediction.labels
            nodes = [] if self.tree is None else self.tree.inner_nodes()
            self.errors = [node_error(node, result.truth, labels) for node in nodes]
