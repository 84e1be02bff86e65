"""Class trees of hierarchical methods as text: ``trees/<data set>-<method>.txt``."""

from collections.abc import Iterator

from confml.methods.details import ClassTreeNode
from confml.report.files import safe_name
from confml.report.items import Document, Item
from confml.report.numbers.outcomes import node_error
from confml.report.sections.base import Section
from confml.runner.results import CellResult


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
