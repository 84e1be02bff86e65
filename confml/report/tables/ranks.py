"""Methods over several data sets: ``tables/ranks-<metric>`` as CSV, Markdown and LaTeX."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from confml.errors import ConfmlError
from confml.measures.ranks import compare_ranks
from confml.report.answers.datasets import Ranking, ranking, ranking_of, training_times_of
from confml.report.answers.evidence import evidence_of
from confml.report.answers.standings import Standings, standings_of
from confml.report.answers.text import RULE
from confml.report.declared import ranking_metric, shown_metric
from confml.report.files import safe_name
from confml.report.numbers.published_points import default_params
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable, to_latex, to_markdown
from confml.report.tables.published_tables import published_table
from confml.report.tables.table import Files

MEAN_RANK = "mean rank"
Pairs = Collection[tuple[str, str]]
"""Pairs of a data set and the label of a method."""


def matrix(ranking: Ranking, worse: Pairs = (), failed: Pairs = ()) -> ShownTable:
    """Return one row per data set and one column per method, the best mean rank first, and the mean ranks.

    worse: shown to be worse than the best method of the data set. failed: without a result.
    """
    metric, outcome = shown_metric(ranking.metric), ranking.comparison
    labels = [ranking.labels[place] for place in ranking.verdict.by_rank]
    scores = pd.DataFrame(ranking.scores, ranking.datasets, ranking.labels)[labels]
    ranks = pd.DataFrame([outcome.mean_ranks.round(12)], [MEAN_RANK], ranking.labels)[labels]
    texts = scores.map(metric.text)
    for dataset, label in {*worse, *failed}:
        if dataset in texts.index and label in texts.columns:
            text = str(texts.at[dataset, label])
            texts.at[dataset, label] = "failed" if (dataset, label) in failed else f"{text} *"
    best = pd.concat([scores.mul(-ranking_metric(ranking.metric).sign), ranks])
    frame = pd.concat([texts, ranks.map("{:.2f}".format)]).rename_axis("data set").reset_index()
    bold = best.eq(best.min(axis=1), axis=0) & (best.nunique(axis=1) > 1).to_numpy()[:, None]
    notes = ["Methods by mean rank (1 is best). Bold: best of a row.", ranking.verdict.sentence(bars=False)]
    if worse:
        notes.insert(1, f"*: shown to be worse than the best of the data set ({RULE}).")
    if ranking.missing:
        notes.append(ranking.missing)
    bold.insert(0, "data set", False)
    title = f"{metric.label[:1].upper()}{metric.label[1:]} of each method by data set"
    return ShownTable(title, frame, notes, best=bold.reset_index(drop=True))


def run_matrix(run: RunResults, found: Ranking) -> ShownTable:
    """Return the matrix of a ranking of the methods of a run, with the verdicts on each data set."""
    return standings_matrix(standings_of(run), found, with_run=True)


def standings_matrix(standings: Standings, found: Ranking, with_run: bool) -> ShownTable:
    """Return the matrix of a ranking with the verdicts of standings.

    with_run: whether the labels of the ranking have the name of the run, if there are several.
    """
    worse, finished = set(), set()
    for line in filter(standings.is_first, standings.lines):
        pair = line.dataset, method_of(standings, line, with_run)
        finished.add(pair)
        standing = standings.of(line, found.metric)
        if standing is not None and standing.worse:
            worse.add(pair)
    failed = {
        (failure.cell.dataset, run.label(failure.cell))
        for _, run in standings.runs
        for failure in run.failures
    }
    return matrix(found, worse, failed - finished)


def method_of(standings: Standings, line, with_run: bool) -> str:
    """Return the label of the method of a line, with or without the name of its run."""
    return line.method if with_run else line.method.removesuffix(f", {standings.run_of(line)}")


def matrix_of_runs(standings: Standings, metric: str = "error") -> ShownTable | None:
    """Return the matrix of the methods of several runs; None if they cannot be ranked.

    A method of two runs has one column if no data set is in both of them.
    """
    datasets = dict.fromkeys(line.dataset for line in standings.lines)
    lines = [line for dataset in datasets for line in standings.compared(dataset)]
    lines = [line for line in lines if standings.is_first(line) and standings.of(line, metric)]
    with_run = len({(line.dataset, method_of(standings, line, False)) for line in lines}) < len(lines)
    means = {
        (line.dataset, method_of(standings, line, with_run)): round(standing.mean, 12)
        for line in lines
        if (standing := standings.of(line, metric)) is not None and not np.isnan(standing.mean)
    }
    names = list(dict.fromkeys(label for _, label in means)), list(dict.fromkeys(name for name, _ in means))
    found = ranking_of(metric, means, names, ranking_metric(metric).sign > 0)
    return None if found is None else standings_matrix(standings, found, with_run)


def has_ranks(run: RunResults) -> bool:
    """Return whether a run has several methods on several data sets."""
    return len({cell.dataset for cell in run.cells}) > 1 and len(set(map(run.label, run.cells))) > 1


def write(report: Report) -> None:
    """Methods by data set with their mean ranks: by error, and by the metrics of ``ranks`` figures.

    The Markdown file has the tests of Friedman, Nemenyi and Wilcoxon too.
    """
    specs = [spec for spec in report.run.config.figures if spec.name == "ranks"]
    for options in {
        spec.get("metric", "error"): spec for spec in ({}, *(spec.options for spec in specs))
    }.values():
        try:
            found = ranking(report.run, **{"metric": "error", **options})
        except ConfmlError:
            continue  # the note of the figure says why
        if found is not None:
            name = safe_name(f"ranks-{found.metric}")
            printed = published_ranks(report.run, found)
            table = run_matrix(report.run, found)
            report.shown[name] = table
            report.write_csv(f"{name}.csv", ("dataset", *found.labels), _rank_rows(found, printed))
            report.write(f"tables/{name}.md", f"{to_markdown(table)}\n{tests_text(found, printed)}")
            label = f"{safe_name(report.run.config.name)}-{name}"
            report.write(f"tables/{name}.tex", to_latex(table, label))


def _rank_rows(found: Ranking, printed: "PublishedRanks | None") -> list[tuple]:
    """Return means of the metric per data set, then mean ranks, then mean ranks of the paper's numbers."""
    rows = [
        *((name, *row.tolist()) for name, row in zip(found.datasets, found.scores, strict=True)),
        (MEAN_RANK, *found.comparison.mean_ranks.tolist()),
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
                params = {**defaults, **cell.params}
                if cell.method == entry.ours.method and entry.ours.params.items() <= params.items():
                    printed.setdefault(entry.keys[0], {})[label] = float(entry.printed)
        labels = [label for label in found.labels if all(label in row for row in printed.values())]
        if printed and len(labels) > 1:
            scores = [[row[label] for label in labels] for row in printed.values()]
            ranks = compare_ranks(scores, ranking_metric(found.metric).sign > 0).mean_ranks
            return PublishedRanks(table.source, len(scores), dict(zip(labels, ranks.tolist(), strict=True)))
    return None


def tests_text(found: Ranking, printed: PublishedRanks | None = None) -> str:
    """Return the tests of a ranking as Markdown: one row per pair of methods, and the notes."""
    outcome, labels = found.comparison, found.labels
    order = found.verdict.by_rank
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
    if found.points:
        grids = ", ".join(f"{labels[place]} {found.points[place]}" for place in order)
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
    collects=lambda run: (evidence_of, training_times_of),
)
