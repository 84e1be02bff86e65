"""The page of one run: its parts in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confml.published import known_tables
from confml.report.answers.answer import Answer, RunAnswer, causes, of_dataset
from confml.report.answers.datasets import Ranking, ranking
from confml.report.answers.standings import Standings, standings_of
from confml.report.forms.page_table import PageTable, slug, unique
from confml.report.page.about_run import (
    audit_sentence,
    audit_table,
    citations,
    config_text,
    data_table,
    manifest_of,
    provenance_table,
)
from confml.report.page.figures import PageFigure, page_figure
from confml.report.page.headline import answer_table, best_first, question
from confml.report.page.material import Material
from confml.report.page.render import render
from confml.report.page.result_parts import DatasetTables
from confml.report.run.results import RunResults
from confml.report.tables.leaderboard import TITLE
from confml.report.tables.published_tables import COMPUTED, path_of

RESERVED = (
    "answer answer-table warnings ranks published failures failures-table files figures data glossary "
    "data-sets data-audit audit config provenance provenance-table cite status theme top leaderboard "
    "leaderboard-table ranks-error ranks-augrc pairs paired incomparable settings runs runs-table"
).split()
"""Identifiers of the page that no data set may have."""
MANY, FEW_ROWS = 8, 20
"""With more data sets than this, their tables have this number of views, and one table with linked values."""
WITH_FIGURES = 24
"""Number of data sets whose figures are on the page; the others are links."""


@dataclass(frozen=True)
class DatasetPart:
    """Everything that the page shows of one data set."""

    id: str
    name: str
    facts: str
    answer: Answer
    sentences: list[str]
    tables: dict[str, PageTable]
    figures: list[PageFigure]
    many: bool


def run_page(material: Material, folder: Path, found: RunAnswer, files: Sequence[tuple[str, str]]) -> str:
    """Return the page of one run as HTML.

    folder: of its manifest. found: its answer. files: names and contents of the files that the page links to.
    """
    results = material.results
    manifest = manifest_of(folder)
    content: dict[str, Any] = {
        "banner": found.banner,
        "causes": found.failures,
        "question": question([material], found.found),
        "headline": found.sentences,
        "summary": answer_table(found.found, found.aim) if len(found.complete) > 1 else None,
        "notes": [note.removeprefix("warning: ") for note in material.report.notes],
        "ranks": rank_parts(material),
        "leaderboard": leaderboard(material),
        "parts": dataset_parts([material], standings_of(results), found.found, folder),
        "published": published(material),
        "failures": failures(results),
        "data": data_table(results),
        "audit": audit_table(results),
        "provenance": provenance_table(manifest),
    }
    return render(
        "run.html",
        name=results.config.name,
        about=" ".join((results.config.about or "").split()),
        cells=f"{results.done} of {len(results.cells)} cells are done, {len(results.failures)} failed.",
        files=files,
        figures=[page_figure(one, folder) for one in material.report.pictures if not one.dataset],
        audit_sentence=audit_sentence(results),
        data_notes=[(info.name, info.notes) for _, info in sorted(results.datasets.items()) if info.notes],
        config=config_text(manifest),
        citations=citations(results),
        glossary=glossary(content),
        **content,
    )


def glossary(content: Any) -> list[tuple[str, str]]:
    """Return the headings of all tables of a page with their definitions, in alphabetical order."""
    found: dict[str, str] = {}

    def visit(value: Any) -> None:
        if isinstance(value, PageTable):
            found.update((heading, about) for heading, _, about in value.columns if about and value)
        elif isinstance(value, dict):
            visit(list(value.values()))
        elif isinstance(value, list | tuple):
            for one in value:
                visit(one)
        elif isinstance(value, DatasetPart | RankPart):
            visit(vars(value))

    visit(content)
    return sorted(found.items(), key=lambda item: item[0].lower())


def dataset_parts(
    material: Sequence[Material], standings: Standings, found: Sequence[Answer], folder: Path = Path()
) -> list[DatasetPart]:
    """Return the part of each data set; fewer rows each where there are many data sets.

    folder: of a run that has figures.
    """
    number = len(found)
    ids = unique([*RESERVED, *(slug(one.dataset) for one in found)])[len(RESERVED) :]
    many = number > MANY
    most = FEW_ROWS if many else min(300, 600 // max(number, 1))
    parts = []
    for place, (id, one) in enumerate(zip(ids, found, strict=True)):
        tables = DatasetTables(material, standings, one.dataset, id, most, best_first(material, one.dataset))
        shown = {
            "results": tables.results(one),
            "regions": tables.regions(),
            "accepted": tables.accepted(),
            "certified": tables.certified(),
            "tuning": tables.tuning(),
            "times": tables.times(),
        }
        for name, table in shown.items():
            table.linked = name == "results" or not many
        info = material[0].results.datasets.get(one.dataset)
        facts = ""
        if info is not None:
            facts = (
                f"{info.rows} rows, {info.attributes} features, {info.classes} classes; {tables.protocol}."
            )
        parts.append(
            DatasetPart(
                id,
                one.dataset,
                facts,
                one,
                of_dataset(one) if number > 1 else [],
                {name: table for name, table in shown.items() if table or name == "results"},
                [
                    page_figure(picture, folder, inline=place < WITH_FIGURES)
                    for picture in material[0].report.pictures
                    if picture.dataset == one.dataset
                ],
                many,
            )
        )
    return parts


# ---- all data sets together


@dataclass(frozen=True)
class RankPart:
    """Mean ranks of the methods by one metric, with a sentence and a table."""

    title: str
    text: str
    table: PageTable


def rank_parts(material: Material) -> list[RankPart]:
    """Return the ranks by error and by AUGRC over the data sets of a run; none with one data set."""
    found = (ranking(material.results, metric) for metric in ("error", "augrc"))
    return [rank_part(one) for one in found if one is not None]


def rank_part(found: Ranking) -> RankPart:
    """Return the ranking of methods over data sets."""
    outcome = found.comparison
    words = found.heading
    title = f"Mean ranks by {words}"
    verdict = found.verdict
    text = f"{len(found.labels)} methods on {len(found.datasets)} data sets. {verdict.sentence()}"
    if found.missing:
        text += f" {found.missing}"
    table = PageTable(
        f"ranks-{slug(found.metric)}",
        f"Mean ranks by {words} (1 is best).",
        ["method", "mean rank", "data sets won", "difference from best", "shown to differ from the best"],
        file="summary.csv",
    )
    best = float(outcome.mean_ranks.min())
    wins = (outcome.ranks == outcome.ranks.min(axis=1, keepdims=True)).sum(axis=0)
    for place, label in sorted(enumerate(found.labels), key=lambda item: outcome.mean_ranks[item[0]]):
        rank = float(outcome.mean_ranks[place])
        table.add(label, rank, int(wins[place]), rank - best, verdict.worse(place))
    return RankPart(title, text, table)


# ---- tables that a paper prints, failures, leaderboard


def published(material: Material) -> list[tuple[str, PageTable]]:
    """Return (source, table) of the published tables of the config, for the data sets of the run."""
    found = []
    for name, one in known_tables().items():
        path = path_of(one)
        rows = material.report.dicts(path)
        here = {row["dataset"] for row in rows if row["status"] == COMPUTED}
        if not rows:
            continue
        quantities = len(one.columns) > 1
        table = PageTable(
            f"published-{slug(name)}",
            f"{one.title}: published numbers and those of this run.",
            [*one.keys.values(), *(["quantity"] if quantities else []), "published", "this run", "difference",
             "as printed", "sd", "splits", "status"],
            heads=len(one.keys) + quantities,
            note=" ".join(one.notes),
            file=path,
        )  # fmt: skip
        for row in rows:
            if row["dataset"] in here:
                words = [one.columns[row["quantity"]]] if quantities else []
                values = (row[key] for key in ("paper", "confml", "difference", "as_printed", "sd", "splits"))
                table.add(*(row[key] for key in one.keys), *words, *values, row["status"])
        absent = len({row["dataset"] for row in rows} - here)
        if absent:
            table.note += f" Data sets without results in this run: {absent}; they are in {path}."
        found.append((f"{one.source}. All numbers in {one.unit}.", table))
    return found


def failures(results: RunResults) -> PageTable:
    """Return the causes of failed cells."""
    table = PageTable(
        "failures-table",
        "Failed cells by method and error.",
        ["method", "cells", "data sets", "failure"],
        note="tables/failures.csv has each cell with the calls that led to its error.",
        file="tables/failures.csv",
    )
    for cause in causes(results.failures, results.label):
        table.add(cause.label, sum(cause.cells.values()), ", ".join(cause.cells), cause.error)
    return table


def leaderboard(material: Material) -> PageTable | None:
    """Return mean ranks and means of all methods by every column of the leaderboard."""
    grid = material.report.grids.get(TITLE)
    return None if grid is None else PageTable.of("leaderboard-table", grid, "tables/leaderboard.csv")
