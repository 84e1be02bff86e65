"""The page of a run, its figures, and the class trees: ``report.html``, ``figures/`` and ``trees/``."""

from collections.abc import Iterator
from pathlib import Path

from confml._json import to_json
from confml.report.answers.evidence import evidence_of
from confml.report.answers.standings import standings_of
from confml.report.archives import has_archives
from confml.report.figures import figure_functions, pictures
from confml.report.forms.short_table import summary_text
from confml.report.items import Document, Item
from confml.report.page.headline import answer_of
from confml.report.page.material import Material
from confml.report.page.run_page import run_page
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.tables import class_trees
from confml.report.tables.table import Files, paths_of


def tree_items(report: Report) -> Iterator[Item]:
    """Write the class tree of each split, each node with its cut and its test error on that split."""
    for path, text in class_trees.files(report.run):
        yield Document(path, text)


TREES = Files(
    "class-trees",
    {"trees": "class trees"},
    tree_items,
    needs="smart-svm",
    collects=lambda run: (class_trees.tree_of_label,),
)


def has_figures(run: RunResults) -> bool:
    return bool(run.config.figures)


def figure_items(report: Report) -> Iterator[Item]:
    """Draw the config's figures of every data set as SVG and PNG; ``figures/index.md`` has their captions.

    A note names each figure that cannot be drawn, with the reason.
    """
    found = list(pictures(report.run))
    for number, picture in enumerate(found, start=1):
        report.run.status(f"drawing {number} of {len(found)} figures")
        yield picture


FIGURES = Files(
    "figures",
    {"figures": "figures as SVG and in the figure-formats of the config; index.md has their captions"},
    figure_items,
    needs="figures: [...] in the config",
    applies=has_figures,
    collects=figure_functions,
)


def page_items(report: Report) -> Iterator[Item]:
    """Show the answer, the tables and curves of every data set, and their origin on one page.

    It opens without a network and needs no other file. It fits no model: it shows the tables and figures of
    the report.
    """
    run = report.run
    run.status("writing the page")
    material = Material(report)
    found = answer_of([material], standings_of(run))
    text = to_json(found.as_dict(), indent=1)
    yield Document("answer.json", text + "\n")
    yield Document("summary.md", summary_text(run, found, report.notes))
    yield Document("report.html", run_page(material, report.folder, found, files_of(report)))


def files_of(report: Report) -> list[tuple[str, str]]:
    """Return names and contents of the files that this report has written and that are not empty."""
    found = []
    for output in report.outputs:
        for name, about in paths_of(output).items():
            if name not in report.paths or not report.rows.get(name, True):
                continue
            folder = not Path(name).suffix
            archived = folder and has_archives(report.run) and name not in ("figures", "tables", "trees")
            found.append((f"{name}.zip" if archived else f"{name}/" * folder or name, about))
    return found


PAGE = Files(
    "page",
    {
        "report.html": "all results on one page, for a browser",
        "summary.md": "the answer, the short table, and warnings, as Markdown",
        "answer.json": "the answer: advice with price and guarantee, for each data set and over all",
    },
    page_items,
    collects=lambda run: (evidence_of,),
)
