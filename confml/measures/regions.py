"""Prediction regions: coverage, set size, and the shares of singleton, multiple and empty regions."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
    """Return a note for a level above 0.5, which may be meant as a confidence; else None."""
    if level <= 0.5:
        return None
    return (
        f"level {level!r} is a significance level: its regions may miss {100 * level:g} % of the "
        f"labels; did you mean level {1 - level:.10g}?"
    )


def smallest_p_notes(
    levels: Iterable[float],
    counts: Mapping[Any, int],
    kind: str = "",
    of: str = "",
    noun: str = "training row",
) -> list[str]:
    """Return a note for each level below the smallest possible p-value, at which no label is excluded.

    counts: number of training or calibration rows that p-values are computed from, by class or group; one
    number for all rows without ``kind``. kind: noun of the classes or groups. of, noun: the method, and one
    of the rows, for the sentences.
    """
    notes, labels = [], {"": "any label", "classes": "these classes"}.get(kind, "any label there")
    for level in sorted(map(float, levels)):
        needed = rows_needed(level)
        few = {name: _count(n, noun) for name, n in counts.items() if needed is None or n < needed}
        if not few:
            continue
        shown = list(few.values())
        where = f", 1/{next(iter(counts.values())) + 1},"
        if kind:
            where = f" in {len(few)} of {len(counts)} {kind}"
            shown = [f"{name} ({few[name]})" for name in sorted(few)]
        notes.append(
            f"level {level!r} is below the smallest possible p-value{f' of {of}' if of else ''}{where} and "
            f"cannot exclude {labels}: "
            f"{', '.join(shown[:_SHOWN])}{', ...' * (len(shown) > _SHOWN)}, "
            + ("no number of rows is enough" if needed is None else f"at least {needed} are needed")
        )
    return notes


_SHOWN = 3  # classes or groups that one note names


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
