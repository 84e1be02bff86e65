"""`write_matching`: intervals of matching thresholds, for table 2 of Krzanowski et al. (2006).

The paper matches reject and posterior to the envelope: reject at equal SURE INCORRECT, posterior at equal
SURE CORRECT. All thresholds between two values give the same proportions, and the paper prints one of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from confml.measures.rejection import curve_of, match, sureness
from confml.published import known_tables
from confml.report.files import read_csv, write_csv
from confml.report.run.stored import open_run
from confml.runner.results import CellResult

FILE = "matching.csv"
_HEADER = (
    "dataset", "params", "envelope", "view", "paper", "low", "high", "contains_paper", "contains_half",
    "paper_correct", "correct", "paper_unsure", "unsure", "accuracy", "splits",
)  # fmt: skip
_PAPER = {"reject": "reject_threshold", "posterior": "sd_multiple"}
_FAR = 1e9  # beyond every threshold
_BY = {"reject": "incorrect", "posterior": "correct"}


def write_matching(runs: Sequence[Path], folder: Path) -> Path:
    """Write ``matching.csv``: for each data set, setting, envelope level and view of runs of bayes-knn.

    paper: the printed threshold of reject, or multiple of the posterior's sd. low, high: medians over the
    splits of the ends of the interval of thresholds that match the envelope. contains_paper: fraction of the
    splits whose interval contains the printed one. contains_half: the same for half of a printed multiple,
    which compares the difference of the two class probabilities, 2 mean - 1, with a multiple of the sd.
    correct, unsure: mean proportions of the envelope.
    """
    cells: dict[tuple[str, str], list[CellResult]] = {}
    for run in runs:
        for result in open_run(run).finished():
            if set(result.views) >= {"envelope", "reject", "posterior"}:
                cells.setdefault((result.cell.dataset, result.cell.variant), []).append(result)
    table = known_tables()["bayesian-knn-table2"]
    names = {own: name for name, owns in table.aliases.items() for own in owns}
    lines = []
    for (dataset, variant), results in cells.items():
        for row in table.rows():
            if row["dataset"] == names.get(dataset, dataset):
                lines += [(row["dataset"], variant, *line) for line in _lines(row, results)]
    return write_csv(folder / FILE, _HEADER, lines)


class Trial(NamedTuple):
    """A setting whose intervals are compared with printed multiples.

    shares: fraction of the splits whose interval contains the multiple, by keys of the row of the table.
    """

    folder: str
    params: str
    splits: int
    shares: dict[tuple[str, str], float]


def trials(folder: Path, parts: Sequence[str]) -> list[Trial]:
    """Return the settings of the files ``matching.csv`` in ``parts`` of ``folder``, with their multiples."""
    aliases = known_tables()["bayesian-knn-table2"].aliases
    names = {own: name for name, owns in aliases.items() for own in owns}
    found: dict[tuple[str, str], Trial] = {}
    for part in parts:
        for row in read_csv(folder / part / FILE):
            if row["view"] == "posterior":
                one = found.setdefault(
                    (part, row["params"]), Trial(part, row["params"], int(row["splits"]), {})
                )
                keys = names.get(row["dataset"], row["dataset"]), row["envelope"]
                one.shares[keys] = float(row["contains_paper"])
    return list(found.values())


def _lines(row: Mapping[str, str], results: Sequence[CellResult]) -> Iterator[tuple]:
    """Yield the rest of the rows of one data set and setting at one level of the envelope."""
    level = float(row["envelope_level"])
    right = [result.views["reject"].labels == result.truth for result in results]
    accuracy = mean(float(one.mean()) for one in right)
    for view, column in _PAPER.items():
        paper = float(row[column])
        found = []
        for result in results:
            envelope = result.views["envelope"]
            wanted = sureness(envelope.accepted(level), envelope.labels == result.truth)
            curve = curve_of(result.views[view], result.truth)
            lowest, highest = (match(curve, wanted, by=_BY[view], near=near) for near in (-_FAR, _FAR))
            low, high = lowest.low, highest.high
            inside = (low < paper <= high, low < 0.5 * paper <= high)
            found.append((low, high, *inside, wanted.correct, wanted.unsure))
        lows, highs, inside, half, correct, unsure = zip(*found, strict=True)
        yield (
            row["envelope_level"], view, row[column], _short(median(lows)), _short(median(highs)),
            _short(mean(inside)), _short(mean(half)) if view == "posterior" else "", row["env_sc"],
            _short(mean(correct)), row["env_u"], _short(mean(unsure)), _short(accuracy), len(results),
        )  # fmt: skip


def _short(value: float) -> float:
    return float(f"{value:.4g}")
