"""Trees of classes that methods found, in text: ``trees/<data set>-<method>.txt``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from confml.methods.svm.class_tree import tree_text
from confml.report.files import safe_name, write_file

if TYPE_CHECKING:
    from confml.report.results import RunResults


def write_trees(results: RunResults, folder: Path) -> Iterator[Path]:
    """The tree of each split, each node with its cut and its error on that split's test examples."""
    texts: dict[tuple[str, str], list[str]] = {}
    for result in results.finished():
        tree = result.fit_details.get("tree")
        if tree is not None:
            labels = next(iter(result.views.values())).labels

            def beside(node: Mapping[str, Any], truth=result.truth, labels=labels) -> str:
                error, n = node_error(node, truth, labels)
                return f"error {100 * error:.1f} % of {n}" if n else "no test example"

            heading = f"split {result.cell.split}\n{tree_text(tree, beside)}\n"
            texts.setdefault((result.cell.dataset, results.label(result.cell)), []).append(heading)
    for (dataset, label), parts in texts.items():
        yield write_file(folder / "trees" / f"{safe_name(f'{dataset}-{label}')}.txt", "\n".join(parts))


def node_error(node: Mapping[str, Any], truth: np.ndarray, labels: np.ndarray) -> tuple[float, int]:
    """(share sent to the wrong side, number) of the test examples of a node's classes that went through it.

    truth, labels (n,): true and predicted labels; an example went through the node if its label is there.
    """
    truth, labels = np.asarray(truth), np.asarray(labels)
    here = np.isin(truth, node["classes"]) & np.isin(labels, node["classes"])
    right = np.array(members(node["right"]))
    wrong = np.isin(truth[here], right) != np.isin(labels[here], right)
    return (float(wrong.mean()) if here.any() else float("nan")), int(here.sum())


def members(node: Mapping[str, Any]) -> list:
    """The classes below a node or a leaf."""
    return [node["class"]] if "class" in node else list(node["classes"])
