"""Prediction regions: coverage, set size, and the shares of singleton, multiple and empty regions."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from confml.measures.case import Case
from confml.measures.measure import Measure, Row, ratio
from confml.measures.metric import (
    HIGHER,
    LEVEL,
    LOWER,
    OWN,
    PAGE,
    RESULTS,
    SHORT,
    Metric,
    share_per_level,
)

_SOURCE = "Vovk, Gammerman and Shafer 2005"

REASONS = ("atypical", "certain", "ambiguous")  # of a region with none, one, several labels


def reasons(region: np.ndarray) -> np.ndarray:
    """Return (n,) the reason of each row of a (n, c) region, one of `REASONS`."""
    return np.array(REASONS, dtype=object)[np.minimum(region.sum(axis=1), 2)]


def by_usual_level(levels: Iterable[float]) -> list[float]:
    """Return significance levels, the closest to 0.05 first: short tables and answers are at the first."""
    return sorted(map(float, levels), key=lambda level: (abs(level - 0.05), level))


def rows_needed(level: float) -> int | None:
    """Return the smallest n with 1/(n + 1) <= level, so that a p-value can exclude a label; None at level 0.

    A label is excluded when p <= level, and no p-value of n examples is smaller than 1/(n + 1).
    """
    if level <= 0:
        return None
    n = max(math.ceil(1 / level) - 2, 0)
    while 1 / (n + 1) > level:
        n += 1
    return n


def level_note(level: float) -> str | None:
    """Return a note for a level of 0.5 or more, which may be meant as a confidence; else None."""
    if level < 0.5:
        return None
    return (
        f"level {level!r} is a significance level: its regions may miss {100 * level:g} % of the "
        f"labels; did you mean level {1 - level:.10g}?"
    )


def smallest_p_notes(
    levels: Sequence[float],
    counted_rows: int | None = None,
    class_counts: Mapping | None = None,
    of: str = "",
    noun: str = "training row",
    group_counts: Mapping[str, int] | None = None,
) -> list[str]:
    """Return a note for each level below the smallest possible p-value, at which no label is excluded.

    P-values are counted among ``counted_rows`` training or calibration examples, label-conditional p-values
    among those of their class; pass ``class_counts`` (label -> rows) for those, and ``group_counts`` (name ->
    rows) for those of the groups of ``by``. Empty if every level can exclude labels. of, noun: the method,
    and one of the rows, for the sentences.
    """
    notes, of = [], f" of {of}" if of else ""
    for level in sorted(map(float, levels)):
        needed = rows_needed(level)
        needs = "no number of rows is enough" if needed is None else f"at least {needed} are needed"
        if counted_rows is not None and (needed is None or counted_rows < needed):
            notes.append(
                f"level {level!r} is below the smallest possible p-value{of}, 1/{counted_rows + 1}, and "
                f"cannot exclude any label: p-values are counted among {_count(counted_rows, noun)}, {needs}"
            )
        few = {name: n for name, n in (group_counts or {}).items() if needed is None or n < needed}
        if few:
            shown = ", ".join(f"{name} ({_count(few[name], noun)})" for name in list(few)[:_SHOWN])
            shown += ", ..." * (len(few) > _SHOWN)
            groups = "a group" if len(few) == 1 else f"{len(few)} groups"
            notes.append(
                f"level {level!r} is below the smallest possible p-value{of} in {groups} of by, and cannot "
                f"exclude any label there: {shown}; {needs} in each group"
            )
        low = [
            (label, n) for label, n in sorted((class_counts or {}).items()) if needed is None or n < needed
        ]
        if len(low) > _SHOWN:
            shown = ", ".join(f"{label} ({_count(n, noun)})" for label, n in low[:_SHOWN])
            notes.append(
                f"level {level!r} is below the smallest possible p-value{of} for {len(low)} classes, and "
                f"cannot exclude them: {shown}, ...; {needs} for each"
            )
            continue
        for label, rows in low:
            notes.append(
                f"level {level!r} is below the smallest possible p-value{of} for class {label}, "
                f"1/{rows + 1}, and cannot exclude it: its p-values are counted among "
                f"{_count(rows, noun)}, {needs}"
            )
    return notes


_SHOWN = 3  # classes that one note names


def _count(rows: int, noun: str) -> str:
    return f"{rows} {noun}" if rows == 1 else f"{rows} {noun}s"


def rows(case: Case) -> Iterator[Row]:
    """Yield the metrics of regions; the label of an absent class is in no region.

    ``correct_of_one_class`` is NaN if no region has exactly one label.
    """
    n = len(case.truth)
    for level in case.levels if case.prediction.has_regions else ():
        regions = case.regions(level)
        sizes, single = regions.sizes, regions.sizes == 1
        singles = int(np.count_nonzero(single))
        yield Row("coverage", level, ratio(int(np.count_nonzero(regions.covered)), n))
        yield Row("mean_region_size", level, ratio(int(sizes.sum()), n))
        yield Row("one_class", level, ratio(singles, n))
        yield Row("two_or_more", level, ratio(int(np.count_nonzero(sizes >= 2)), n))
        yield Row("no_class", level, ratio(int(np.count_nonzero(sizes == 0)), n))
        correct = int(np.count_nonzero(regions.covered & single))
        yield Row("correct_of_one_class", level, ratio(correct, singles))


MEASURE = Measure(
    metrics={
        "coverage": share_per_level(
            "share of regions that contain the true label; at least 1 - level if regions are valid",
            None,
            "#{i: y_i in G_i} / n",
            _SOURCE,
            tables=(SHORT, RESULTS, PAGE),
        ),
        "mean_region_size": Metric(
            "mean set size: number of labels in a region, 0 for empty regions (criterion N)",
            LOWER,
            "sum |G_i| / n",
            "Vovk et al. 2016",
            heading="set size",
            unit="labels",
            per=LEVEL,
            tables=(SHORT, RESULTS, PAGE),
        ),
        "one_class": share_per_level(
            "singleton rate: share of regions with exactly one label",
            HIGHER,
            "#{i: |G_i| = 1} / n",
            _SOURCE,
            heading="singleton rate",
            tables=(SHORT, RESULTS),
        ),
        "two_or_more": share_per_level(
            "share of regions with two or more labels (criterion M)",
            LOWER,
            "#{i: |G_i| > 1} / n",
            "Vovk et al. 2016",
            heading="multiple",
            tables=(RESULTS,),
        ),
        "no_class": share_per_level(
            "share of empty regions",
            None,
            "#{i: |G_i| = 0} / n",
            _SOURCE,
            heading="empty",
            tables=(RESULTS,),
        ),
        "correct_of_one_class": share_per_level(
            "singleton accuracy: share of the regions with exactly one label whose label is correct",
            HIGHER,
            "#{i: G_i = {y_i}} / #{i: |G_i| = 1}",
            OWN,
            heading="singleton accuracy",
            tables=(RESULTS,),
        ),
    },
    rows=rows,
)
