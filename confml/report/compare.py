"""Comparison of methods of runs on the same splits: ``confml compare RUN ...``.

It computes differences of metrics with the test of `confml.report.answers.differences`, and over several
data sets the Bayesian signed-rank test (`confml.measures.ranks`).
"""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from confml.errors import ConfmlError
from confml.measures import known_metrics
from confml.measures.ranks import signed_rank
from confml.report.answers.comparisons import Comparisons, Line, Split
from confml.report.answers.differences import Comparison, Kind, LossTable, SplitLosses, compare_lines
from confml.report.answers.losses import losses_of
from confml.report.answers.text import RULE, listed, p_text
from confml.report.files import remove_earlier, write_csv
from confml.report.run.results import Variant
from confml.report.run.stored import open_run, run_names
from confml.report.shown_table import ShownTable

Key = tuple[str, float | None]
"""Metric and threshold."""


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
    """Compare variants of one run with one of them (``against``, or the first), or equal ones of runs.

    Each common view is compared. If two methods have no common view, each view of the first is compared with
    each view of the second. against: the label of a method, or a beginning that one label alone has. view:
    select pairs with this view. Raises ConfmlError if no results can be paired, because splits or data differ
    or the method or view is unknown; an unknown method before results are read.
    """
    opened = [open_run(run) for run in runs]
    if against is not None:
        against = _full_label(against, list(dict.fromkeys(r.label(cell) for r in opened for cell in r.cells)))
    acceptance = functools.partial(acceptance_of, thresholds=tuple(opened[0].config.thresholds))
    losses: dict[tuple[str, str], RowLosses] = {}
    for run in opened:
        for _ in run.collect(losses_of, acceptance):
            pass  # one pass for all numbers
        for of_variant in run.collected(acceptance):
            losses |= of_variant
    names = run_names(list(map(Path, runs)), [run.config.name for run in opened]) if len(runs) > 1 else [""]
    comparisons = Comparisons(list(zip(names, opened, strict=True)))
    views = list(dict.fromkeys(line.view for line in comparisons.lines))
    if view is not None and view not in views:
        raise ConfmlError(f"no finished method has the view '{view}'", near=(view, views))
    pairs = [pair for pair in pairs_of(comparisons, against) if view in (None, *(line.view for line in pair))]
    datasets = dict.fromkeys(first.dataset for first, _ in pairs)
    of_lines = {
        line: {
            split: losses[key]
            for split, cell in cells.items()
            if (key := (cell.cell.key, line.view)) in losses
        }
        for line, cells in comparisons.losses.items()
    }
    tests = {name: comparisons_by_metric(comparisons, name, of_lines) for name in datasets}
    rows = [
        row for pair in pairs for row in rows_of_pair(comparisons, pair, of_lines, tests[pair[0].dataset])
    ]
    if not rows:
        raise ConfmlError(
            "no two methods have finished the same splits",
            hint="compare a run with two methods, or runs with the same methods, data sets and splits",
        )
    return rows


def _full_label(beginning: str, labels: Sequence[str]) -> str:
    """Return the label that is ``beginning``, or the only one that begins with it."""
    matches = [label for label in labels if label.startswith(beginning)]
    if beginning in labels or len(matches) == 1:
        return beginning if beginning in labels else matches[0]
    if matches:
        raise ConfmlError(
            f"several methods begin with '{beginning}'", hint=f"choose from {', '.join(matches)}"
        )
    raise ConfmlError(f"no method is called '{beginning}'", near=(beginning, labels))


# ---- losses of rows, and pairs


class RowLosses(NamedTuple):
    """Losses between 0 and 1 of a view on one split by metric and threshold, -1 to 0 where higher is better.

    shared: whether regions depend on common calibration rows.
    """

    shared: bool
    losses: Mapping[Key, SplitLosses]


def acceptance_of(variant: Variant, thresholds: tuple[float, ...]) -> dict[tuple[str, str], RowLosses]:
    """Return the losses of the views of a variant by cell key and view, without undefined confidences."""
    losses_of_views = {}
    for result in variant.splits:
        for view, prediction in result.views.items():
            if not len(prediction) or np.isnan(prediction.certainty).any():
                continue
            correct = prediction.labels == result.truth
            values: dict[Key, np.ndarray] = {("error", None): ~correct}
            for threshold in thresholds:
                sure = prediction.accepted(threshold)
                values["sure_correct", threshold] = sure & correct
                values["unsure", threshold] = ~sure
                values["sure_incorrect", threshold] = sure & ~correct
            losses = {
                key: SplitLosses(
                    result.rows, -known_metrics()[key[0]].sign * of_rows, result.split_train_rows
                )
                for key, of_rows in values.items()
            }
            losses_of_views[result.cell.key, view] = RowLosses(prediction.kind == "p-value", losses)
    return losses_of_views


def pairs_of(comparisons: Comparisons, against: str | None = None) -> Iterator[tuple[Line, Line]]:
    """Yield the lines of each variant with those of the method ``against`` (the first one by default) of the
    same run, or with those of the same variant in each later run."""
    lines, runs = comparisons.in_config_order(), list(comparisons.runs)
    methods = {line: comparisons.method(line) for line in lines}
    if len(runs) == 1 and lines:
        against = against or methods[lines[0]]
    views: dict[tuple[str, str], set[str]] = {}
    for line in lines:
        views.setdefault(line[:2], set()).add(line.view)
    for first, second in ((a, b) for a in lines for b in lines if a.dataset == b.dataset):
        if len(runs) == 1:
            is_pair = methods[first] != against and methods[second] == against
        else:
            positions = [runs.index(comparisons.run_of[line]) for line in (first, second)]
            is_pair = positions[0] < positions[1] and methods[first] == methods[second]
            is_pair = is_pair and against in (None, methods[first])
        if is_pair and (first.view == second.view or views[first[:2]].isdisjoint(views[second[:2]])):
            yield first, second


# ---- tests

OfLines = Mapping[Line, Mapping[Split, RowLosses]]
"""Losses of each line on its splits."""


def comparisons_by_metric(comparisons: Comparisons, dataset: str, of_lines: OfLines) -> dict[Key, Comparison]:
    """Return the comparisons of all lines of a data set by each metric and threshold, on common splits.

    Empty while cells are still to be computed. Lines with an undefined confidence are compared by error only.
    """
    errors = comparisons.comparison(dataset)
    if errors is None:
        return {}
    by_metric: dict[Key, Comparison] = {("error", None): errors}
    lines = [line for line in errors.lines if {*errors.splits} <= {*of_lines[line]}]
    cells = [[of_lines[line][split] for split in errors.splits] for line in lines]
    if len(lines) < 2:
        return by_metric
    kind, online = comparisons.kind_of(lines[0])
    shared = np.array([of_line[0].shared for of_line in cells])
    for key in cells[0][0].losses.keys() - by_metric:
        losses = [[split.losses[key] for split in of_line] for of_line in cells]
        table = LossTable(losses, kind, online, 1.0)
        of_regions = LossTable(losses, "regions", online, 1.0).p_values()
        p_values = np.where(shared[:, None] | shared, of_regions, table.p_values())
        by_metric[key] = compare_lines(table, lines, p_values=p_values)
    return by_metric


def rows_of_pair(
    comparisons: Comparisons,
    pair: tuple[Line, Line],
    of_lines: OfLines,
    by_metric: Mapping[Key, Comparison],
) -> Iterator[ComparisonRow]:
    """Yield the comparisons of two lines on their common splits, one row per metric and threshold.

    by_metric: the comparisons of all lines of the data set, for the verdicts; lines that are among them are
    compared on their common splits. Raises ConfmlError if the test examples of a split differ.
    """
    first, second = pair
    digests = [dict(of_lines[line].keys()) for line in pair]
    for split in digests[0]:
        if split in digests[1] and digests[0][split] != digests[1][split]:
            names = f"{first.method} and {second.method}"
            raise ConfmlError(
                f"{first.dataset}, split {split}: {names} have different test examples",
                hint="compare runs on the same splits of the same data",
            )
    errors = by_metric.get(("error", None))
    splits = [split for split in of_lines[first] if split in of_lines[second]]
    if errors is not None and first in errors.lines and second in errors.lines:
        splits = [split for split in splits if split in errors.splits]
    sides = [[of_lines[line][split] for split in splits] for line in pair]
    shared = any(split.shared for side in sides for split in side)
    of_rows, online = comparisons.kind_of(first)
    for metric, level in sides[0][0].losses if splits else ():
        losses = [[split.losses[metric, level] for split in side] for side in sides]
        kind: Kind = "regions" if shared and level is not None else of_rows
        table = LossTable(losses, kind, online, 1.0)
        gap = table.pair(0, 1) if known_metrics()[metric].sign < 0 else table.pair(1, 0)
        means = np.abs(table.split_means.mean(axis=1)).tolist()
        view = " - ".join(dict.fromkeys(line.view for line in pair))
        values = (gap.splits, *means, gap.difference, *gap.interval(), gap.p_value)
        row = ComparisonRow(first.dataset, view, first.method, second.method, metric, level, *values)
        comparison = by_metric.get((metric, level))
        if comparison is not None and (number := comparison.pairs_of(*pair)):
            p_value, worse = comparison.p_value(*pair), list(map(comparison.worse, pair))
            row = row._replace(pairs=number, p_holm=p_value, first_worse=worse[0], second_worse=worse[1])
            low, high = gap.interval(number)
            row = row._replace(simultaneous_low=low, simultaneous_high=high)
        yield row


# ---- over data sets


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
    tests = []
    for key, differences in groups.items():
        metric = known_metrics()[key[3]]
        if len(differences) < 2 or metric.direction is None:
            continue
        test = signed_rank(differences, rope)
        sides = (test.first_larger, test.equivalent, test.second_larger)
        better = sides if metric.sign > 0 else sides[::-1]
        tests.append(SignedRankRow(*key, len(differences), rope, *better))
    return tests


def signed_rank_table(rows: Sequence[SignedRankRow]) -> ShownTable:
    """Return the table of signed-rank tests, in per cent."""
    frame = pd.DataFrame(
        {
            "compared": [f"{row.first} - {row.second}" for row in rows],
            "view": [row.view for row in rows],
            "metric": [row.metric for row in rows],
            "level": [_level_text(row.level) for row in rows],
            "data sets": [str(row.datasets) for row in rows],
            "first better": [f"{100 * row.first_better:.1f}" for row in rows],
            "equivalent": [f"{100 * row.equivalent:.1f}" for row in rows],
            "second better": [f"{100 * row.second_better:.1f}" for row in rows],
        }
    )
    title = f"Bayesian signed-rank test over data sets, equivalent within {rows[0].rope:g} (probability, %)"
    return ShownTable(title, frame, keys=2)


# ---- tables and files


def comparison_table(rows: Sequence[ComparisonRow]) -> ShownTable:
    """Return the table of the comparisons; ``better`` is the declared direction of the metric.

    A star marks means that are shown to be worse than the best one of the data set.
    """

    def interval(row: ComparisonRow) -> str:
        low, high = row.simultaneous_low, row.simultaneous_high
        return "" if math.isnan(low) else f"{low:+.4f} to {high:+.4f}"

    frame = pd.DataFrame(
        {
            "data set": [row.dataset for row in rows],
            "view": [row.view for row in rows],
            "compared": [f"{row.first} - {row.second}" for row in rows],
            "metric": [row.metric for row in rows],
            "better": [known_metrics()[row.metric].direction or "" for row in rows],
            "level": [_level_text(row.level) for row in rows],
            "first": [f"{row.mean_first:.4f}{' *' * row.first_worse}" for row in rows],
            "second": [f"{row.mean_second:.4f}{' *' * row.second_worse}" for row in rows],
            "difference": [f"{row.difference:+.4f}" for row in rows],
            "95 % interval": [interval(row) for row in rows],
            "p (Holm)": [p_text(row.p_holm) for row in rows],
            "splits": [str(row.splits) for row in rows],
        }
    )
    return ShownTable(
        "Comparison of methods: first minus second, means over splits", frame, _notes(rows), keys=3
    )


def _level_text(level: float | None) -> str:
    return "" if level is None else f"{level!r}"


def tables_of_pairs(table: ShownTable) -> Iterator[ShownTable]:
    """Yield a narrow table for each pair of a `comparison_table` or `signed_rank_table`."""
    keys = ["data set", "compared", "view"] if "data set" in table.headings else ["compared", "view"]
    for names, of_pair in table.frame.groupby(keys, sort=False):
        *method, view = map(str, names)
        metric = of_pair["metric"] + (" at " + of_pair["level"]).where(of_pair["level"] != "", "")
        frame = of_pair.drop(columns=[*keys, "metric", "level", "better", "splits"], errors="ignore")
        frame.insert(0, "metric", metric)
        yield ShownTable(f"{': '.join(method)} ({view})", frame.reset_index(drop=True))


def _notes(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return which pairs the intervals and p-values of each data set account for, and what a star is."""
    numbers: dict[str, dict[int, None]] = {}  # of the pairs of methods, and of comparisons with the baseline
    for row in rows:
        if row.metric == "error":
            numbers.setdefault(row.dataset, {})[row.pairs] = None
    datasets: dict[tuple[int, ...], list[str]] = {}
    for name, of_dataset in numbers.items():
        datasets.setdefault(tuple(of_dataset), []).append(name)
    notes = [f"*: shown to be worse than the best mean of the data set ({RULE} of methods and views)."]
    for pairs, names in sorted(datasets.items()):
        notes.append(
            f"{listed(names)}: intervals are simultaneous for {' or '.join(map(str, pairs))} pairs."
            if max(pairs) > 1
            else f"{listed(names)}: one pair."
            if max(pairs)
            else f"{listed(names)}: no tests (fits are still to be computed, or the splits differ)."
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
