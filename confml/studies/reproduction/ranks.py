"""`write_ranks`: mean ranks of methods over the data sets of a stored published table, and their figures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from confml.measures.ranks import compare_ranks
from confml.published import PublishedTable, known_tables
from confml.report.answers.datasets import Ranking
from confml.report.declared import ranking_metric
from confml.report.figures.style import BLACK, BLUE, GREY, legend_below, new_figure, style
from confml.report.files import read_csv, write_csv, write_file
from confml.report.numbers.summaries import TIME_METRICS
from confml.report.sections.ranks import PublishedRanks, ranks_text
from confml.studies.reproduction.figures import write_svg
from confml.studies.reproduction.sources import RankedTable, Source

Means = dict[str, dict[str, float]]  # means by data set and column


def write_ranks(source: Source, folder: Path) -> Iterator[Path]:
    """Write ``ranks-<kind><metric>.csv``, ``.md`` and a figure for each ranked table of a source.

    folder: ``results/reference``. The files are written into `ranks_folder` of the ranked table, the figure
    below ``figures/`` there. A table is left out with fewer than two data sets that have numbers of all
    methods.
    """
    for ranked in source.ranked:
        table = known_tables()[ranked.table]
        stored = stored_means(table, ranked, folder)
        columns = _columns(table, ranked)
        whole = [name for name, row in stored.items() if all(column in row for column in columns)]
        if len(whole) < 2:
            continue
        home, name = folder / ranks_folder(ranked), f"ranks-{ranked.kind}{ranked.metric}"
        scores = np.array([[stored[name][column] for column in columns] for name in whole])
        lines = [(name, *row) for name, row in zip(whole, scores.tolist(), strict=True)]
        left_out = [name for name in stored if name not in whole]
        found, printed = _rankings(table, ranked, whole, scores, left_out)
        notes = "\n".join(f"- {note}" for note in ranked.notes)
        yield write_csv(home / f"{name}.csv", ("dataset", *columns), lines)
        yield write_file(home / f"{name}.md", f"{ranks_text(found, printed)}\n{notes}\n")
        yield draw_ranks(found, printed, home / "figures" / f"{name}.svg", ranked.fits)


def ranks_folder(ranked: RankedTable) -> str:
    """Return the folder of the ranks of a table, below ``results/reference``."""
    return Path(ranked.folders[0]).parent.as_posix()


def _columns(table: PublishedTable, ranked: RankedTable) -> list[str]:
    return [column for column in table.columns if ranked.columns is None or column in ranked.columns]


def stored_means(table: PublishedTable, ranked: RankedTable, folder: Path) -> Means:
    """Return the stored means by data set, in alphabetical order, and column.

    The first folder counts that has a data set, and there the first group of variants with numbers of it.
    Times of shorter grids than the paper's are left out.
    """
    found: Means = {}
    for part in ranked.folders:
        stored = read_csv(folder / part / "tables" / f"{table.name}.csv")
        rows = [row for row in stored if _counts(table, ranked, row)]
        for name in dict.fromkeys(row["dataset"] for row in rows):
            if name not in found:
                found[name] = _of_first_group([row for row in rows if row["dataset"] == name], ranked)
    return {name: means for name, means in sorted(found.items()) if means}


def _counts(table: PublishedTable, ranked: RankedTable, row: Mapping[str, str]) -> bool:
    if row["confml"] == "" or row["quantity"] not in _columns(table, ranked):
        return False
    return ranked.metric not in TIME_METRICS or int(row["points"]) == table.grid[row["quantity"]]


def _of_first_group(rows: Sequence[Mapping[str, str]], ranked: RankedTable) -> dict[str, float]:
    for variants in ranked.variants:
        means = {row["quantity"]: float(row["confml"]) for row in rows if row["variant"] in variants}
        if means:
            return means
    return {}


def _rankings(
    table: PublishedTable,
    ranked: RankedTable,
    datasets: Sequence[str],
    scores: np.ndarray,
    left_out: list[str],
) -> tuple[Ranking, PublishedRanks]:
    """Return the ranks of confml, and those of the paper's numbers on the same data sets."""
    higher = ranking_metric(ranked.metric).sign > 0
    columns = _columns(table, ranked)
    labels = [table.columns[column] for column in columns]
    points = [table.grid[column] for column in columns] if ranked.metric in TIME_METRICS else None
    outcome = compare_ranks(scores, higher)
    missing = f"Left out, because some results are missing: {', '.join(left_out)}." if left_out else ""
    found = Ranking(ranked.metric, labels, list(datasets), scores, outcome, points, missing)
    printed = {row["dataset"]: row for row in table.rows()}
    theirs = np.array([[float(printed[name][column]) for column in columns] for name in datasets])
    means = compare_ranks(theirs, higher).mean_ranks.tolist()
    return found, PublishedRanks(table.source, len(datasets), dict(zip(labels, means, strict=True)))


def draw_ranks(found: Ranking, printed: PublishedRanks, path: Path, fits: str = "") -> Path:
    """Draw the mean ranks of methods, the best above, and those of a paper's numbers; write an SVG file.

    A bar joins methods that do not differ by Nemenyi's test in the ranks of confml. fits: kind of the fits
    behind times, for the title.
    """
    outcome, k = found.comparison, len(found.labels)
    order = sorted(range(k), key=lambda place: (outcome.mean_ranks[place], place))
    groups = outcome.groups()
    step = 0.025 * k  # between the bars
    with style():
        figure = new_figure(5.2, 0.9 + 0.24 * k)
        axes = figure.subplots()
        for line, place in enumerate(order):
            ours, theirs = float(outcome.mean_ranks[place]), printed.mean_ranks[found.labels[place]]
            axes.plot([ours, theirs], [line, line], color=GREY, linewidth=0.6, zorder=1)
            (mine,) = axes.plot(ours, line, "o", color=BLUE, markersize=4, zorder=3)
            (paper,) = axes.plot(
                theirs, line, "*", color=BLACK, markerfacecolor="none", markersize=6, zorder=4
            )
            words = f"{ours:.2f} ({theirs:.2f})"
            axes.annotate(words, (k + 0.25, line), va="center", fontsize=7, annotation_clip=False)
        handles, labels = [mine, paper], ["confml", f"numbers of the paper, {printed.datasets} data sets"]
        for number, group in enumerate(groups):
            lines = sorted(order.index(place) for place in group.tolist())
            x = 0.9 - step * (number + 1)
            ends = [lines[0] - 0.25, lines[-1] + 0.25]
            (bar,) = axes.plot([x, x], ends, color=BLUE, linewidth=2.5, solid_capstyle="butt")
        if groups:
            handles.append(bar)
            words = (
                f"mean ranks of confml that differ by less than {outcome.critical_difference:.2f} (Nemenyi)"
            )
            labels.append(words)
        axes.set_xlim(0.9 - step * (len(groups) + 1), k + 0.15)
        axes.set_ylim(k - 0.5, -0.5)
        axes.set_xticks(range(1, k + 1))
        axes.set_yticks(range(k), [found.labels[place] for place in order])
        axes.set_xlabel("mean rank, 1 for the best")
        axes.set_title(
            ", ".join(filter(None, (found.heading, fits, f"{len(found.datasets)} data sets"))), loc="left"
        )
        axes.annotate("confml (paper)", (k + 0.25, -0.6), va="bottom", fontsize=7, annotation_clip=False)
        legend_below(figure, handles, labels)
        return write_svg(figure, path)
