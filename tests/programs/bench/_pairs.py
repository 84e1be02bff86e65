"""Fair pairs of timings: two functions in turns, processor time, medians."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]
PEAK_MB = "int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024"
"""Python text for the peak memory of a process in MB. ru_maxrss includes the memory of the parent process."""


class Skipped(Exception):
    """A benchmark that cannot run here: why, in words."""


def needs(package: str) -> None:
    """Skip the benchmark if a package of the extra 'bench' is not installed."""
    if importlib.util.find_spec(package) is None:
        raise Skipped(f"{package} is not installed (pip install 'confml[bench]')")


def row(
    what: str, ours: float, reference: float | None = None, unit: str = "s", goal: float | None = None
) -> Row:
    """Return a row of the table. other: the number it is compared with; goal: least ratio other / ours.

    Of a coverage the ratio is ours / other.
    """
    ratio = None if reference is None else ours / reference if unit == "coverage" else reference / ours
    return {"what": what, "unit": unit, "ours": ours, "other": reference, "ratio": ratio, "goal": goal}


def paired(
    what: str,
    ours: Callable[[], Any],
    reference: Callable[[], Any],
    repeats: int = 3,
    goal: float | None = None,
) -> Row:
    """Return a row with medians of seconds over ``repeats`` runs that take turns.

    Both must be warm: compiled, and their data loaded.
    """
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, of_function in zip((ours, reference), seconds, strict=True):
            begun = time.process_time()  # of all threads: pandas reads in a thread of its own
            function()
            of_function.append(time.process_time() - begun)
    return row(what, *map(statistics.median, seconds), goal=goal)
