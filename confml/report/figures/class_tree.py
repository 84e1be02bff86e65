"""The class tree of a hierarchical method."""

from collections.abc import Iterator

from confml.methods.details import ClassTreeNode
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLUE, COLUMN, GREY, new_figure
from confml.report.numbers.first_splits import FirstSplit


def draw_tree(subject: Subject):
    """Draw each node with its cut and its test error; equal trees are drawn once."""
    found: list[tuple[str, FirstSplit, ClassTreeNode]] = []
    for name, one in subject.numbers(FirstSplit).items():
        if one.tree is not None and all(one.tree != tree for _, _, tree in found):
            found.append((subject.results.label(subject.variants[name].cells[0]), one, one.tree))
    if not found:
        raise NotApplicable("no method has a class tree")
    leaves = max(len(tree.classes) for _, _, tree in found)
    width = min(max(COLUMN, 0.34 * leaves + 1), 14)
    figure = new_figure(width, (0.5 + 0.34 * (1 + max(tree.depth for *_, tree in found))) * len(found))
    for number, (label, one, tree) in enumerate(found):
        axes = figure.add_subplot(len(found), 1, number + 1)
        axes.axis("off")
        title = f"{subject.dataset}: {label}, split {one.split}"
        axes.set_title(f"{title}\nat each node: its cut, its test error", loc="left")
        _branch(axes, tree, 0, [0], iter(one.errors))
        axes.margins(0.05, 0.12)
    return figure


def _branch(axes, node: ClassTreeNode, depth: int, next_leaf: list[int], errors: Iterator) -> float:
    """Draw a node and its subtree, and return its position. Leaves are drawn next to each other."""
    if not node.sides:
        leaf = next_leaf[0]
        next_leaf[0] += 1
        axes.text(leaf, -depth - 0.1, str(node.classes[0]), ha="center", va="top", fontsize=6, rotation=0)
        return float(leaf)
    error, n = next(errors)  # in the order of `ClassTreeNode.inner_nodes`
    below = [_branch(axes, side, depth + 1, next_leaf, errors) for side in node.sides]
    place = sum(below) / 2
    for end in below:
        axes.plot([place, end, end], [-depth, -depth, -depth - 1], color=GREY, linewidth=0.7)
    axes.plot([place], [-depth], "o", color=BLUE, markersize=3, zorder=4)
    text = f"{node.cut:.2g}" + (f", {100 * error:.1f} %" if n else "")
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # over the line from above
    axes.text(place, -depth + 0.1, text, ha="center", va="bottom", fontsize=5, bbox=white)
    return place


TREE = Figure(
    name="class-tree",
    about="class tree of smart-svm for its first split: cut and test error of each node",
    draw=draw_tree,
    numbers=(FirstSplit,),
    caption="Class tree of the first split. At each node: its cut, and its error on the test examples of its "
    "classes.",
)
