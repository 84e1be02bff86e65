"""`contradictions`: numbers of a source that cannot all be right, whatever the data.

Each printed number stands for the interval of numbers that round to it. A contradiction is a sum, a bound, a
count or a product that no numbers of these intervals satisfy.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from confml.published import known_tables

# Test examples behind the numbers of Proedrou et al. 2002; segment is cross-validated.
TEST_ROWS = {"usps": 2007, "satellite": 2000, "shuttle": 14500, "segment": 2310}


class Contradiction(NamedTuple):
    """A contradiction between numbers of a table and others of its source. row: its keys."""

    table: str
    row: tuple[str, ...]
    text: str


class Interval(NamedTuple):
    """The numbers that round to a printed one."""

    low: float
    high: float

    def __add__(self, other: "Interval") -> "Interval":  # type: ignore[override]
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, factor: float) -> "Interval":  # type: ignore[override]
        return Interval(self.low * factor, self.high * factor)

    def has(self, value: float) -> bool:
        return self.low - 1e-9 <= value <= self.high + 1e-9

    def meets(self, other: "Interval") -> bool:
        return self.low <= other.high + 1e-9 and other.low <= self.high + 1e-9


def printed(text: str, decimals: int | None = None) -> Interval:
    """Return the interval of a printed number.

    decimals: those of its row, as a 0 may be printed without any.
    """
    found = len(text.partition(".")[2])
    half = 0.5 * 10.0 ** -(found if decimals is None else max(found, decimals))
    return Interval(float(text) - half, float(text) + half)


def is_count(text: str, rows: int, factor: float = 1.0) -> bool:
    """Return whether a printed share, times ``factor``, is one of a whole number of ``rows``."""
    interval = printed(text) * (rows / factor)
    return math.floor(interval.high + 1e-9) >= math.ceil(interval.low - 1e-9)


def contradictions() -> list[Contradiction]:
    """Return all contradictions in the published tables, in the order of the tables."""
    return [*_regions(), *_shares(), *_sizes(), *_times()]


def _rows(table: str, keys: int) -> dict[tuple[str, ...], dict[str, str]]:
    rows = known_tables()[table].rows()
    return {tuple(list(row.values())[:keys]): row for row in rows}


def _regions() -> Iterator[Contradiction]:
    """Check tables 1 to 3 of Proedrou et al.: sums, counts, and errors against wrong singletons."""
    table = "tcm-nn-table3"
    errors = {
        name: row["error_percent"] for (name, who), row in _rows("tcm-nn-table1", 2).items() if who == "TCM"
    }
    errors["usps"] = _rows("tcm-nn-table2", 2)["usps", "TCM-NN"]["error_percent"]
    for row, values in _rows(table, 2).items():
        names = ("one_class_percent", "two_or_more_percent", "no_class_percent")
        decimals = max(len(values[name].partition(".")[2]) for name in names)
        one, several, none = (printed(values[name], decimals) for name in names)
        if not (one + several + none).has(100.0):
            yield Contradiction(table, row, f"{' + '.join(values[name] for name in names)} is not 100 %")
        size = TEST_ROWS[row[0]]
        yield from _counts(table, row, [values[name] for name in names], size, 100.0)
        correct, error = printed(values["correct_of_one_class_percent"]), printed(errors[row[0]])
        least = one.low * max(100.0 - correct.high, 0.0) / 100.0
        most = one.high * (100.0 - correct.low) / 100.0
        if least > error.high:
            yield Contradiction(table, row, f"more wrong singletons than the {errors[row[0]]} % errors")
        if most + several.high + none.high < error.low:
            left = (
                float(errors[row[0]])
                - float(values["no_class_percent"])
                - float(values["two_or_more_percent"])
            )
            yield Contradiction(
                *(table, row),
                f"{errors[row[0]]} % errors less {values['no_class_percent']} % empty regions leave at least "
                f"{left:.2f} % wrong singletons, and {values['correct_of_one_class_percent']} % correct of "
                f"{values['one_class_percent']} % singletons leave at most {most:.2f} %",
            )


def _shares() -> Iterator[Contradiction]:
    """Check tables 1 to 3 of Krzanowski et al.: sums, counts, and the accuracy between sure and not wrong."""
    sizes = {name: int(row["test"]) for (name,), row in _rows("bayesian-knn-table1", 1).items()}
    overall = {name: row["correct_percent"] for (name,), row in _rows("bayesian-knn-table1", 1).items()}
    for table, keys in (("bayesian-knn-table1", 1), ("bayesian-knn-table3", 1)):
        for row, values in _rows(table, keys).items():
            shares = [text for column, text in values.items() if column.endswith("_percent")]
            yield from _counts(table, row, shares, sizes[row[0]], 100.0)
    for (name,), values in _rows("bayesian-knn-table3", 1).items():
        if values["standard_percent"] != overall[name]:
            text = f"{values['standard_percent']} % here and {overall[name]} % in table 1"
            yield Contradiction("bayesian-knn-table3", (name,), text)
    for row, values in _rows("bayesian-knn-table2", 2).items():
        shares = [text for column, text in values.items() if column.endswith(("_sc", "_u", "_si"))]
        yield from _counts("bayesian-knn-table2", row, shares, sizes[row[0]])
        for view in ("env", "rej", "post"):
            texts = [values[f"{view}_{part}"] for part in ("sc", "u", "si")]
            sure, unsure, wrong = map(printed, texts)
            if not (sure + unsure + wrong).has(1.0):
                yield Contradiction("bayesian-knn-table2", row, f"{' + '.join(texts)} is not 1")
            accuracy = printed(overall[row[0]]) * 0.01
            if view == "rej" and not accuracy.meets(Interval(sure.low, sure.high + unsure.high)):
                yield Contradiction(
                    *("bayesian-knn-table2", row),
                    f"{overall[row[0]]} % are correct in table 1, here from {texts[0]} to "
                    f"{texts[0]} + {texts[1]}",
                )


def _counts(
    table: str, row: tuple[str, ...], shares: Sequence[str], size: int, factor: float = 1.0
) -> Iterator[Contradiction]:
    """Yield one contradiction for all shares of a row that are not those of a number of examples."""
    wrong = [text for text in dict.fromkeys(shares) if not is_count(text, size, factor)]
    if wrong:
        unit = " %" if factor == 100.0 else ""
        text = f"of {size} examples no number has the share {' or '.join(f'{one}{unit}' for one in wrong)}"
        yield Contradiction(table, row, text)


def _sizes() -> Iterator[Contradiction]:
    """Check table 1 of van den Burg and Hero: rows between the sums of smallest and largest classes."""
    for row, values in _rows("smartsvm-table1", 1).items():
        size, classes = int(values["instances"]), int(values["classes"])
        smallest, largest = int(values["smallest_class"]), int(values["largest_class"])
        low, high = largest + (classes - 1) * smallest, smallest + (classes - 1) * largest
        if not low <= size <= high:
            yield Contradiction("smartsvm-table1", row, f"{classes} such classes have {low} to {high} rows")


def _times() -> Iterator[Contradiction]:
    """Yield tables 2 and 4 of van den Burg and Hero: the total is the number of configurations times the
    mean.

    SmartSVM is left out, because its total has the class tree once.
    """
    total, single = "smartsvm-table2-total-training-seconds", "smartsvm-table4-seconds-per-configuration"
    means, grid = _rows(single, 1), known_tables()[total].grid
    for (row, values), column in itertools.product(_rows(total, 1).items(), grid):
        if column != "smartsvm" and not printed(values[column]).meets(
            printed(means[row][column]) * grid[column]
        ):
            text = f"{column}: {values[column]} s are not {grid[column]} times {means[row][column]} s"
            yield Contradiction(total, row, text)
