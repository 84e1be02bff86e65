"""Fair pairs of timings: two functions in turns, processor time of one thread, medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

Row = tuple[str, float, float, float, Mapping[str, Any]]
PEAK_MB = "int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024"
"""Python text for the peak memory of a process in MB. ru_maxrss includes the memory of the parent process."""


class Skipped(Exception):
    """A benchmark that cannot run here: why, in words."""


def seconds_of(function: Callable[[], Any]) -> float:
    """Processor time of this thread for one call: other processes do not count."""
    begun = time.thread_time()
    function()
    return time.thread_time() - begun


def paired(
    name: str, ours: Callable[[], Any], other: Callable[[], Any], repeats: int = 3, **notes: Any
) -> Row:
    """(name, our seconds, the other's, other / ours, notes): medians over ``repeats`` runs that take turns.

    Both must be warm: compiled, and their data loaded. notes: ``goal`` is the least ratio wanted.
    """
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, seconds in zip((ours, other), spent, strict=True):
            seconds.append(seconds_of(function))
    a, b = map(statistics.median, spent)
    return name, a, b, b / a, {"repeats": repeats, **notes}


def in_threads(what: str, run: Callable[[], bytes], **notes: Any) -> Row:
    """Seconds by the clock of two threads and of one, which give the same bytes.

    ``by_processor_time`` does not depend on other processes: the processor time of one thread over that of
    the busier of two.
    """
    import confml

    run()  # warm
    clock, busiest, results = [], [], []
    for n in (1, 2):
        with confml.threads(n):
            started, own, all_ = time.perf_counter(), time.thread_time(), time.process_time()
            results.append(run())
            clock.append(time.perf_counter() - started)
            own, all_ = time.thread_time() - own, time.process_time() - all_
            busiest.append(max(own, all_ - own) if n == 2 else own)
    assert results[0] == results[1]
    by_processor_time = round(busiest[0] / busiest[1], 2)
    columns = {
        name: f"{seconds:.2f} s" for name, seconds in zip(("one thread", "two threads"), clock, strict=True)
    }
    columns["ratio of processor times"] = f"{by_processor_time:.2f}"
    notes |= {"repeats": 1, "by_processor_time": by_processor_time, "columns": columns}
    return f"{what}, beside one thread", clock[1], clock[0], clock[0] / clock[1], notes
