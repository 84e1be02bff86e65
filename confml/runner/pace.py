"""`Pace`: seconds per task, from the tasks of the last quarter of the elapsed time.

Tasks of one run differ: a config often lists small data sets first.
"""

from collections import deque

WINDOW = 0.25
"""Fraction of the elapsed time whose tasks are counted."""


class Pace:
    """Numbers of finished tasks at earlier times of a run, in seconds since the first task was handed out."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque([(0.0, 0)])

    def note(self, seconds: float, done: int) -> None:
        """Note the number of tasks that are done after a number of seconds."""
        if seconds - self._points[-1][0] >= 0.01 * seconds:  # about 30 points
            self._points.append((seconds, done))
        while len(self._points) > 1 and self._points[1][0] <= (1.0 - WINDOW) * seconds:
            self._points.popleft()

    def seconds_per_task(self, seconds: float, done: int) -> float | None:
        """Return the seconds per task in the last quarter of the time, None before the first task is done."""
        if not done or seconds <= 0:
            return None
        start, done_before = self._points[0]
        return (seconds - start) / max(done - done_before, 1)
