"""Tasks that workers execute: parameter paths, inner folds and shared states.

A task is a small specification. The worker loads the data and writes the results into the store.
"""

from __future__ import annotations

import dataclasses
import errno
import functools
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml._threads import one_thread_per_library, thread_count, threads
from confml.errors import ConfmlError, printable, text_of
from confml.measures.selection import inner_score
from confml.methods.base import Views
from confml.methods.registry import build
from confml.plugins.imports import NO_PERMISSION, ImportPermission, permission_in_force
from confml.runner.check_views import check_points, check_views
from confml.runner.environment import EnvironmentFault, fault_of
from confml.runner.external_files import ExternalFile
from confml.runner.limits import NO_LIMITS, Limits
from confml.runner.plan import Cell
from confml.runner.results import CellResult
from confml.runner.split_data import SplitData
from confml.runner.splits import Split, split_identity
from confml.runner.store import Store
from confml.runner.tuning import choose
from confml.runner.workspace import Workspace

LONGEST_ERROR, LONGEST_TRACEBACK = 500, 20_000  # characters stored


@dataclass(frozen=True)
class TaskContext:
    """Context that the tasks of one job share: folders, data, split, noise, steps and method."""

    checksum: str
    protocol: Any
    split: Split
    steps: tuple[tuple[str, Mapping[str, Any]], ...]
    method: str
    seed: int = 0
    noise: Mapping[str, Any] | None = None
    run_folder: Path = Path()
    work_folder: Path = Path()
    data_file: Path = Path()
    select_by: str = "accuracy"
    costs: Mapping[str, Any] | None = None  # of the config, for select-by: cost
    decides: bool = False  # whether a conformal method stores the probabilities of its classifier
    limits: Limits = NO_LIMITS
    permission: ImportPermission = NO_PERMISSION
    files: tuple[ExternalFile, ...] = ()

    @property
    def store(self) -> Store:
        """The store of the run, shared by the tasks of a process."""
        return _store(self.run_folder, self.work_folder)

    def generator(self, *purpose: Any) -> np.random.Generator:
        """Return the random generator of this data, split and method for one purpose."""
        split = split_identity(self.protocol, self.split)
        return stable_generator("method", self.seed, self.checksum, split, self.method, *purpose)


@functools.lru_cache(maxsize=4)
def _store(folder: Path, work_folder: Path) -> Store:
    """Return the store of a folder. work_folder: of the run, because a process may outlive it."""
    return Store(folder)


@dataclass(frozen=True)
class Task:
    """One unit of work for ``cells``, the cells that depend on it.

    kind: ``path`` computes cells; ``inner`` scores a grid on one inner fold; ``prepare`` computes the state
    that the inner folds share.
    grid: complete parameters, one point per cell, or the tune grid if ``inner`` is given.
    inner: keys of the inner folds that select the point.
    state: identity of the ``prepare`` task. needs: identities of the tasks that must finish before.
    threads: number of threads that the method may use; results do not depend on it.
    """

    identity: str
    kind: str
    context: TaskContext
    cells: tuple[Cell, ...]
    grid: tuple[Mapping[str, Any], ...]
    inner: tuple[str, ...] = ()
    fold: int | None = None
    state: str | None = None
    needs: tuple[str, ...] = ()
    threads: int = 1


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, with the error message and its traceback."""

    key: str
    error: str
    traceback: str

    @classmethod
    def of(cls, key: str, error: BaseException, limits: Limits = NO_LIMITS) -> Failure:
        """Return the failure of a cell, with text that is safe for terminals and files."""
        no_memory = (
            isinstance(error, MemoryError) or isinstance(error, OSError) and error.errno == errno.ENOMEM
        )
        if no_memory and limits.memory is not None:
            message: object = limits.memory_message
        elif isinstance(error, ConfmlError):
            message = error
        else:
            message = f"{type(error).__name__}: {text_of(error)}"
        try:
            trace = "".join(traceback.format_exception(error))
        except Exception:
            trace = ""
        return cls(key, printable(message, LONGEST_ERROR), printable(trace, LONGEST_TRACEBACK))


@dataclass(frozen=True)
class Outcome:
    """Result of a task: keys of the cells that it stored, failures, and warnings of libraries.

    fault: the error of the environment that stops the run, None if there is none.
    """

    done: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    warned: tuple[str, ...] = ()
    fault: EnvironmentFault | None = None


_computed: set[str] = set()  # methods of the tasks of this process: their first tasks load libraries


def run_tasks(tasks: Sequence[Task]) -> tuple[list[Outcome], list[float]]:
    """Execute tasks one after another; return their outcomes and the seconds of each.

    Their records are on disk on return. Tasks after one that an error of the environment stops are not run.
    """
    outcomes: list[Outcome] = []
    seconds: list[float] = []
    try:
        # Products and decompositions differ in their last bits between one and two BLAS threads.
        with one_thread_per_library(len(_computed)):
            for task in tasks:
                started = time.monotonic()
                outcomes.append(run_task(task))
                seconds.append(time.monotonic() - started)
                _computed.add(task.context.method)
                if outcomes[-1].fault is not None:
                    break
        tasks[0].context.store.sync()
    except EnvironmentFault as fault:
        outcomes.append(Outcome(fault=fault))
    return outcomes, seconds


def run_task(task: Task) -> Outcome:
    """Execute a task and return its outcome; errors become failures of its cells.

    An error of the environment, such as a full disk, becomes the fault of the outcome.
    """
    permission = permission_in_force(task.context.permission)
    method_threads = threads(max(task.threads, thread_count()))  # an engine may have set more
    with permission, method_threads, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ResourceWarning)  # of earlier work, collected during a task
        try:
            outcome = _KINDS[task.kind](task)
        except KeyboardInterrupt:  # from the user; a worker process returns it as the result of the task
            raise
        except BaseException as error:
            fault = fault_of(error)
            limits = task.context.limits
            failed = () if fault else tuple(Failure.of(cell.key, error, limits) for cell in task.cells)
            outcome = Outcome(failed=failed, fault=fault)
    # Only the first line: the others advise on how to call the library.
    texts = {f"{item.category.__name__}: {text_of(item.message).partition(chr(10))[0]}" for item in caught}
    return replace(outcome, warned=tuple(sorted(printable(text, LONGEST_ERROR) for text in texts)))


def _run_path(task: Task) -> Outcome:
    """Compute cells."""
    split_data = SplitData.of(task.context, task.grid)
    points, tuning = _points(task)
    rng = task.context.generator("path", None)
    done, failed = [], []
    outcomes = _evaluate(task, split_data, points, rng)
    for cell, views in zip(task.cells, outcomes, strict=True):
        if isinstance(views, BaseException):
            failed.append(Failure.of(cell.key, views, task.context.limits))
        else:
            _store_cell(task, cell, split_data, views, tuning)
            done.append(cell.key)
    return Outcome(tuple(done), tuple(failed))


def _run_inner(task: Task) -> Outcome:
    """Score every point of a tune grid on one inner fold and store the scores."""
    context = task.context
    split_data = SplitData.of(context, task.grid, task.fold)
    state = None
    if task.state and not split_data.drops_rows:
        state = Workspace(context.work_folder).get_state(task.state) or None
    scores: list[float | None] = []
    errors: set[str] = set()
    seconds = 0.0
    rng = context.generator("inner", task.fold)
    for views in _evaluate(task, split_data, task.grid, rng, state):
        if isinstance(views, BaseException):
            scores.append(None)
            errors.add(Failure.of("", views, context.limits).error)
        else:
            first = next(iter(views.values()))
            scores.append(inner_score(first, split_data.y_test, context.select_by, context.costs))
            seconds += views.fit_seconds + views.predict_seconds
    document = {
        "method": context.method,
        "fold": task.fold,
        "select_by": context.select_by,
        "grid": [dict(point) for point in task.grid],
        "scores": scores,
        "errors": sorted(errors),
        "seconds": seconds,
    }
    context.store.write("inner", task.identity, document)
    return Outcome()


def _run_prepare(task: Task) -> Outcome:
    """Compute the state of an outer training set that the other tasks of its cells share."""
    split_data = SplitData.of(task.context, task.grid)
    points = split_data.with_nominal_columns(_points(task)[0])
    state = build(task.context.method, points[0]).prepare(split_data.X, split_data.y, points)
    Workspace(task.context.work_folder).put_state(task.identity, state or {})
    return Outcome()


_KINDS = {"path": _run_path, "inner": _run_inner, "prepare": _run_prepare}


def _points(task: Task) -> tuple[Sequence[Mapping[str, Any]], dict | None]:
    """Return the points to evaluate: those of the grid, or the one that the inner folds select."""
    if not task.inner:
        return task.grid, None
    point, tuning = choose(task.context.store, task.inner, task.grid, task.context.select_by)
    return [point], tuning


def _evaluate(task: Task, split_data: SplitData, points, rng, state=None) -> list[Views | BaseException]:
    """Return the checked views of a method at each point, or the error at that point.

    If a path of several points raises an error, the remaining points are evaluated one by one.
    """
    coded = split_data.with_nominal_columns(points)
    classes = split_data.data.classes
    outcomes: list[Views | BaseException] = []
    try:
        for _, views in split_data.evaluate(coded, rng, state):
            check_points(task.context.method, max(len(outcomes) + 1, len(points)), len(points))
            views = check_views(views, task.context.method, len(split_data.y_test), classes)
            views.fit_metrics.update(split_data.step_metrics)
            outcomes.append(views)
        check_points(task.context.method, len(outcomes), len(points))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if fault := fault_of(error):
            raise fault from error
        if len(points) == 1 or len(outcomes) == len(points):
            return [error] * len(points)
        for point in points[len(outcomes) :]:
            outcomes += _evaluate(task, split_data, [point], rng, state)
    return outcomes


def _store_cell(task: Task, cell: Cell, split_data: SplitData, views: Views, tuning: dict | None) -> None:
    """Store a finished cell."""
    details = views.fit_details
    if details.tuning is not None:
        views.fit_details = dataclasses.replace(details, tuning=None)
    result = CellResult(
        cell=cell,
        truth=np.asarray(split_data.y_test),
        rows=split_data.reported_rows,
        views=views,
        tuning=tuning or details.tuning,  # a conformal method tunes by itself
        train_rows=sum(split_data.learnt_classes.values()),
        train_class_counts=split_data.learnt_classes,
        dropped_rows=split_data.dropped_rows,
        dropped_attributes=split_data.dropped_attributes,
    )
    result.write(task.context.store)
