"""Methods ranked over the data sets of a run: ``tables/ranks-<metric>.csv`` and ``.md``."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from confml.errors import ConfmlError
from confml.measures.ranks import compare_ranks
from confml.report.answers.datasets import Ranking, ranking, training_times_of
from confml.report.declared import ranking_metric
from confml.report.files import safe_name
from confml.report.forms.grid import Grid, markdown_rows
from confml.report.numbers.published_points import default_params
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.tables.published_tables import published_table
from confml.report.tables.table import Files


def has_ranks(run: RunResults) -> bool:
    return any(spec.name == "ranks" for spec in run.config.figures)


def write(report: Report) -> None:
    """Mean ranks of the methods, as tables, for the metric of every ``ranks`` figure of the config."""
    for spec in report.run.config.figures:
        if spec.name != "ranks":
            continue
        try:
            found = ranking(report.run, **{"metric": "error", **spec.options})
        except ConfmlError:
            continue  # the note of the figure says why
        if found is not None:
            printed = published_ranks(report.run, found)
            stem = safe_name(f"ranks-{found.metric}")
            report.write_csv(f"{stem}.csv", ("dataset", *found.labels), _rank_rows(found, printed))
            report.write(f"tables/{stem}.md", ranks_text(found, printed, verdict=True))


def _rank_rows(found: Ranking, printed: "PublishedRanks | None") -> list[tuple]:
    """Return means of the metric per data set, then mean ranks, then mean ranks of the paper's numbers."""
    rows = [
        *((name, *row.tolist()) for name, row in zip(found.datasets, found.scores, strict=True)),
        ("mean rank", *found.comparison.mean_ranks.tolist()),
    ]
    if printed is not None:
        ranks = (printed.mean_ranks.get(label) for label in found.labels)
        rows.append(("mean rank of the paper's numbers", *ranks))
    return rows


@dataclass(frozen=True)
class PublishedRanks:
    """Mean ranks of the numbers that a paper prints, by label. datasets: number of data sets."""

    source: str
    datasets: int
    mean_ranks: dict[str, float]


def published_ranks(results: RunResults, found: Ranking) -> PublishedRanks | None:
    """Return the ranks of the numbers in the config's published table with the metric of the ranking."""
    paper = results.config.paper
    variants = {results.label(cell): cell for cell in results.cells}
    for table in map(published_table, paper.table if paper else ()):
        printed: dict[str, dict[str, float]] = {}
        for entry in table.entries():
            if not entry.printed or entry.ours is None or entry.ours.metric != found.metric:
                continue
            defaults = default_params(entry.ours.method)
            for label in found.labels:
                cell = variants[label]
                given = {**defaults, **cell.params}
                if cell.method == entry.ours.method and entry.ours.params.items() <= given.items():
                    printed.setdefault(entry.keys[0], {})[label] = float(entry.printed)
        labels = [label for label in found.labels if all(label in row for row in printed.values())]
        if printed and len(labels) > 1:
            scores = [[row[label] for label in labels] for row in printed.values()]
            ranks = compare_ranks(scores, ranking_metric(found.metric).sign > 0).mean_ranks
            return PublishedRanks(table.source, len(scores), dict(zip(labels, ranks.tolist(), strict=True)))
    return None


def ranks_text(found: Ranking, printed: PublishedRanks | None = None, verdict: bool = False) -> str:
    """Return a ranking and its tests as Markdown; with the verdict, if asked."""
    outcome, labels = found.comparison, found.labels
    best = [int(np.sum(outcome.ranks[:, place] == outcome.ranks.min(axis=1))) for place in range(len(labels))]
    order = np.argsort(outcome.mean_ranks, kind="stable")
    lines = [
        f"## Ranks by {found.heading}",
        "",
        f"{len(found.datasets)} data sets: {', '.join(found.datasets)}.",
    ]
    if found.missing:
        lines.append(found.missing)
    rows = [[labels[place], f"{outcome.mean_ranks[place]:.2f}", str(best[place])] for place in order]
    headings = ["method", "mean rank", "best on"]
    if printed:
        headings.append("by the paper's numbers")
        for row in rows:
            row.append(f"{printed.mean_ranks[row[0]]:.2f}" if row[0] in printed.mean_ranks else "")
    lines += ["", *markdown_rows(Grid("", headings, rows))]
    if found.points:
        grids = ", ".join(f"{labels[place]} {found.points[place]}" for place in order)
        lines += ["", f"Seconds are those of each method's own grid; its points: {grids}."]
    if printed:
        about = f"{printed.source}: mean ranks of what it prints for {printed.datasets} data sets"
        lines += ["", f"By the paper's numbers: {about}."]
    lines += [
        "",
        f"- Friedman: chi squared {outcome.chi_squared:.2f}, p = {outcome.p_value:.3g}; Iman and Davenport: "
        f"F = {outcome.f:.2f}, p = {outcome.f_p_value:.3g}.",
        f"- Nemenyi: mean ranks that differ by {outcome.critical_difference:.2f} or more differ at level "
        f"{outcome.level:g}.",
        *([f"- {found.verdict.sentence()}"] if verdict else []),
        "",
    ]
    pairs = [
        [f"{labels[a]} / {labels[b]}", f"{outcome.nemenyi[a, b]:.3g}", f"{outcome.wilcoxon[a, b]:.3g}"]
        for a, b in combinations(order, 2)
    ]
    lines += markdown_rows(Grid("", ["pair", "Nemenyi p", "Wilcoxon p, Holm"], pairs))
    return "\n".join(lines) + "\n"


RANKS = Files(
    "ranks",
    {"tables/ranks-<metric>.csv": "mean ranks of the methods, with Friedman's and Nemenyi's tests"},
    write,
    needs="figures: [ranks] in the config, two methods and two data sets",
    applies=has_ranks,
    collects=lambda run: (training_times_of,),
)
