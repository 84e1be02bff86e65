"""What a worker executes: a path of parameters on one training set, an inner fold, a shared state, a join.

A task is a small specification; the worker loads the data itself, and writes what it finds into the store.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from confml._seeds import stable_generator
from confml.config.limits import NO_LIMITS, Limits
from confml.errors import ConfmlError, printable
from confml.measures.selection import inner_score
from confml.methods.base import Views
from confml.methods.registry import build
from confml.runner.check_views import check_blocks, check_points, check_views
from confml.runner.environment import EnvironmentFault, fault_of
from confml.runner.parts import Parts
from confml.runner.plan import Cell
from confml.runner.results import CellResult, join_blocks, views_from_arrays, views_to_arrays
from confml.runner.splits import Split, split_identity
from confml.runner.store import Store
from confml.runner.tuning import choose
from confml.runner.workspace import Workspace

_SECONDS = "confml.seconds"  # a shared state's own cost, beside its arrays
LONGEST_ERROR, LONGEST_TRACEBACK = 500, 20_000  # characters that are kept
# A method that ends its process by these ends its cell alone. KeyboardInterrupt is the user's, or, in a
# worker process, goes back to the engine as the result of the task.
METHOD_EXITS = (SystemExit, GeneratorExit)


@dataclass(frozen=True)
class Setting:
    """What the tasks of one job share: where things lie, and data, split, noise, steps and method."""

    run_folder: Path
    work_folder: Path
    data_folder: Path
    checksum: str
    protocol: Any
    split: Split
    steps: tuple[tuple[str, Mapping[str, Any]], ...]
    noise: Mapping[str, Any] | None
    seed: int
    method: str
    select_by: str = "accuracy"
    limits: Limits = NO_LIMITS

    def generator(self, *purpose: Any) -> np.random.Generator:
        """The generator of this data, split and method for one purpose."""
        split = split_identity(self.protocol, self.split)
        return stable_generator("method", self.seed, self.checksum, split, self.method, *purpose)


@dataclass(frozen=True)
class Task:
    """One piece of work for the ``cells`` that hang on it.

    kind: ``path`` fills cells, or one block of their test examples; ``inner`` scores a grid on one inner
    fold; ``prepare`` makes the state that other tasks share; ``join`` puts the blocks of cells together.
    grid: complete parameters; for a path one point a cell, or the tune grid where ``inner`` names the
    records that the point is chosen by. block: (start, stop, number) of the test examples.
    state: identity of the ``prepare`` task. needs: identities of the tasks to be done before.
    """

    identity: str
    kind: str
    setting: Setting
    cells: tuple[Cell, ...]
    grid: tuple[Mapping[str, Any], ...]
    inner: tuple[str, ...] = ()
    fold: int | None = None
    block: tuple[int, int, int] | None = None
    blocks: int = 0
    state: str | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed: the error in words, and its traceback for those who want it."""

    key: str
    error: str
    traceback: str

    @classmethod
    def of(cls, key: str, error: BaseException, limits: Limits = NO_LIMITS) -> Failure:
        """The failure of a cell by an error, as text that every terminal and file can hold."""
        if isinstance(error, MemoryError) and limits.memory is not None:
            words: object = limits.memory_message
        elif isinstance(error, ConfmlError):
            words = error
        else:
            words = f"{type(error).__name__}: {printable(error)}"
        try:
            told = "".join(traceback.format_exception(error))
        except Exception:
            told = ""
        return cls(key, printable(words, LONGEST_ERROR), printable(told, LONGEST_TRACEBACK))


@dataclass(frozen=True)
class Outcome:
    """The result of a task: the keys of cells now stored, the failures, and the warnings of libraries.

    fault: the reason why the run cannot go on, where that is not the method's fault.
    """

    done: tuple[str, ...] = ()
    failed: tuple[Failure, ...] = ()
    warned: tuple[str, ...] = ()
    fault: EnvironmentFault | None = None


def run_task(task: Task) -> Outcome:
    """Execute a task on one thread; an error becomes a failure of its cells, never an exception.

    An error of the environment (a full disk, say) becomes the outcome's fault. A method that changes the
    working folder changes it for itself alone.
    """
    from threadpoolctl import threadpool_limits

    # Products and decompositions differ in their last bits between one and two BLAS threads.
    with _same_folder(), threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            outcome = _KINDS[task.kind](task)
        except (Exception, *METHOD_EXITS) as error:
            fault = fault_of(error)
            limits = task.setting.limits
            failed = () if fault else tuple(Failure.of(cell.key, error, limits) for cell in task.cells)
            outcome = Outcome(failed=failed, fault=fault)
    # The first paragraph says what; the rest is advice on how to call the library.
    texts = {f"{one.category.__name__}: {printable(one.message).partition(chr(10))[0]}" for one in caught}
    return replace(outcome, warned=tuple(sorted(printable(text, LONGEST_ERROR) for text in texts)))


@contextlib.contextmanager
def _same_folder() -> Iterator[None]:
    """Go back to the working folder of before."""
    try:
        before = os.getcwd()
    except OSError:  # it was removed
        before = None
    try:
        yield
    finally:
        if before is not None:
            with contextlib.suppress(OSError):
                os.chdir(before)


def _run_path(task: Task) -> Outcome:
    """Fill cells, or make the pieces of one block of their test examples."""
    parts = Parts.outer(task.setting, task.grid)
    start, stop, number = task.block or (0, len(parts.test_rows), None)
    workspace = Workspace(task.setting.work_folder)
    state = None
    if task.state:
        state = workspace.get_arrays("state", task.state)
        state.pop(_SECONDS)
    points, tuning = _points(task)
    rng = task.setting.generator("path", number)
    done, failed = [], []
    for cell, views in zip(
        task.cells, _evaluate(task, parts, parts.X_test[start:stop], points, rng, state or None), strict=True
    ):
        if isinstance(views, BaseException):
            failed.append(Failure.of(cell.key, views, task.setting.limits))
        elif task.block:
            workspace.put_arrays("pieces", f"{cell.key}-{number}", views_to_arrays(views))
        else:
            _keep(task, cell, parts, views, tuning)
            done.append(cell.key)
    return Outcome(tuple(done), tuple(failed))


def _run_inner(task: Task) -> Outcome:
    """Score every point of a tune grid on one inner fold, and keep the scores."""
    setting = task.setting
    assert task.fold is not None  # set for every inner task
    parts = Parts.inner(setting, task.fold, task.grid)
    state = None
    if task.state and parts.outer_positions is not None:
        outer = Workspace(setting.work_folder).get_arrays("state", task.state)
        outer.pop(_SECONDS)
        state = (
            build(setting.method, task.grid[0]).subset_state(outer, parts.outer_positions) if outer else None
        )
    scores: list[float | None] = []
    errors: set[str] = set()
    seconds = 0.0
    rng = setting.generator("inner", task.fold)
    for views in _evaluate(task, parts, parts.X_test, task.grid, rng, state):
        if isinstance(views, BaseException):
            scores.append(None)
            errors.add(Failure.of("", views, setting.limits).error)
        else:
            first = next(iter(views.values()))
            scores.append(inner_score(first.labels, parts.y_test, setting.select_by))
            seconds += views.fit_seconds + views.predict_seconds
    document = {
        "method": setting.method,
        "fold": task.fold,
        "select_by": setting.select_by,
        "grid": [dict(point) for point in task.grid],
        "scores": scores,
        "errors": sorted(errors),
        "seconds": seconds,
    }
    Store(setting.run_folder).write("inner", task.identity, document)
    return Outcome()


def _run_prepare(task: Task) -> Outcome:
    """Make the state of an outer training set that the other tasks of its cells share."""
    parts = Parts.outer(task.setting, task.grid)
    points = parts.with_nominal_columns(_points(task)[0])
    started = time.thread_time()
    state = build(task.setting.method, points[0]).prepare(parts.X, parts.y, points)
    seconds = np.array(time.thread_time() - started)
    Workspace(task.setting.work_folder).put_arrays(
        "state", task.identity, {**(state or {}), _SECONDS: seconds}
    )
    return Outcome()


def _run_join(task: Task) -> Outcome:
    """Put the blocks of cells together and keep the cells."""
    workspace = Workspace(task.setting.work_folder)
    parts = Parts.outer(task.setting, task.grid)
    _, tuning = _points(task)
    shared = float(workspace.get_arrays("state", task.state)[_SECONDS]) if task.state else 0.0
    done, failed = [], []
    for cell in task.cells:
        names = [f"{cell.key}-{number}" for number in range(task.blocks)]
        if not all(workspace.has("pieces", name) for name in names):
            error = ConfmlError("a chunk of its test examples failed")  # the chunk's own failure came first
            failed.append(Failure.of(cell.key, error))
            continue
        blocks = [views_from_arrays(workspace.get_arrays("pieces", name)) for name in names]
        check_blocks(task.setting.method, blocks)
        views = join_blocks(blocks)
        views.fit_seconds += shared / len(task.cells)
        views.prepare_seconds += shared / len(task.cells)
        _keep(task, cell, parts, views, tuning)
        done.append(cell.key)
        for name in names:
            workspace.drop("pieces", name)
    return Outcome(tuple(done), tuple(failed))


_KINDS = {"path": _run_path, "inner": _run_inner, "prepare": _run_prepare, "join": _run_join}


def _points(task: Task) -> tuple[Sequence[Mapping[str, Any]], dict | None]:
    """The points to evaluate, one a cell: the grid's own, or the one that the inner folds choose."""
    if not task.inner:
        return task.grid, None
    point, tuning = choose(Store(task.setting.run_folder), task.inner, task.grid, task.setting.select_by)
    return [point], tuning


def _evaluate(task: Task, parts: Parts, X_test, points, rng, state) -> list[Views | BaseException]:
    """The checked views of a method at each point, or the error of that point.

    Where a path of several points breaks off, the points left are evaluated one by one.
    """
    told = parts.with_nominal_columns(points)
    classes = np.unique(parts.data.y)
    outcomes: list[Views | BaseException] = []
    method = parts.method(told[0])
    try:
        if task.setting.split.kind == "online":
            path = method.evaluate_online(parts.X, parts.y, X_test, parts.y_test, classes, told, rng)
        else:
            path = method.evaluate_path(parts.X, parts.y, X_test, told, rng, state)
        for _, views in path:
            check_points(task.setting.method, max(len(outcomes) + 1, len(points)), len(points))
            views = check_views(views, task.setting.method, len(X_test), classes)
            views.fit_metrics.update(parts.step_metrics)
            outcomes.append(views)
        check_points(task.setting.method, len(outcomes), len(points))
    except (Exception, *METHOD_EXITS) as error:
        if fault := fault_of(error):
            raise fault from error
        if len(points) == 1 or len(outcomes) == len(points):
            return [error] * len(points)
        for point in points[len(outcomes) :]:
            outcomes += _evaluate(task, parts, X_test, [point], rng, state)
    return outcomes


def _keep(task: Task, cell: Cell, parts: Parts, views: Views, tuning: dict | None) -> None:
    """Store a finished cell."""
    learnt = parts.y
    if task.setting.split.kind == "online":  # by the last step
        learnt = np.concatenate([parts.y, parts.y_test[:-1]])
    labels, counts = np.unique(learnt, return_counts=True)
    details = views.fit_details
    views.fit_details = dataclasses.replace(details, tuning=None)
    result = CellResult(
        cell=cell,
        truth=np.asarray(parts.y_test),
        rows=parts.reported_rows,
        views=views,
        tuning=tuning or details.tuning,  # the latter of a conformal method
        train_rows=len(learnt),
        train_class_counts=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
        dropped_rows=parts.dropped_rows,
        dropped_attributes=parts.dropped_attributes,
    )
    result.write(Store(task.setting.run_folder))
