"""The time left of a run whose tasks become slower or faster."""

import itertools

import pytest

from confml.runner.progress import LogProgress, Pace

SLOWER = [0.125] * 1000 + [10.0] * 100  # exact sums


def estimates(durations):
    """The estimated and the true seconds of the remaining tasks after each task."""
    pace, total = Pace(), sum(durations)
    for done, now in enumerate(itertools.accumulate(durations), start=1):
        pace.note(now, done)
        yield pace.seconds_per_task(now, done) * (len(durations) - done), total - now


def test_equal_tasks_are_estimated_exactly():
    for estimated, left in estimates([2.0] * 500):
        assert estimated == pytest.approx(left)


def test_slow_tasks_at_the_end_are_noticed():
    """After 20 slow tasks the mean of all is 0.32 s, which would give 25 s instead of 800."""
    found = list(estimates(SLOWER))
    assert found[1019][1] == 800.0 and found[1019][0] == pytest.approx(800.0, rel=0.2)
    assert all(estimated == pytest.approx(left, abs=1e-6) for estimated, left in found[1040:])


def test_the_last_quarter_of_the_time_counts():
    pace, now = Pace(), 0.0
    for done in range(1, 81):
        now += 1.0 if done <= 75 else 5.0
        pace.note(now, done)
    assert now == 100.0 and pace.seconds_per_task(now, 80) == 5.0


def test_there_is_no_estimate_before_the_first_task():
    assert Pace().seconds_per_task(5.0, 0) is None
    assert Pace().seconds_per_task(0.0, 0) is None


def test_few_points_are_kept():
    pace = Pace()
    for done in range(1, 100_001):
        pace.note(0.01 * done, done)
    assert len(pace._points) < 40


def test_the_log_shows_this_time(monkeypatch, capsys):
    clock = [0.0]
    monkeypatch.setattr("confml.runner.progress.time.monotonic", lambda: clock[0])
    log = LogProgress(seconds=0.0)
    with log.of(1100, 1100):
        for duration in SLOWER[:1050]:
            clock[0] += duration
            log.advance(1, 1)
    assert capsys.readouterr().err.splitlines()[-1].endswith("about 8 min 20 s left")
