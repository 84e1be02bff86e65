"""Figures show every method, have no empty panel, and keys and captions for all that they draw."""

import re
from pathlib import Path
from types import SimpleNamespace

import yaml
from matplotlib.text import Text
from report.report_cases import entry, figure, golden_run, random_run

from confml.methods.details import ClassTreeNode
from confml.report.figures import FIGURES, DatasetResults, pictures
from confml.report.figures.style import style

CONFIGS = Path(__file__).parents[2] / "configs"


def wide_run(variants=13):
    """A run with p-values of all ``variants`` but one, which has margins alone."""
    return random_run([entry("tcm-nn", sweep={"k": list(range(1, variants))}), "ovo-svm"])


def drawn(name, run):
    with style():
        return FIGURES[name].draw(DatasetResults(run, "d"))


def legend_of(figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_accuracy_rejection_shows_every_method_and_no_empty_panel():
    figure = drawn("accuracy-rejection", wide_run())
    visible = [axes for axes in figure.axes if axes.get_visible()]
    assert [len(axes.lines) for axes in visible] == [12, 1]
    assert len(legend_of(figure)) == 13 and "of 13" not in figure.get_suptitle()
    many = drawn("accuracy-rejection", wide_run(32))
    assert all(axes.lines for axes in many.axes if axes.get_visible())
    assert "28 of 32 variants" in many.get_suptitle()


def test_the_baseline_is_not_drawn():
    """Its error would set the scale of all others."""
    run = random_run([entry("knn", {"k": 1}), "majority-class"])
    assert legend_of(drawn("accuracy-rejection", run)) == ["knn k=1"]
    assert [axes.get_title("left") for axes in drawn("reliability", run).axes] == ["knn k=1, n = 40"]


def test_the_gallery_has_every_kind_of_figure():
    named = set()
    for path in (CONFIGS / "gallery").glob("*.yaml"):
        for spec in yaml.safe_load(path.read_text(encoding="utf-8"))["figures"]:
            named.add(spec if isinstance(spec, str) else spec.get("name") or next(iter(spec)))
    assert named == set(FIGURES)


def test_a_method_has_one_colour_in_all_figures():
    run = wide_run(4)
    data = DatasetResults(run, "d")
    for name in ("accuracy-rejection", "coverage-by-level", "efficiency"):
        (legend,) = drawn(name, run).legends
        lines = zip(legend.get_texts(), legend.legend_handles, strict=True)
        colours = {text.get_text(): line.get_color() for text, line in lines if hasattr(line, "get_color")}
        looks = {label: data.look(label)["color"] for label in data.views if label in colours}
        assert len(looks) > 2 and looks.items() <= colours.items()


def test_the_title_of_a_class_tree_is_inside_of_the_figure():
    leaves = [ClassTreeNode((label,)) for label in "abc"]
    tree = ClassTreeNode(tuple("abc"), 0.1, leaves[0], ClassTreeNode(("b", "c"), 0.2, *leaves[1:]))
    first = SimpleNamespace(tree=tree, split="r0", errors=[(0.1, 30), (0.2, 20)])
    data = SimpleNamespace(name="arcs", views={"smart-svm": SimpleNamespace(label="smart-svm")})
    data.collected = lambda function: {"smart-svm": first}
    with style():
        figure = FIGURES["class-tree"].draw(data)
        figure.draw_without_rendering()
    titles = figure.findobj(lambda artist: isinstance(artist, Text) and "at each node" in artist.get_text())
    frame = titles[0].get_window_extent()
    assert 0 <= frame.x0 and frame.x1 <= figure.bbox.x1 and frame.y1 <= figure.bbox.y1


def test_figures_of_alike_names_have_different_files():
    figures = [figure("coverage-by-level", max_level=level) for level in (0.2, 0.25)]
    paths = [picture.path for picture in pictures(golden_run(figures=figures))]
    assert len(set(paths)) == 4 and all(re.fullmatch("figures/[A-Za-z0-9_-]+", path) for path in paths)
