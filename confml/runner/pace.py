"""`Pace`: the time that the tasks of a run still need, by those of the last quarter of the time.

The tasks of a run are rarely alike: data sets come in the order of the config, often the small ones first.
"""

from __future__ import annotations

from collections import deque

SHARE = 0.25
"""Share of the time since the first task was handed out whose tasks count."""


class Pace:
    """Tasks done by the seconds since the first one was handed out."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque([(0.0, 0)])

    def note(self, seconds: float, done: int) -> None:
        """Note the number of tasks that are done after a number of seconds."""
        if seconds - self._points[-1][0] >= 0.01 * seconds:  # a few hundred points at most
            self._points.append((seconds, done))
        while len(self._points) > 1 and self._points[1][0] <= (1.0 - SHARE) * seconds:
            self._points.popleft()

    def seconds_per_task(self, seconds: float, done: int) -> float | None:
        """Return the seconds per task in the last quarter of the time, None before the first one is done.

        If no task was done in this time, the time since the last one counts as that of one task.
        """
        if not done or seconds <= 0:
            return None
        begun, before = self._points[0]
        return (seconds - begun) / max(done - before, 1)
