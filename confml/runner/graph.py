"""Tasks of a run and their dependencies."""

import functools
import heapq
from collections.abc import Callable, Container, Hashable, Iterable, Mapping
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
from confml.runner.splits import Division, sizes_identity, split_rows
from confml.runner.tasks import Failure, Outcome, Task, TaskContext


def make_tasks(
    plan: Plan,
    missing: set[str],
    stored_inner: Container[str],
    run_folder: Path,
    work_folder: Path,
    data_folder: Callable[[str], Path],
    limits: Limits = NO_LIMITS,
    workers: int = 1,
) -> list[Task]:
    """Return the tasks for the cells whose keys are ``missing``; inner folds in ``stored_inner`` are reused.

    data_folder: maps the name of a data set to the folder that workers read. limits: limits of the tasks
    whose method has none in the config. With several
    workers, the final fits of as many tuned cells come last: no worker then waits for the inner folds of the
    last cell while another one computes them.
    """
    tasks: list[Task] = []
    config, instances = plan.config, Instances()
    steps = {name: steps_for(config, data) for name, data in plan.datasets.items()}
    sizes: dict[tuple[str, Hashable], tuple[int, int]] = {}
    for job in plan.jobs:
        cells = [cell for cell in job.cells if cell.key in missing]
        if not cells:
            continue
        data = plan.datasets[job.dataset]
        context = TaskContext(
            run_folder=run_folder,
            work_folder=work_folder,
            data_folder=data_folder(job.dataset),
            checksum=data.checksum,
            protocol=Division(**vars(config.protocol)),
            split=job.split,
            steps=steps[job.dataset],
            noise=config.noise_values,
            seed=config.seed,
            method=job.entry.name,
            select_by=job.entry.select_by,
            costs=config.costs if job.entry.select_by == "cost" else None,
            limits=limits_of(job.entry).over(limits),
            permission=import_permission(),
            files=job.files,
        )
        place = job.dataset, sizes_identity(config.protocol, data, job.split)
        if place not in sizes:
            train, test = map(len, split_rows(data, config.protocol, job.split, config.seed))
            sizes[place] = train, test
        if job.entry.tune and job.entry.calibrating is None:
            for cell in cells:
                folds = config.protocol.inner_folds
                tasks += _tuned_tasks(job, context, cell, folds, stored_inner, instances, *sizes[place])
        else:
            for group in _cells_per_path(job, cells, instances):
                grid = tuple({**cell.params, **_wrapper_tuning(job, config)} for cell in group)
                tasks += _fit_tasks(context, tuple(group), grid, instances, *sizes[place])
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


class Instances:
    """Methods with the parameters of cells, each built once for all splits."""

    def __init__(self) -> None:
        self._built: dict[tuple[str, str], Method] = {}

    def of(self, method: str, params: Mapping[str, Any]) -> Method:
        key = method, repr(params)
        if key not in self._built:
            self._built[key] = build(method, params)
        return self._built[key]


def _cells_per_path(job: Job, cells: list[Cell], instances: Instances) -> Iterable[list[Cell]]:
    """Group cells that one path computes; without `evaluate_path` each cell is a group.

    Cells with different codings of nominal features are in different groups.
    """
    instance = instances.of(job.entry.name, cells[0].params)
    if len(cells) > 1 and type(instance).evaluate_path is Method.evaluate_path:
        return [[cell] for cell in cells]
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        form = str(cell.params.get("nominal", "auto")) if instance.takes_nominal else ""
        groups.setdefault(form, []).append(cell)
    return list(groups.values())


def _tuned_tasks(
    job: Job,
    context: TaskContext,
    cell: Cell,
    folds: int,
    stored: Container[str],
    instances: Instances,
    train: int,
    test: int,
) -> list[Task]:
    """Return the tasks of the inner folds of one cell and of its final fit."""
    grid = tuple({**cell.params, **point} for point in job.entry.tune_grid())
    new = functools.partial(Task, context=context, cells=(cell,), grid=grid)
    keys = [stable_hash("inner", job.dataset, job.identity, cell.params, fold)[:32] for fold in range(folds)]
    tasks, state = [], None
    missing = [fold for fold in range(folds) if keys[fold] not in stored]
    instance = instances.of(context.method, grid[0])
    if missing and type(instance).subset_state is not Method.subset_state:
        state = stable_hash("inner-state", cell.key)[:32]
        tasks.append(new(state, "prepare"))
    needs = (state,) if state else ()
    tasks += [new(keys[fold], "inner", fold=fold, state=state, needs=needs) for fold in missing]
    inner = tuple(keys[fold] for fold in missing)
    return tasks + _fit_tasks(context, (cell,), grid, instances, train, test, tuple(keys), inner)


def _fit_tasks(
    context: TaskContext,
    cells: tuple[Cell, ...],
    grid,
    instances: Instances,
    train: int,
    test: int,
    inner: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> list[Task]:
    """Return the tasks of the final fits: one task, or a shared state, chunks and a join."""
    name = stable_hash([cell.key for cell in cells])[:32]
    new = functools.partial(Task, context=context, cells=cells, grid=grid, inner=inner)
    instance = instances.of(context.method, grid[0])
    # Under protocol online each prediction depends on all examples before it.
    sizes = {instances.of(context.method, point).test_chunk_size(train, test) for point in grid}
    size = None if context.split.kind == "online" or None in sizes else instance.test_chunk_size(train, test)
    if size is None or size >= test:
        return [new(f"path-{name}", "path", needs=needs)]
    chunks = [(start, min(start + size, test)) for start in range(0, test, size)]
    state = f"state-{name}" if type(instance).prepare is not Method.prepare else None
    tasks = [new(state, "prepare", needs=needs)] if state else []
    needs = (state,) if state else needs
    pieces = [
        new(f"chunk-{name}-{number}", "path", chunk=(start, stop, number), state=state, needs=needs)
        for number, (start, stop) in enumerate(chunks)
    ]
    needs = tuple(piece.identity for piece in pieces)
    return [*tasks, *pieces, new(f"join-{name}", "join", chunks=len(chunks), state=state, needs=needs)]


class Schedule:
    """Hands out tasks whose needs are met, earlier ones first; tasks that need a failed one fail with it."""

    def __init__(self, tasks: list[Task]):
        self._tasks = {task.identity: task for task in tasks}
        assert len(self._tasks) == len(tasks), "two tasks have one identity"
        self._waiting = {
            task.identity: {need for need in task.needs if need in self._tasks} for task in tasks
        }
        self._dependants: dict[str, list[str]] = {}
        self._of_cell: dict[str, list[str]] = {}
        for task in tasks:
            for need in self._waiting[task.identity]:
                self._dependants.setdefault(need, []).append(task.identity)
            for cell in task.cells:
                self._of_cell.setdefault(cell.key, []).append(task.identity)
        self._order = {task.identity: number for number, task in enumerate(tasks)}
        free = [task.identity for task in tasks if not self._waiting[task.identity]]
        self._ready = set(free)
        # A heap of (number in the order of the plan, identity), also of finished tasks; a sorted list is one.
        self._heap = [(self._order[identity], identity) for identity in free]
        self.failed: dict[str, Failure] = {}

    def __len__(self) -> int:
        """Return the number of tasks that are not finished."""
        return len(self._tasks)

    def next_task(self) -> Task | None:
        """Return the next task that can run, or None."""
        while self._heap:
            identity = heapq.heappop(self._heap)[1]
            if identity in self._ready:
                self._ready.remove(identity)
                return self._tasks[identity]
        return None

    @property
    def ready(self) -> int:
        """Number of tasks that can run."""
        return len(self._ready)

    def put_back(self, task: Task) -> None:
        """Make a task ready again that was not finished."""
        self._ready.add(task.identity)
        heapq.heappush(self._heap, (self._order[task.identity], task.identity))

    def finish(self, task: Task, outcome: Outcome) -> list[Failure]:
        """Record the outcome of a task and return the failures that are new.

        A task whose cells have all failed is finished without being run.
        """
        del self._tasks[task.identity]
        new_failures = [failure for failure in outcome.failed if failure.key not in self.failed]
        self.failed.update({failure.key: failure for failure in new_failures})
        for identity in self._dependants.pop(task.identity, ()):
            waiting = self._waiting.get(identity)
            if waiting is None or identity not in self._tasks:
                continue
            waiting.discard(task.identity)
            if not waiting:
                self.put_back(self._tasks[identity])
                new_failures += self._finish_failed([identity])
        for failure in outcome.failed:
            new_failures += self._finish_failed(self._of_cell.get(failure.key, ()))
        return new_failures

    def _finish_failed(self, identities: Iterable[str]) -> list[Failure]:
        """Finish those of the tasks that can run and whose cells have all failed."""
        new_failures: list[Failure] = []
        for identity in identities:
            if identity in self._ready and all(
                cell.key in self.failed for cell in self._tasks[identity].cells
            ):
                self._ready.remove(identity)
                new_failures += self.finish(self._tasks[identity], Outcome())
        return new_failures
