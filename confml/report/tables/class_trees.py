"""``tables/class-trees/``: the class tree of each split, with cut and test error of each node."""

from collections.abc import Iterator

from confml.methods.details import ClassTreeNode
from confml.report.files import safe_name
from confml.report.numbers.outcomes import node_error
from confml.report.run.results import RunResults, Variant


def tree_text(variant: Variant) -> str:
    """Return the class trees of a variant as text; empty without trees."""
    texts = []
    for result in variant.splits:
        tree = result.views.fit_details.tree
        if tree is not None:
            labels = next(iter(result.views.values())).labels

            def error_text(node: ClassTreeNode, truth=result.truth, labels=labels) -> str:
                error, n = node_error(node, truth, labels)
                return f"error {100 * error:.1f} % of {n}" if n else "no test example"

            texts.append(f"split {result.cell.split}\n{tree.to_text(error_text)}\n")
    return "\n".join(texts)


def tree_of_label(variant: Variant) -> tuple[str, str, str]:
    """Return data set, label and `tree_text` of a variant."""
    return variant.dataset, variant.label, tree_text(variant)


def files(run: RunResults) -> Iterator[tuple[str, str]]:
    """Yield the path below the folder of the run and the text of each file."""
    for dataset, label, text in run.collected(tree_of_label):
        if text:
            yield f"tables/class-trees/{safe_name(f'{dataset}-{label}')}.txt", text
