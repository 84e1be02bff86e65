"""Comparison of two methods on the same splits: ``confml compare RUN [RUN]``.

It computes differences of metrics with the test of `confml.report.answers.differences`, and over several
data sets the Bayesian signed-rank test (`confml.measures.ranks`).
"""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from confml.errors import ConfmlError
from confml.measures import known_metrics
from confml.measures.ranks import signed_rank
from confml.report.answers.comparisons import Comparisons, Line
from confml.report.answers.differences import Comparison, Kind, LossTable, SplitLosses, compare_lines
from confml.report.answers.losses import losses_of
from confml.report.answers.text import RULE, listed
from confml.report.files import remove_earlier, write_csv
from confml.report.run.results import RunResults, Variant
from confml.report.run.stored import open_run
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
    """Compare variants of one run with one of them (``against``, or the first), or equal ones of two runs.

    Each common view is compared. If two methods have no common view, each view of the first is compared with
    each view of the second. view: select pairs with this view. Raises ConfmlError if no results can be
    paired, because splits or data differ or the method or view is unknown.
    """
    opened = [open_run(run) for run in runs]
    of_rows = functools.partial(values_of_rows, thresholds=tuple(opened[0].config.thresholds))
    values: dict[str, dict[str, RowValues | None]] = {}
    for results in opened:
        for _ in results.collect(losses_of, of_rows):
            pass  # one pass for all numbers
        for of_variant in results.collected(of_rows):
            values |= of_variant
    labels = [results.label(cell) for results in opened for cell in results.cells if cell.key in values]
    views = [name for of_cell in values.values() for name in of_cell]
    for name, text, known in ((against, "is called", labels), (view, "has the view", views)):
        if name is not None and name not in known:
            raise ConfmlError(f"no finished method {text} '{name}'", near=(name, list(dict.fromkeys(known))))
    pairs = [pair for pair in pairs_of(opened, values, against) if view is None or view in pair.views]
    if not pairs:
        raise ConfmlError(
            "no two methods have finished the same splits",
            hint="compare a run with two methods, or two runs with the same methods, data sets and splits",
        )
    of_runs = Comparisons(list(zip(run_names(opened), opened, strict=True)))
    names = dict.fromkeys(pair.dataset for pair in pairs)
    found = {name: comparisons_of_metrics(of_runs, name, values) for name in names}
    return [row for pair in pairs for row in rows_of_pair(pair, found[pair.dataset])]


# ---- values of rows, and pairs


class RowValues(NamedTuple):
    """Values between 0 and 1 of the test rows of one view on one split, by metric and threshold.

    digest: of rows and true labels. shared: whether regions depend on common calibration rows.
    """

    digest: str
    shared: bool
    values: Mapping[Key, SplitLosses]


def values_of_rows(variant: Variant, thresholds: tuple[float, ...]) -> dict[str, dict[str, RowValues | None]]:
    """Return the values of the rows of each view by cell key and view; None with an undefined confidence."""
    found: dict[str, dict[str, RowValues | None]] = {}
    for cell, result in zip(losses_of(variant), variant.splits, strict=True):
        found[cell.cell.key] = dict.fromkeys(result.views)
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
            of_rows = {
                key: SplitLosses(result.rows, own.astype(np.float64), result.split_train_rows)
                for key, own in values.items()
            }
            found[cell.cell.key][view] = RowValues(cell.digest, prediction.kind == "p-value", of_rows)
    return found


Views = Mapping[str, RowValues | None]
"""Values of the rows of a cell by view."""


class Pair(NamedTuple):
    """Two views of methods on one data set. sides: the values of the rows of each on the common splits.

    names: of the methods, with the run if there are two. kind, online: as in `LossTable`.
    """

    dataset: str
    names: tuple[str, str]
    views: tuple[str, str]
    sides: tuple[dict[str, RowValues], dict[str, RowValues]]
    kind: Kind
    online: bool

    @property
    def lines(self) -> list[Line]:
        return [Line(self.dataset, *names) for names in zip(self.names, self.views, strict=True)]


def run_names(opened: Sequence[RunResults]) -> list[str]:
    """Return the names that distinguish the methods of two runs; "" of a single run."""
    names = [results.config.name for results in opened]
    if len(names) == 1:
        return [""]
    return [f"{names[0]} (first)", f"{names[0]} (second)"] if names[0] == names[1] else names


def pairs_of(
    opened: Sequence[RunResults],
    values: Mapping[str, Views],
    against: str | None,
) -> Iterator[Pair]:
    """Yield the pairs of each variant with the baseline of its run, or with the same one of the other run.

    Raises ConfmlError if two methods have different test examples on a split of one name.
    """
    of_runs: list[dict[tuple[str, str], dict[str, Views]]] = [{} for _ in opened]
    for results, methods in zip(opened, of_runs, strict=True):
        for cell in results.cells:
            if cell.key in results.results:
                methods.setdefault((cell.dataset, results.label(cell)), {})[cell.split] = values[cell.key]
    baseline = against or next((label for _, label in of_runs[0]), "")
    online, run_of = opened[0].config.protocol.kind == "online", run_names(opened)
    for (dataset, label), splits in of_runs[0].items():
        other = baseline if len(opened) == 1 else label
        others = of_runs[-1].get((dataset, other))
        if others is None or (label == other if len(opened) == 1 else against not in (None, label)):
            continue
        first, second = (", ".join(filter(None, name)) for name in ((label, run_of[0]), (other, run_of[-1])))
        sides_of: dict[tuple[str, str], tuple[dict[str, RowValues], dict[str, RowValues]]] = {}
        for split in [split for split in splits if split in others]:
            mine, yours = splits[split], others[split]
            views = [(name, name) for name in mine if mine[name] and name in yours]
            for of_pair in views or product(mine, yours):
                one, two = mine[of_pair[0]], yours[of_pair[1]]
                if one is None or two is None:
                    continue
                if one.digest != two.digest:
                    raise ConfmlError(
                        f"{dataset}, split {split}: {first} and {second} have different test examples",
                        hint="compare runs on the same splits of the same data",
                    )
                sides = sides_of.setdefault(of_pair, ({}, {}))
                sides[0][split], sides[1][split] = one, two
        kind: Kind = "groups" if opened[0].has_groups(dataset) else "rows"
        for of_pair, sides in sides_of.items():
            yield Pair(dataset, (first, second), of_pair, sides, kind, online)


# ---- tests


def comparisons_of_metrics(
    comparisons: Comparisons, dataset: str, values: Mapping[str, Views]
) -> dict[Key, Comparison]:
    """Return the comparisons of all lines of a data set by each metric and threshold, on common splits.

    Empty while cells are still to be computed. Lines with an undefined confidence are compared by error only.
    """
    errors = comparisons.comparison(dataset)
    if errors is None:
        return {}
    found: dict[Key, Comparison] = {("error", None): errors}
    rows: dict[Line, list[RowValues]] = {}
    for line in errors.lines:
        cells = [comparisons.metrics[line][split].cell for split in errors.splits]
        of_line = [one for cell in cells if (one := values[cell.key][line.view]) is not None]
        if len(of_line) == len(cells):
            rows[line] = of_line
    if len(rows) < 2:
        return found
    kind, online = comparisons.kind_of(errors.lines[0])
    shared = np.array([of_line[0].shared for of_line in rows.values()])
    for key in next(iter(rows.values()))[0].values:
        if key == ("error", None):
            continue
        sign = -known_metrics()[key[0]].sign
        losses = [
            [one.values[key]._replace(values=sign * one.values[key].values) for one in of_line]
            for of_line in rows.values()
        ]
        table = LossTable(losses, kind, online, 1.0)
        p_values = table.p_values()
        if shared.any():
            of_regions = LossTable(losses, "regions", online, 1.0).p_values()
            p_values = np.where(shared[:, None] | shared, of_regions, p_values)
        found[key] = compare_lines(table, list(rows), p_values=p_values)
    return found


def rows_of_pair(pair: Pair, comparisons: Mapping[Key, Comparison]) -> list[ComparisonRow]:
    """Return the comparisons of one pair of methods, one row per metric and threshold.

    comparisons: of all lines of the data set, for the verdicts; lines that are among them are compared on
    their common splits.
    """
    lines, sides = pair.lines, pair.sides
    errors = comparisons.get(("error", None))
    if errors is not None and all(line in errors.lines for line in lines):
        names = [name for name, _ in errors.splits]
        first, second = ({name: side[name] for name in side if name in names} for side in sides)
        sides = first, second
    shared = any(one.shared for side in sides for one in side.values())
    rows = []
    for metric, level in next(iter(sides[0].values())).values:
        losses = [[one.values[metric, level] for one in side.values()] for side in sides]
        kind: Kind = "regions" if shared and level is not None else pair.kind
        table = LossTable(losses, kind, pair.online, 1.0)
        difference = table.pair(0, 1)
        if difference is None:
            continue
        defined = ~np.isnan(table.split_means).any(axis=0)
        mean_first, mean_second = table.split_means[:, defined].mean(axis=1).tolist()
        view = pair.views[0] if pair.views[0] == pair.views[1] else " - ".join(pair.views)
        row = ComparisonRow(
            *(pair.dataset, view, *pair.names, metric, level, difference.splits, mean_first, mean_second),
            *(difference.difference, *difference.interval(), difference.p_value),
        )
        comparison = comparisons.get((metric, level))
        number = comparison.pairs_of(*lines) if comparison is not None else 0
        if comparison is not None and number:
            low, high = difference.interval(number)
            row = row._replace(
                pairs=number,
                simultaneous_low=low,
                simultaneous_high=high,
                p_holm=comparison.p_value(*lines),
                first_worse=comparison.worse(lines[0]),
                second_worse=comparison.worse(lines[1]),
            )
        rows.append(row)
    return rows


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

    def p_text(p_value: float) -> str:
        return "" if math.isnan(p_value) else f"{p_value:.3f}" if p_value >= 5e-4 else "<0.001"

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
