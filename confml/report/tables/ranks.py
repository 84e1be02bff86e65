"""Methods over several data sets: ``tables/ranks-<metric>`` as CSV, Markdown and LaTeX."""

from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from confml.errors import ConfmlError
from confml.measures.ranks import compare_ranks
from confml.report.answers.datasets import Ranking, ranking, training_times_of
from confml.report.answers.losses import losses_of
from confml.report.declared import ranking_metric
from confml.report.files import safe_name
from confml.report.forms.matrix import MEAN_RANK, run_matrix
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable, to_markdown
from confml.report.tables.published_tables import default_params, published_table
from confml.report.tables.table import Files


def has_ranks(run: RunResults) -> bool:
    """Return whether a run has several methods on several data sets."""
    return len({cell.dataset for cell in run.cells}) > 1 and len(set(map(run.label, run.cells))) > 1


def write(report: Report) -> None:
    """Methods by data set with their mean ranks: by error, and by the metrics of ``ranks`` figures.

    The Markdown file has the tests of Friedman, Nemenyi and Wilcoxon too.
    """
    specs = [spec for spec in report.run.config.figures if spec.name == "ranks"]
    every = ({}, *(spec.options for spec in specs))
    for options in {options.get("metric", "error"): options for options in every}.values():
        try:
            ranked = ranking(report.run, **{"metric": "error", **options})
        except ConfmlError:
            continue  # the note of the figure says why
        if ranked is not None:
            name = safe_name(f"ranks-{ranked.metric}")
            printed = published_ranks(report.run, ranked)
            report.write_csv(f"{name}.csv", ("dataset", *ranked.labels), _rank_rows(ranked, printed))
            label = f"{safe_name(report.run.config.name)}-{name}"
            tests = f"\n{tests_text(ranked, printed)}"
            report.write_shown(name, run_matrix(report.run, ranked), label, tests)


def _rank_rows(ranked: Ranking, printed: "PublishedRanks | None") -> list[tuple]:
    """Return means of the metric per data set, then mean ranks, then mean ranks of the paper's numbers."""
    rows = [
        *ranked.scores.itertuples(name=None),
        (MEAN_RANK, *ranked.comparison.mean_ranks.tolist()),
    ]
    if printed is not None:
        ranks = (printed.mean_ranks.get(label) for label in ranked.labels)
        rows.append(("mean rank of the paper's numbers", *ranks))
    return rows


@dataclass(frozen=True)
class PublishedRanks:
    """Mean ranks of the numbers that a paper prints, by label. datasets: number of data sets."""

    source: str
    datasets: int
    mean_ranks: dict[str, float]


def published_ranks(results: RunResults, ranked: Ranking) -> PublishedRanks | None:
    """Return the ranks of the numbers in the config's published table with the metric of the ranking."""
    paper = results.config.paper
    variants = {results.label(cell): cell for cell in results.cells}
    for table in map(published_table, paper.table if paper else ()):
        printed: dict[str, dict[str, float]] = {}
        for entry in table.entries():
            if not entry.printed or entry.ours is None or entry.ours.metric != ranked.metric:
                continue
            defaults = default_params(entry.ours.method)
            for label in ranked.labels:
                cell = variants[label]
                params = {**defaults, **cell.params}
                if cell.method == entry.ours.method and entry.ours.params.items() <= params.items():
                    printed.setdefault(entry.keys[0], {})[label] = float(entry.printed)
        labels = [label for label in ranked.labels if all(label in row for row in printed.values())]
        if printed and len(labels) > 1:
            scores = [[row[label] for label in labels] for row in printed.values()]
            ranks = compare_ranks(scores, ranking_metric(ranked.metric).sign > 0).mean_ranks
            return PublishedRanks(table.source, len(scores), dict(zip(labels, ranks.tolist(), strict=True)))
    return None


def tests_text(ranked: Ranking, printed: PublishedRanks | None = None) -> str:
    """Return the tests of a ranking as Markdown: one row per pair of methods, and the notes."""
    outcome, labels = ranked.comparison, ranked.labels
    order = ranked.by_rank
    pairs = [
        (f"{labels[a]} / {labels[b]}", f"{outcome.nemenyi[a, b]:.3g}", f"{outcome.wilcoxon[a, b]:.3g}")
        for a, b in combinations(order, 2)
    ]
    notes = [
        f"Friedman: chi squared {outcome.chi_squared:.2f}, p = {outcome.p_value:.3g}; Iman and Davenport: "
        f"F = {outcome.f:.2f}, p = {outcome.f_p_value:.3g}.",
        f"Nemenyi: mean ranks that differ by {outcome.critical_difference:.2f} or more differ at level "
        f"{outcome.level:g}.",
    ]
    if ranked.points:
        grids = ", ".join(f"{labels[index]} {ranked.points[index]}" for index in order)
        notes.append(f"Seconds are those of each method's own grid; its points: {grids}.")
    if printed:
        ranks = ", ".join(f"{label} {rank:.2f}" for label, rank in printed.mean_ranks.items())
        notes.append(
            f"Mean ranks of the numbers of {printed.source} for {printed.datasets} data sets: {ranks}."
        )
    frame = pd.DataFrame(pairs, columns=["pair", "Nemenyi p", "Wilcoxon p, Holm"])
    return to_markdown(ShownTable("Tests of pairs", frame, notes))


RANKS = Files(
    "ranks",
    {"tables/ranks-<metric>.csv": "methods by data set with mean ranks; also md, with tests, and tex"},
    write,
    needs="two methods and two data sets",
    applies=has_ranks,
    collects=lambda run: (losses_of, training_times_of),
)
