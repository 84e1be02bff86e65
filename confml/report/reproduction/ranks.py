"""`write_ranks`: mean ranks of methods over the data sets of a stored published table."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from confml.measures.ranks import compare_ranks
from confml.report.declared import ranking_metric
from confml.report.files import write_csv, write_file
from confml.report.published import PublishedTable, known_tables
from confml.report.reproduction.sources import RankedTable, Source
from confml.report.sections.ranks import PublishedRanks, Ranking, ranks_text
from confml.report.summaries import TIME_METRICS

Means = dict[str, dict[str, float]]  # means by data set and column


def write_ranks(source: Source, folder: Path) -> Iterator[Path]:
    """Write ``ranks-<metric>.csv`` and ``.md`` for each ranked table of a source.

    folder: ``results/reference``. The files stand above the folders of the table. A table is left out if it
    has all numbers of fewer than two data sets.
    """
    for ranked in source.ranked:
        table = known_tables()[ranked.table]
        stored = stored_means(table, ranked, folder)
        columns = [name for name in table.columns if any(name in row for row in stored.values())]
        whole = [name for name, row in stored.items() if all(column in row for column in columns)]
        if len(whole) < 2:
            continue
        stem = folder / Path(ranked.folders[0]).parent / f"ranks-{ranked.metric}"
        scores = np.array([[stored[name][column] for column in columns] for name in whole])
        lines = [(name, *row) for name, row in zip(whole, scores.tolist(), strict=True)]
        yield write_csv(stem.with_suffix(".csv"), ("dataset", *columns), lines)
        yield write_file(stem.with_suffix(".md"), _text(table, ranked, columns, whole, scores))


def stored_means(table: PublishedTable, ranked: RankedTable, folder: Path) -> Means:
    """Return the stored means by data set and column: of the first folder and the first variant with them."""
    found: dict[tuple[str, str], tuple[int, float]] = {}
    for part in ranked.folders:
        path = folder / part / "tables" / f"{table.name}.csv"
        if not path.is_file():
            continue
        before = set(found)
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                key = row["dataset"], row["quantity"]
                if row["confml"] == "" or row["variant"] not in ranked.variants or key in before:
                    continue
                place = ranked.variants.index(row["variant"])
                if key not in found or place < found[key][0]:
                    found[key] = place, float(row["confml"])
    return _by_data_set({key: value for key, (_, value) in found.items()})


def _by_data_set(values: Mapping[tuple[str, str], float]) -> Means:
    means: Means = {}
    for (name, column), value in sorted(values.items()):
        means.setdefault(name, {})[column] = value
    return means


def _text(table: PublishedTable, ranked: RankedTable, columns, datasets, scores: np.ndarray) -> str:
    higher = ranking_metric(ranked.metric).sign > 0
    labels = [table.columns[column] for column in columns]
    points = [table.grid[column] for column in columns] if ranked.metric in TIME_METRICS else None
    found = Ranking(ranked.metric, labels, datasets, scores, compare_ranks(scores, higher), [], points)
    printed = {row["dataset"]: row for row in table.rows()}
    theirs = np.array([[float(printed[name][column]) for column in columns] for name in datasets])
    means = compare_ranks(theirs, higher).mean_ranks.tolist()
    by_paper = PublishedRanks(table.source, len(datasets), dict(zip(labels, means, strict=True)))
    return ranks_text(found, by_paper) + "\n" + "\n".join(f"- {note}" for note in ranked.notes) + "\n"
