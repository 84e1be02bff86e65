"""The class tree of smart-svm."""

from collections.abc import Iterator

from confml.methods.details import ClassTreeNode
from confml.report.figures.figure import DatasetResults, Figure, NotApplicable, of_views
from confml.report.figures.style import BLUE, COLUMN, new_figure
from confml.report.numbers.outcomes import first_split


def draw(data: DatasetResults):
    """Class tree of the first split. At each node: its cut, and its error on the test examples of its
    classes.
    """
    trees: list[tuple[str, ClassTreeNode, list[tuple[float, int]]]] = []
    for label, first in data.collected(first_split).items():
        if first.tree is not None and all(first.tree != tree for _, tree, _ in trees):
            title = f"{data.name}: {data.views[label].label}, split {first.split}"
            trees.append((title, first.tree, first.errors))
    if not trees:
        raise NotApplicable("no method has a class tree")
    leaves = max(len(tree.classes) for _, tree, _ in trees)
    depth = max(tree.depth for _, tree, _ in trees)
    figure = new_figure(min(max(COLUMN, 0.34 * leaves + 1), 14), (1.1 + 0.34 * depth) * len(trees))
    grid = figure.subplots(len(trees), squeeze=False)[:, 0]
    for axes, (title, tree, errors) in zip(grid, trees, strict=True):
        axes.axis("off")
        axes.set_title(f"{title}\nat each node: its cut, its test error")
        _branch(axes, tree, 0, iter(range(leaves)), iter(errors))
        axes.margins(0.1, 0.12)
    return figure


def _branch(axes, node: ClassTreeNode, depth: int, leaves: Iterator[int], errors: Iterator) -> float:
    """Draw a node and its subtree, and return its position. Leaves are drawn next to each other."""
    text = {"ha": "center", "fontsize": 6, "in_layout": False}
    if not node.sides:
        leaf = next(leaves)
        axes.text(leaf, -depth - 0.1, str(node.classes[0]), va="top", **text)
        return float(leaf)
    error, n = next(errors)  # in the order of `ClassTreeNode.inner_nodes`
    ends = [_branch(axes, side, depth + 1, leaves, errors) for side in node.sides]
    middle = sum(ends) / 2
    for end in ends:
        axes.plot([middle, end, end], [-depth, -depth, -depth - 1], color="0.6", linewidth=0.7)
    axes.plot([middle], [-depth], "o", color=BLUE, markersize=3, zorder=4)
    label = f"{node.cut:.2g}" + (f", {100 * error:.1f} %" if n else "")
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # over the line from above
    axes.text(middle, -depth + 0.1, label, va="bottom", bbox=white, **text)
    return middle


CLASS_TREE = Figure(draw, collects=of_views(first_split))
