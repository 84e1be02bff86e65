"""``class-coverage.csv``: coverage of each class, with the band of valid p-values."""

import math
from collections.abc import Iterator, Sequence

from confml.measures import Case
from confml.measures.coverage_band import coverage_band
from confml.report.numbers.region_levels import CalibrationParts, group_names
from confml.report.run.results import Split, Variant
from confml.report.tables.table import KEY, Row, Table, by_view

COLUMNS = (*KEY, "class", "level", "rows", "counted", "coverage", "band_low", "band_high")


def has_p_values(case: Case) -> bool:
    return case.prediction.kind == "p-value"


def rows(splits: Sequence[Split], variant: Variant) -> Iterator[Row]:
    """Coverage of each class, with the band of valid p-values (`confml.measures.coverage_band`).

    ``rows``: number of different test rows of the class. ``counted``: number of examples that its p-values
    are counted among, including the new one (smallest of the splits). ``coverage``: over all splits.
    ``band_low``, ``band_high``: 95 % band of the coverage of one test part with ``rows`` rows if the p-values
    are valid for the class. It is exact for split conformal prediction without ties. Weighted p-values
    (``shift``) have none. The coverage is over all splits: of valid classes, at most one in 40 is below its
    band by chance. A coverage above it means conservative p-values. Only label-conditional p-values are valid
    for every class.
    """
    levels, grouped = variant.run.config.levels, variant.run.has_groups(variant.dataset)
    parts = CalibrationParts()
    sums: dict = {}  # number of test examples and of covered ones, by class and level
    for result, case in splits:
        parts.add(case, result.rows, group_names(result, case.prediction))
        for level in levels:
            for label, (n, covered) in case.class_coverage(level).items():
                before = sums.get((label, level), (0, 0))
                sums[label, level] = before[0] + n, before[1] + covered
    for label, of_class in parts.classes().items():
        sizes = [counted for _, counted in of_class if counted is not None]
        n = sum(size for size, _ in of_class)
        counted = min(sizes) if len(sizes) == len(of_class) else None
        for level in levels:
            total, covered = sums[label, level]
            band = (math.nan, math.nan) if grouped else coverage_band(of_class, level, parts.smoothed)
            yield label, level, n, counted, covered / total, *band


TABLE = Table(
    "class-coverage.csv",
    "coverage of each class, with the 95 % band of valid p-values on one split (exact for split conformal "
    "prediction; TCM-NN with k = 1 leaves it in 6 to 11 % of the splits)",
    COLUMNS,
    by_view(rows, has_p_values),
    needs="p-values",
)
