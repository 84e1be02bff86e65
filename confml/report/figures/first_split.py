"""Markov chains and class trees of the first split of a method."""

from collections.abc import Iterator

import numpy as np

from confml.methods.details import ChainSummary, ClassTreeNode
from confml.plugins.parameters import Integer
from confml.report.figures import Figure, NotApplicable, Subject, numbers_of
from confml.report.figures.style import BLUE, COLUMN, GREY, PAGE, lines_of, new_figure
from confml.report.numbers.outcomes import FirstSplit, first_split


def draw_traces(subject: Subject):
    """Draw one row per method (first split) and one column per quantity, with R-hat and effective sample
    size."""
    found: dict[str, tuple[str | None, ChainSummary]] = {}
    for name, one in subject.numbers(first_split).items():
        if one.chains is not None:
            label = subject.results.label(subject.variants[name].cells[0])
            found.setdefault(label, (one.split, one.chains))
    if not found:
        raise NotApplicable("no finished method has chains")
    shown = dict(list(found.items())[: int(subject.option("panels", 6))])
    columns = max(len(chains.traces) for _, chains in shown.values())
    figure = new_figure(PAGE, 0.35 + 1.5 * len(shown))
    grid = figure.subplots(len(shown), columns, squeeze=False)
    for row, (label, (split, chains)) in enumerate(shown.items()):
        for column, axes in enumerate(grid[row]):
            if column >= len(chains.traces):
                axes.set_visible(False)
                continue
            name = list(chains.traces)[column]
            draws = np.array(chains.traces[name])
            places = np.arange(draws.shape[1]) * chains.every[name] + 1
            for trace, line in zip(draws, lines_of(len(draws)), strict=True):
                axes.plot(places, trace, color=line["color"], linewidth=0.5, alpha=0.8)
            axes.set_ylabel(name)
            axes.set_title(
                f"R-hat {chains.rhat[name]:.3f}, ESS {chains.ess[name]:.0f}", loc="right", fontsize=6
            )
            if column == 0:
                axes.set_title(f"{label}, split {split}\n", loc="left", fontsize=7)
            if row + 1 == len(shown):
                axes.set_xlabel("kept draw")
    figure.suptitle(f"{subject.dataset}: one colour per chain", x=0.01, ha="left", fontsize=8)
    return figure


CHAIN_TRACES = Figure(
    name="chain-traces",
    about="traces of Markov chains by method, of the first split, with R-hat and effective sample size",
    draw=draw_traces,
    collects=numbers_of(first_split),
    caption="Traces of the Markov chains of the first split, one colour per chain, with R-hat and the "
    "effective sample size (ESS).",
    options={"panels": Integer("largest number of methods; default 6", low=1)},
)


def draw_tree(subject: Subject):
    """Draw each node with its cut and its test error; equal trees are drawn once."""
    found: list[tuple[str, FirstSplit, ClassTreeNode]] = []
    for name, one in subject.numbers(first_split).items():
        if one.tree is not None and all(one.tree != tree for _, _, tree in found):
            found.append((subject.results.label(subject.variants[name].cells[0]), one, one.tree))
    if not found:
        raise NotApplicable("no method has a class tree")
    leaves = max(len(tree.classes) for _, _, tree in found)
    width = min(max(COLUMN, 0.34 * leaves + 1), 14)
    figure = new_figure(width, (0.7 + 0.34 * (1 + max(tree.depth for *_, tree in found))) * len(found))
    for number, (label, one, tree) in enumerate(found):
        axes = figure.add_subplot(len(found), 1, number + 1)
        axes.axis("off")
        title = f"{subject.dataset}: {label}, split {one.split}"
        axes.set_title(f"{title}\nat each node: its cut, its test error", loc="left")
        _branch(axes, tree, 0, [0], iter(one.errors))
        axes.margins(0.1, 0.12)
    return figure


def _branch(axes, node: ClassTreeNode, depth: int, next_leaf: list[int], errors: Iterator) -> float:
    """Draw a node and its subtree, and return its position. Leaves are drawn next to each other."""
    if not node.sides:
        leaf = next_leaf[0]
        next_leaf[0] += 1
        axes.text(
            leaf, -depth - 0.1, str(node.classes[0]), ha="center", va="top", fontsize=6, in_layout=False
        )
        return float(leaf)
    error, n = next(errors)  # in the order of `ClassTreeNode.inner_nodes`
    below = [_branch(axes, side, depth + 1, next_leaf, errors) for side in node.sides]
    place = sum(below) / 2
    for end in below:
        axes.plot([place, end, end], [-depth, -depth, -depth - 1], color=GREY, linewidth=0.7)
    axes.plot([place], [-depth], "o", color=BLUE, markersize=3, zorder=4)
    text = f"{node.cut:.2g}" + (f", {100 * error:.1f} %" if n else "")
    white = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}  # over the line from above
    axes.text(place, -depth + 0.1, text, ha="center", va="bottom", fontsize=6, bbox=white, in_layout=False)
    return place


TREE = Figure(
    name="class-tree",
    about="class tree of smart-svm for its first split: cut and test error of each node",
    draw=draw_tree,
    collects=numbers_of(first_split),
    caption="Class tree of the first split. At each node: its cut, and its error on the test examples of its "
    "classes.",
)
