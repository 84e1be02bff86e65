"""Comparison of two methods on the same splits: ``confml compare RUN [RUN]``.

It computes differences of metrics with the test of `confml.report.answers.differences`, and over several
data sets the Bayesian signed-rank test (`confml.measures.ranks`).
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from confml.errors import ConfmlError
from confml.measures import known_metrics
from confml.measures.ranks import signed_rank
from confml.report.answers.differences import SIGNIFICANCE, best_of
from confml.report.answers.evidence import evidence_of
from confml.report.answers.standings import Family, Line, Standings
from confml.report.answers.text import RULE, listed
from confml.report.files import remove_earlier, write_csv
from confml.report.forms.grid import Grid, named_once
from confml.report.method_pairs import (
    Asked,
    Pair,
    RowValues,
    ViewRows,
    Views,
    loss_table,
    pairs_of,
    run_names,
    variants_of,
)
from confml.report.run.stored import open_run

Families = dict[Asked, Family]


class ComparisonRow(NamedTuple):
    """One metric: both means, mean difference first - second, its interval and two-sided p-value.

    pairs: number of pairs of lines (method, view) of the data set that are tested by the metric, or of their
    comparisons with the baseline; 0 without verdicts. simultaneous_low, simultaneous_high: interval for this
    number of pairs. p_holm: p-value after Holm's correction over all pairs. first_worse, second_worse:
    whether the method is shown to be worse than the best line of the data set.
    """

    dataset: str
    view: str
    first: str
    second: str
    metric: str
    level: float | None
    splits: int
    mean_first: float
    mean_second: float
    difference: float
    low: float
    high: float
    p_value: float
    pairs: int = 0
    simultaneous_low: float = math.nan
    simultaneous_high: float = math.nan
    p_holm: float = math.nan
    first_worse: bool = False
    second_worse: bool = False


def compare(
    runs: Sequence[Path | str], against: str | None = None, view: str | None = None
) -> list[ComparisonRow]:
    """Compare variants of one run with one of them (``against``, or the first), or equal ones of two runs.

    Each common view is compared. If two methods have no common view, each view of the first is compared with
    each view of the second. view: select pairs with this view. Raises ConfmlError if no results can be
    paired, because splits or data differ or the method or view is unknown.
    """
    opened = [open_run(run) for run in runs]
    row_values = RowValues(tuple(opened[0].config.thresholds))
    values: dict[str, dict[str, ViewRows | None]] = {}
    for results in opened:
        for _ in results.collect(evidence_of, row_values):
            pass  # one pass for all numbers
        for of_variant in results.collected(row_values):
            values |= of_variant
    variants = [variants_of(results, values) for results in opened]
    labels = list(dict.fromkeys(label for found in variants for _, label in found))
    views = list(dict.fromkeys(name for own in values.values() for name in own))
    for name, what, known in ((against, "is called", labels), (view, "has the view", views)):
        if name is not None and name not in known:
            raise ConfmlError(f"no finished method {what} '{name}'", near=(name, known))
    pairs = list(pairs_of(opened, variants, against, view))
    if not pairs:
        raise ConfmlError(
            "no two methods have finished the same splits",
            hint="compare a run with two methods, or two runs with the same methods, data sets and splits",
        )
    standings = Standings(list(zip(run_names(opened), opened, strict=True)))
    names = list(dict.fromkeys(pair.dataset for pair in pairs))
    found = {name: families(standings, name, values) for name in names}
    pairs = [_on_common_splits(pair, found[pair.dataset]) for pair in pairs]
    return [row for pair in pairs for row in rows_of_pair(pair, found[pair.dataset])]


def _on_common_splits(pair: Pair, found: Families) -> Pair:
    """Return a pair of lines of a family with the family's splits only."""
    errors = found.get(("error", None))
    if errors is None or any(line not in errors.lines for line in pair.lines):
        return pair
    return pair.on([name for name, _ in errors.splits])


# ---- verdicts


def families(standings: Standings, dataset: str, values: Mapping[str, Views]) -> Families:
    """Return the comparisons of all lines of a data set by each metric and threshold, on common splits.

    Empty while cells are still to be computed. Lines with an undefined confidence are compared by error only.
    """
    errors = standings.family(dataset)
    if errors is None:
        return {}
    found: Families = {("error", None): errors}
    rows: dict[Line, list[ViewRows]] = {}
    for line in errors.lines:
        own = [values[standings.cell(line, split).key][line.view] for split in errors.splits]
        if all(own):
            rows[line] = [one for one in own if one is not None]
    lines, online = list(rows), standings.kind_of(errors.lines[0])[1]
    kind = standings.kind_of(errors.lines[0])[0]
    shared = np.array([own[0].shared for own in rows.values()])
    for metric, level in rows[lines[0]][0].values if len(lines) > 1 else ():
        if metric == "error":
            continue
        sign = -known_metrics()[metric].sign
        losses = [[sign * one.values[metric, level] for one in own] for own in rows.values()]
        table = loss_table(list(rows.values()), losses, kind, online)
        p_values = table.p_values()
        if level is not None and shared.any():
            both = shared[:, None] | shared
            of_regions = loss_table(list(rows.values()), losses, "regions", online).p_values()
            p_values = np.where(both, of_regions, p_values)
        found[metric, level] = Family(lines, best_of(table, p_values), {}, errors.splits, errors.rows)
    return found


def rows_of_pair(pair: Pair, families: Families | None = None) -> list[ComparisonRow]:
    """Return the comparisons of one pair of methods, one row per metric and level.

    families: of the pair's data set, for the verdicts.
    """
    sides = [list(side.values()) for side in pair.sides]
    shared = any(one.shared for side in sides for one in side)
    rows = []
    for metric, level in sides[0][0].values:
        values = [[one.values[metric, level] for one in side] for side in sides]
        table = pair.table(values, regions=shared and level is not None)
        found = table.pair(0, 1)
        if found is None:
            continue
        means = table.split_means[:, ~np.isnan(table.split_means).any(axis=0)].mean(axis=1).tolist()
        outcome = (found.difference, *found.interval(), found.p_value)
        row = ComparisonRow._make((*pair[:4], metric, level, found.splits, *means, *outcome, *NO_VERDICTS))
        family, lines = (families or {}).get((metric, level)), pair.lines
        if family is not None and all(line in family.lines for line in lines):
            pairs = family.found.pairs
            verdicts = (*found.interval(pairs), family.corrected(*lines), *map(family.worse, lines))
            row = ComparisonRow._make((*row[:13], pairs, *verdicts))
        elif family is not None and (p_value := family.against_baseline(*lines)) is not None:
            pairs = len(family.lines) * len(family.baselines)
            worse = [line in family.baselines and p_value < SIGNIFICANCE for line in lines]
            row = ComparisonRow._make((*row[:13], pairs, *found.interval(pairs), p_value, *worse))
        rows.append(row)
    return rows


# ---- over data sets


NO_VERDICTS = (0, math.nan, math.nan, math.nan, False, False)
"""Last columns of a `ComparisonRow` without a family of lines."""


class SignedRankRow(NamedTuple):
    """Bayesian signed-rank test of one metric over data sets: posterior probabilities that add up to 1.

    first_better, equivalent, second_better: by the better direction of the metric; mean differences within
    ``rope`` of 0 are equivalent.
    """

    view: str
    first: str
    second: str
    metric: str
    level: float | None
    datasets: int
    rope: float
    first_better: float
    equivalent: float
    second_better: float


def signed_rank_rows(rows: Sequence[ComparisonRow], rope: float) -> list[SignedRankRow]:
    """Return the Bayesian signed-rank tests of mean differences over data sets.

    Each data set is one case; comparisons on fewer than two data sets are omitted, and so are metrics without
    a better direction.
    """
    groups: dict[tuple, list[float]] = {}
    for row in rows:
        key = (row.view, row.first, row.second, row.metric, row.level)
        groups.setdefault(key, []).append(row.difference)
    found = []
    for key, differences in groups.items():
        metric = known_metrics()[key[3]]
        if len(differences) < 2 or metric.direction is None:
            continue
        test = signed_rank(differences, rope)
        sides = (test.first_larger, test.equivalent, test.second_larger)
        better = sides if metric.sign > 0 else sides[::-1]
        found.append(SignedRankRow(*key, len(differences), rope, *better))
    return found


def signed_rank_grid(rows: Sequence[SignedRankRow]) -> Grid:
    """Return the table of signed-rank tests, in per cent."""
    headings = ["compared", "view", "metric", "level", "data sets", "first better", "equivalent"]
    table = []
    for row in rows:
        level = "" if row.level is None else f"{row.level!r}"
        sides = (f"{100 * side:.1f}" for side in row[-3:])
        table.append([f"{row.first} - {row.second}", row.view, row.metric, level, str(row.datasets), *sides])
    title = f"Bayesian signed-rank test over data sets, equivalent within {rows[0].rope:g} (probability, %)"
    return Grid(title, [*headings, "second better"], list(named_once(table, 2)), 3)


# ---- tables and files


def comparison_grid(rows: Sequence[ComparisonRow]) -> Grid:
    """Return the table of the comparisons; ``better`` is the declared direction of the metric.

    A star marks means that are shown to be worse than the best one of the data set.
    """
    headings = ["data set", "view", "compared", "metric", "better", "level", "first", "second", "difference"]
    headings += ["95 % interval", "p (Holm)", "splits"]
    table: list[list[str]] = []
    for row in rows:
        keys = (row.dataset, row.view, f"{row.first} - {row.second}")
        low, high = row.simultaneous_low, row.simultaneous_high
        interval = "" if math.isnan(low) else f"{low:+.4f} to {high:+.4f}"
        stars = ["*" * worse for worse in (row.first_worse, row.second_worse)]
        numbers = [
            f"{row.mean_first:.4f}{stars[0]}",
            f"{row.mean_second:.4f}{stars[1]}",
            f"{row.difference:+.4f}",
        ]
        p_value = "" if math.isnan(row.p_holm) else f"{row.p_holm:.3f}" if row.p_holm >= 5e-4 else "<0.001"
        level = "" if row.level is None else f"{row.level!r}"
        better = known_metrics()[row.metric].direction or ""
        cells = [row.metric, better, level, *numbers, interval, p_value, str(row.splits)]
        table.append([*keys, *cells])
    table = list(named_once(table, 3))
    return Grid(
        "Comparison of methods: first minus second, means over splits", headings, table, 5, _notes(rows)
    )


def pair_blocks(headings: Sequence[str], table: Sequence[Sequence[str]]) -> dict[str, list[list[str]]]:
    """Return the rows of a table of comparisons for each pair, whose title has its methods and view.

    table: as of `comparison_grid` or `signed_rank_grid`. The first row of a block has the headings; a row
    begins with the metric and its level.
    """
    n_keys, level = headings.index("metric"), headings.index("level")
    left_out = ("better", "splits", "level", "metric")
    at = [place for place, name in enumerate(headings) if place > n_keys and name not in left_out]
    blocks: dict[str, list[list[str]]] = {}
    keys: Sequence[str] = ()
    for row in table:
        if any(row[:n_keys]):
            first = next(place for place, name in enumerate(row) if name)
            keys = [*keys[:first], *row[first:n_keys]]
        named = dict(zip(headings, keys, strict=False))
        view = f" ({named['view']})" if named["view"] else ""
        dataset = f"{named['data set']}: " if "data set" in named else ""
        block = blocks.setdefault(
            f"{dataset}{named['compared']}{view}", [["metric", *(headings[place] for place in at)]]
        )
        metric = row[n_keys] + (f" at {row[level]}" if row[level] else "")
        block.append([metric, *(row[place] for place in at)])
    return blocks


def _notes(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return which pairs the intervals and p-values of each data set account for, and what a star is."""
    pairs: dict[int, list[str]] = {}
    for row in rows:
        if row.metric == "error" and row.dataset not in pairs.setdefault(row.pairs, []):
            pairs[row.pairs].append(row.dataset)
    notes = [f"*: shown to be worse than the best mean of the data set ({RULE} of methods and views)."]
    for number, names in sorted(pairs.items()):
        notes.append(
            f"{listed(names)}: intervals are simultaneous for {number} pairs."
            if number > 1
            else f"{listed(names)}: one pair."
            if number
            else f"{listed(names)}: no tests (cells are still to be computed, or the splits differ)."
        )
    return notes


def write_comparison(
    rows: Sequence[ComparisonRow], folder: Path, tests: Sequence[SignedRankRow] = ()
) -> list[Path]:
    """Write ``comparisons.csv``, and with tests over several data sets ``signed-rank.csv``."""
    paths = [write_csv(folder / "comparisons.csv", ComparisonRow._fields, rows)]
    if tests:
        paths.append(write_csv(folder / "signed-rank.csv", SignedRankRow._fields, tests))
    remove_earlier(folder, ["signed-rank.csv"], paths)
    return paths
