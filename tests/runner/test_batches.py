"""Batches: short tasks together, long and dangerous ones alone, and the results of a run all the same."""

from types import SimpleNamespace

from confml.runner.batches import Batches
from confml.runner.graph import Schedule
from confml.runner.limits import Limits
from confml.runner.plan import Cell
from confml.runner.tasks import Outcome, Task


def task(number, method="m", limits=None):
    context = SimpleNamespace(method=method, limits=limits or Limits())
    return Task(f"t{number:04}", "path", context, (Cell(str(number), "d", method, {}, "fixed"),), ({},))


def drain(batches, schedule, seconds):
    """Compute all tasks, each in the seconds of its method, and return the batches."""
    drained = []
    while (batch := batches.next()) is not None:
        drained.append(batch)
        batches.took(batch, [seconds[task.context.method] for task in batch])
        for task in batch:
            schedule.finish(task, Outcome())
    return drained


def test_short_tasks_come_together_and_the_last_ones_are_shared():
    tasks = [task(number) for number in range(1000)]
    schedule = Schedule(tasks)
    drained = drain(Batches(schedule, 2), schedule, {"m": 0.011})
    sizes = list(map(len, drained))
    assert sum(map(list, drained), []) == tasks  # in the order of the plan
    assert sizes[0] == 1 and max(sizes) == 90 and sizes[-1] == 1


def test_tasks_with_limits_have_batches_of_one():
    schedule = Schedule([task(number, limits=Limits(timeout=3)) for number in range(20)])
    assert all(len(batch) == 1 for batch in drain(Batches(schedule, 1), schedule, {"m": 0.0001}))


def test_methods_are_mixed_in_the_order_of_the_plan_once_their_times_are_known():
    schedule = Schedule([task(number, "abc"[number % 3]) for number in range(300)])
    seconds = {"a": 0.01, "b": 0.04, "c": 0.005}
    drained = drain(Batches(schedule, 1), schedule, seconds)
    methods = [[task.context.method for task in batch] for batch in drained]
    assert sum(methods, []) == list("abc") * 100
    assert [len(batch) for batch in drained[:4]] == [1, 1, 1, 54]
    assert all(sum(seconds[method] for method in batch) <= 1.0 for batch in methods)


def test_tasks_of_a_lost_batch_come_back_alone():
    schedule = Schedule([task(number) for number in range(100)])
    batches = Batches(schedule, 1)
    batches.took([task(0)], [0.001])
    lost = batches.next()
    assert len(lost) == 50
    batches.put_back(lost)
    drained = drain(batches, schedule, {"m": 0.001})
    sizes = list(map(len, drained))
    assert sizes[:50] == [1] * 50 and max(sizes) > 1
    assert sorted(task.identity for batch in drained for task in batch) == [f"t{n:04}" for n in range(100)]


def test_idle_workers_become_threads_of_few_tasks():
    schedule = Schedule([task(number) for number in range(3)])
    batches = Batches(schedule, 16, threaded=True)
    first, second, third = (batches.next() for _ in range(3))
    assert [batch[0].threads for batch in (first, second, third)] == [5, 5, 6]
    batches.ended(second)
    schedule.put_back(second[0])
    (again,) = batches.next()
    assert (again.identity, again.threads) == (second[0].identity, 5)
    limited = Schedule([task(0, limits=Limits(memory=10**9))])
    assert Batches(limited, 16, threaded=True).next()[0].threads == 1
    assert Batches(Schedule([task(0)]), 16).next()[0].threads == 1
