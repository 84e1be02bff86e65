"""Fair pairs of timings: two functions in turns, processor time, medians."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

Row = tuple[str, float, float, float, Mapping[str, Any]]
PEAK_MB = "int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024"
"""Python text for the peak memory of a process in MB. ru_maxrss includes the memory of the parent process."""


class Skipped(Exception):
    """A benchmark that cannot run here: why, in words."""


def needs(package: str) -> None:
    """Skip the benchmark if a package of the extra 'bench' is not installed."""
    if importlib.util.find_spec(package) is None:
        raise Skipped(f"{package} is not installed (pip install 'confml[bench]')")


def paired(
    name: str, ours: Callable[[], Any], other: Callable[[], Any], repeats: int = 3, **notes: Any
) -> Row:
    """(name, our seconds, the other's, other / ours, notes): medians over ``repeats`` runs that take turns.

    Both must be warm: compiled, and their data loaded. notes: ``goal`` is the least ratio wanted.
    """
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, seconds in zip((ours, other), spent, strict=True):
            begun = time.process_time()  # of all threads: pandas reads in a thread of its own
            function()
            seconds.append(time.process_time() - begun)
    a, b = map(statistics.median, spent)
    return name, a, b, b / a, {"repeats": repeats, **notes}
