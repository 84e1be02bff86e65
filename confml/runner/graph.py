"""Tasks of a run and their dependencies."""

import functools
import graphlib
import heapq
from collections.abc import Callable, Container, Iterable
from pathlib import Path
from typing import Any

from confml._seeds import stable_hash
from confml.config import Config
from confml.config.method_entry import MethodEntry
from confml.methods.base import Method
from confml.methods.registry import build
from confml.plugins.imports import import_permission
from confml.runner.limits import NO_LIMITS, Limits, limits_of
from confml.runner.plan import Cell, Job, Plan, steps_for
from confml.runner.splits import Division
from confml.runner.tasks import Failure, Outcome, Task, TaskContext


def make_tasks(
    plan: Plan,
    missing: set[str],
    stored_inner: Container[str],
    run_folder: Path,
    work_folder: Path,
    data_file: Callable[[str], Path],
    limits: Limits = NO_LIMITS,
    workers: int = 1,
) -> list[Task]:
    """Return the tasks for the cells whose keys are ``missing``; inner folds in ``stored_inner`` are reused.

    data_file: maps the name of a data set to the file that workers read. limits: limits of the tasks
    whose method has none in the config. With several
    workers, the final fits of as many tuned cells come last: no worker then waits for the inner folds of the
    last cell while another one computes them.
    """
    tasks: list[Task] = []
    config = plan.config
    kinds: dict[int, type[Method]] = {}  # class of each entry of the config
    steps = {name: steps_for(config, data) for name, data in plan.datasets.items()}
    for job in plan.jobs:
        cells = [cell for cell in job.cells if cell.key in missing]
        if not cells:
            continue
        data = plan.datasets[job.dataset]
        context = TaskContext(
            run_folder=run_folder,
            work_folder=work_folder,
            data_file=data_file(job.dataset),
            checksum=data.checksum,
            protocol=Division(**vars(config.protocol)),
            split=job.split,
            steps=steps[job.dataset],
            noise=config.noise_values,
            seed=config.seed,
            method=job.entry.name,
            select_by=job.entry.select_by,
            costs=config.costs if job.entry.select_by == "cost" else None,
            decides=bool(job.shared.get("decides")),
            limits=limits_of(job.entry).over(limits),
            permission=import_permission(),
            files=job.files,
        )
        if id(job.entry) not in kinds:
            kinds[id(job.entry)] = type(build(job.entry.name, cells[0].params))
        kind = kinds[id(job.entry)]
        if job.entry.tune and job.entry.calibrating is None:
            for cell in cells:
                tasks += _tuned_tasks(job, kind, context, cell, config.protocol.inner_folds, stored_inner)
        else:
            for group in _cells_per_path(kind, cells):
                grid = tuple({**cell.params, **_wrapper_tuning(job, config)} for cell in group)
                tasks.append(Task(_path_identity(group), "path", context, tuple(group), grid))
    tuned = dict.fromkeys(task.cells[0].key for task in tasks if task.inner)
    last = set(list(tuned)[-workers:]) if workers > 1 else set()
    return sorted(tasks, key=lambda task: bool(task.inner) and task.cells[0].key in last)


def _wrapper_tuning(job: Job, config: Config) -> dict:
    """Return the tune grid as parameters of a wrapper, which tunes without its calibration part."""
    key = job.entry.calibrating
    if not job.entry.tune or key is None:
        return {}
    return {f"{key}__tune": job.entry.tune_grid(), f"{key}__inner": inner_settings(config, job.entry)}


def inner_settings(config: Config, entry: MethodEntry) -> dict[str, Any]:
    """Return the inner folds of a config as the parameter ``inner`` of a method that is made conformal."""
    protocol, chosen = config.protocol, entry.select_by
    inner = {"folds": protocol.inner_folds, "stratify": protocol.stratify, "select_by": chosen}
    return inner | ({"costs": config.costs} if chosen == "cost" else {})


def _cells_per_path(kind: type[Method], cells: list[Cell]) -> Iterable[list[Cell]]:
    """Group cells that one path computes; without `evaluate_path` each cell is a group.

    Cells with different codings of nominal features are in different groups.
    """
    if kind.evaluate_path is Method.evaluate_path:
        return [[cell] for cell in cells]
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        form = str(cell.params.get("nominal", "auto")) if kind.takes_nominal else ""
        groups.setdefault(form, []).append(cell)
    return groups.values()


def _tuned_tasks(
    job: Job, kind: type[Method], context: TaskContext, cell: Cell, folds: int, stored: Container[str]
) -> list[Task]:
    """Return the tasks of the inner folds of one cell and of its final fit."""
    grid = tuple({**cell.params, **point} for point in job.entry.tune_grid())
    new = functools.partial(Task, context=context, cells=(cell,), grid=grid)
    keys = [stable_hash("inner", job.dataset, job.identity, cell.params, fold)[:32] for fold in range(folds)]
    tasks, state = [], None
    missing = [fold for fold in range(folds) if keys[fold] not in stored]
    if missing and kind.prepare is not Method.prepare:
        state = stable_hash("inner-state", cell.key)[:32]
        tasks.append(new(state, "prepare"))
    needs: tuple[str, ...] = (state,) if state else ()
    tasks += [new(keys[fold], "inner", fold=fold, state=state, needs=needs) for fold in missing]
    needs = tuple(keys[fold] for fold in missing)
    return [*tasks, new(_path_identity((cell,)), "path", inner=tuple(keys), needs=needs)]


def _path_identity(cells: Iterable[Cell]) -> str:
    return f"path-{stable_hash([cell.key for cell in cells])[:32]}"


class Schedule:
    """Hands out tasks whose needs are met, earlier ones first; tasks whose cells have all failed are left
    out."""

    def __init__(self, tasks: list[Task]):
        self._tasks = tasks
        self._number = {task.identity: number for number, task in enumerate(tasks)}
        assert len(self._number) == len(tasks), "two tasks have one identity"
        needs = {task.identity: [need for need in task.needs if need in self._number] for task in tasks}
        self._sorter = graphlib.TopologicalSorter(needs)
        self._sorter.prepare()
        self._ready: list[int] = []  # a heap of numbers of tasks
        self._left = len(tasks)
        self.failed: dict[str, Failure] = {}
        self._release()

    def __len__(self) -> int:
        """Return the number of tasks that are not finished."""
        return self._left

    def _release(self) -> None:
        for identity in self._sorter.get_ready():
            heapq.heappush(self._ready, self._number[identity])

    def next_task(self) -> Task | None:
        """Return the next task that can run, or None."""
        while self._ready:
            task = self._tasks[heapq.heappop(self._ready)]
            if not all(cell.key in self.failed for cell in task.cells):
                return task
            self.finish(task, Outcome())
        return None

    @property
    def ready(self) -> int:
        """Number of tasks that can run."""
        return len(self._ready)

    def put_back(self, task: Task) -> None:
        """Make a task ready again that was not finished."""
        heapq.heappush(self._ready, self._number[task.identity])

    def finish(self, task: Task, outcome: Outcome) -> list[Failure]:
        """Note the outcome of a task and return the failures that are new."""
        failures = [failure for failure in outcome.failed if failure.key not in self.failed]
        self.failed.update({failure.key: failure for failure in failures})
        self._sorter.done(task.identity)
        self._left -= 1
        self._release()
        return failures
