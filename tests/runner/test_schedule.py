"""The schedule: tasks after what they need, failures passed on, nothing handed out twice."""

import pytest

from confml.config import make_config
from confml.runner.graph import Schedule, make_tasks
from confml.runner.plan import Cell, load_datasets, make_plan
from confml.runner.tasks import Failure, Outcome, Task


def task(identity, *needs, cells="a"):
    of_task = tuple(Cell(key, "d", "m", {}, "fixed") for key in cells)
    return Task(identity, "path", None, of_task, ({},), needs=needs)


def test_tasks_wait_for_what_they_need():
    schedule = Schedule([task("i1"), task("i2"), task("final", "i1", "i2"), task("other", cells="b")])
    first, second = schedule.next_task(), schedule.next_task()
    assert (first.identity, second.identity) == ("i1", "i2")
    assert schedule.next_task().identity == "other" and schedule.next_task() is None
    schedule.finish(second, Outcome())
    assert schedule.next_task() is None
    schedule.finish(first, Outcome())
    assert schedule.next_task().identity == "final"


def test_a_failure_ends_what_waits_for_it_and_is_reported_once():
    schedule = Schedule([task("i1"), task("i2"), task("final", "i1", "i2"), task("other", cells="b")])
    failures = []
    while (next_task := schedule.next_task()) is not None:
        broken = (Failure("a", f"{next_task.identity} broke", ""),) if next_task.identity[0] == "i" else ()
        failures += schedule.finish(next_task, Outcome(failed=broken))
    assert [failure.error for failure in failures] == ["i1 broke"]
    assert len(schedule) == 0


def test_the_other_inner_folds_of_a_failed_cell_are_not_run():
    """Those of a cell that did not fail are, and a fold that runs already is finished as usual."""
    folds = [task("i1"), task("i2"), task("i3"), task("both", cells="ab")]
    schedule = Schedule([*folds, task("final", "i1", "i2", "i3")])
    first, running = schedule.next_task(), schedule.next_task()
    assert (running.identity, schedule.ready) == ("i2", 2)
    schedule.finish(first, Outcome(failed=(Failure("a", "took too long", ""),)))
    assert schedule.next_task().identity == "both" and schedule.next_task() is None
    assert len(schedule) == 3
    schedule.finish(running, Outcome(failed=(Failure("a", "broke", ""),)))
    assert schedule.next_task() is None and len(schedule) == 1  # final waits for none
    assert schedule.failed["a"].error == "took too long"


def test_a_task_that_is_put_back_runs_once():
    schedule = Schedule([task("1"), task("2")])
    schedule.put_back(schedule.next_task())
    assert schedule.ready == 2
    assert [schedule.next_task().identity for _ in range(2)] == ["1", "2"] and schedule.next_task() is None


@pytest.mark.parametrize(("workers", "order"), [(1, "iikniikniikn"), (2, "iikniiniinkk")])
def test_the_final_fits_of_the_last_tuned_cells_come_after_all_inner_folds(tmp_path, workers, order):
    """As many as there are workers."""
    methods = [{"name": "knn", "tune": {"k": [1, 3]}}, "naive-bayes"]
    protocol = {"kind": "holdout", "repeats": 3, "inner-folds": 2}
    config = make_config({"datasets": ["wine-sklearn"], "methods": methods, "protocol": protocol})
    plan = make_plan(config, load_datasets(config))
    missing = {cell.key for cell in plan.cells}
    tasks = make_tasks(plan, missing, (), tmp_path, tmp_path, tmp_path.joinpath, workers=workers)
    letters = ["i" if task.kind == "inner" else task.context.method[0] for task in tasks]
    assert "".join(letters) == order
