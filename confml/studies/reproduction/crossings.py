"""`write_crossings`: crossings of accuracy-rejection curves, for figures 2 to 4 of Krzanowski et al."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import numpy as np

from confml.measures.rejection import RejectionCurve, curve_of
from confml.report.files import write_csv
from confml.report.run.stored import open_run

FILE = "crossings.csv"
_HEADER = "dataset view first second crossings first_better equal second_better splits".split()
_WITHOUT = "MAP"


def write_crossings(runs: Sequence[Path], folder: Path) -> Path:
    """Write ``crossings.csv``: for each data set, view and pair of methods of the runs.

    crossings: mean over the common splits of the number of crossings. first_better, equal, second_better:
    mean shares of the rejection rates at which the first curve has fewer sure incorrect examples, as many, or
    more.
    """
    found: dict[tuple[str, str], dict[str, dict]] = {}
    for run in runs:
        results = open_run(run)
        for one in results.finished():
            label = results.label(one.cell)
            if _WITHOUT not in label:
                for view, prediction in one.views.items():
                    curves = found.setdefault((one.cell.dataset, view), {}).setdefault(label, {})
                    curves[one.cell.split] = curve_of(prediction, one.truth)
    lines = []
    for (dataset, view), methods in found.items():
        for first, second in itertools.combinations(methods, 2):
            splits = [split for split in methods[first] if split in methods[second]]
            compared = [compare_curves(methods[first][one], methods[second][one]) for one in splits]
            if compared:
                means = [float(f"{mean(column):.4g}") for column in zip(*compared, strict=True)]
                lines.append((dataset, view, first, second, *means, len(splits)))
    return write_csv(folder / FILE, _HEADER, lines)


def compare_curves(first: RejectionCurve, second: RejectionCurve) -> tuple[int, float, float, float]:
    """Return the number of crossings, and the shares of rates where the first is lower, equal and higher.

    The curves are compared at each number of accepted examples that a threshold of both attains. Curves that
    meet and part on the same side do not cross.
    """
    least = max(first.always_accepted, second.always_accepted)
    gaps = np.round(first.expected_errors[least:] - second.expected_errors[least:], 9)
    signs = np.sign(gaps)
    moving = signs[signs != 0]
    crossings = int((moving[1:] != moving[:-1]).sum())
    return crossings, float((signs < 0).mean()), float((signs == 0).mean()), float((signs > 0).mean())
