"""The page of a run and its figures: ``report.html`` and ``figures/``."""

from collections.abc import Iterable
from pathlib import Path

from confml._json import to_json
from confml.report.answers.answer import answer_of
from confml.report.answers.comparisons import comparisons_of
from confml.report.answers.losses import losses_of
from confml.report.figures import figure_functions, pictures
from confml.report.forms.short_table import summary_text
from confml.report.page.page import run_page
from confml.report.report import Picture, Report
from confml.report.tables.table import Files


def write_figures(report: Report) -> None:
    """Draw the config's figures of every data set as SVG and PNG; ``figures/index.md`` has their captions.

    A note names each figure that cannot be drawn, with the reason.
    """
    draw_figures(report, list(pictures(report.run)))


def draw_figures(report: Report, chosen: Iterable[Picture]) -> None:
    """Draw figures, and list those of a report with their captions as Markdown."""
    chosen = list(chosen)
    for number, picture in enumerate(chosen, start=1):
        report.run.status(f"drawing {number} of {len(chosen)} figures")
        report.draw(picture)
    parts = ["# Figures\n"]
    for picture in report.pictures:
        file = f"{Path(picture.path).name}.svg"
        parts.append(f"## {picture.title}\n\n![{picture.title}]({file})\n\n{picture.caption}\n")
    if report.pictures:
        report.write("figures/index.md", "\n".join(parts))


FIGURES = Files(
    "figures",
    {"figures": "figures as SVG and in the figure-formats of the config; index.md has their captions"},
    write_figures,
    needs="figures: [...] in the config",
    applies=lambda run: bool(run.config.figures),
    collects=figure_functions,
)


def write_page(report: Report) -> None:
    """Show the answer, the tables and curves of every data set, and their origin on one page.

    It opens without a network and needs no other file. It fits no model: it shows the tables and figures of
    the report.
    """
    run = report.run
    run.status("writing the page")
    answer = answer_of(report, comparisons_of(run))
    report.write("answer.json", to_json(answer.as_dict(), indent=1) + "\n")
    report.write("summary.md", summary_text(run, answer, report.notes))
    report.write("report.html", run_page(report, answer, files_of(report)))


PAGE = Files(
    "page",
    {
        "report.html": "all results on one page, for a browser",
        "summary.md": "the answer, the short table, and warnings, as Markdown",
        "answer.json": "the answer: advice with time and guarantee, for each data set and over all",
    },
    write_page,
    collects=lambda run: (losses_of,),
)


def files_of(report: Report) -> list[tuple[str, str]]:
    """Return names and contents of the files that this report has written and that are not empty."""
    names = [path.relative_to(report.folder).as_posix() for path in report.paths]
    written = {*names, *(name.partition("/")[0] for name in names)} | {PAGE_NAME}
    return [
        (name if Path(name).suffix else f"{name}/", about)
        for output in report.outputs
        for name, about in output.paths.items()
        if name in written and report.rows.get(Path(name).name, True)
    ]


PAGE_NAME = "report.html"
