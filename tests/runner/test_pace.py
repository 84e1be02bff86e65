"""The time left of a run whose tasks become slower or faster."""

import pytest

from confml.runner.pace import Pace


def estimates(durations):
    """The estimated and the true seconds of the remaining tasks after each task."""
    pace, now, total = Pace(), 0.0, sum(durations)
    for done, duration in enumerate(durations, start=1):
        now += duration
        pace.note(now, done)
        each = pace.seconds_per_task(now, done)
        yield each * (len(durations) - done), total - now


def test_equal_tasks_are_estimated_exactly():
    for estimated, left in estimates([2.0] * 500):
        assert estimated == pytest.approx(left)


def test_slow_tasks_at_the_end_are_noticed_after_a_quarter_of_the_time():
    """1,000 tasks of 0.1 s, then 100 of 10 s: after 300 s the mean of all gives 24 s for the last 800."""
    durations = [0.1] * 1000 + [10.0] * 100
    found = list(estimates(durations))
    assert found[1019][0] == pytest.approx(found[1019][1], rel=0.2)
    assert all(estimated == pytest.approx(left) for estimated, left in found[1040:])


def test_a_long_task_without_an_end_makes_the_estimate_longer():
    pace = Pace()
    for done in range(1, 11):
        pace.note(float(done), done)
    assert pace.seconds_per_task(10.0, 10) == pytest.approx(1.0)
    pace.note(100.0, 10)
    assert pace.seconds_per_task(100.0, 10) == pytest.approx(90.0)


def test_there_is_no_estimate_before_the_first_task():
    assert Pace().seconds_per_task(5.0, 0) is None
    assert Pace().seconds_per_task(0.0, 0) is None


def test_few_points_are_kept():
    pace = Pace()
    for done in range(1, 100_001):
        pace.note(0.01 * done, done)
    assert len(pace._points) < 200
