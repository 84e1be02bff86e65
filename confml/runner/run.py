"""`run`: compute the cells of a plan and store results within about a second."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confml import _jit
from confml._outputs import RUN, WORK, remove_abandoned_files
from confml.config import Config
from confml.config.warnings import unsilenced, warning_texts
from confml.errors import ConfmlError
from confml.methods.base import Method
from confml.methods.registry import method_class
from confml.methods.wrappers import WRAPPERS
from confml.runner.batches import Batches
from confml.runner.engines import Engine, make_engine
from confml.runner.environment import fault_of, guarded
from confml.runner.graph import Schedule, make_tasks
from confml.runner.limits import NO_LIMITS, Limits, limits_of
from confml.runner.manifest import (
    check_folder,
    check_same_run,
    is_current,
    manifest_path,
    new_manifest,
    notes_on,
    origin_of,
    stored_manifest,
    write_manifest,
)
from confml.runner.origins import write_origins
from confml.runner.plan import Cell, Plan, load_datasets, make_plan
from confml.runner.progress import NUMBER, Progress
from confml.runner.provenance import now
from confml.runner.status import State, note_shard, run_state
from confml.runner.store import Store
from confml.runner.tasks import Failure, Outcome, Task, run_tasks
from confml.runner.warm import warm
from confml.runner.warnings import audits, run_warnings
from confml.runner.workspace import Workspace
from confml.steps.base import Step
from confml.steps.registry import step_class

_SECONDS_TO_END = 10.0  # of the background call, after the run


@dataclass(frozen=True)
class Execution:
    """Settings of the computation of the cells of a run.

    jobs: number of tasks at a time. engine, retry_failed, shard, force: as options of ``confml run``; shard
    is a tuple (part, parts). limits: of the tasks whose method has none in the config. forkserver: whether
    worker processes start from a fork server, faster than as new interpreters. It imports the main script of
    this process, so that it is only for the process of a command.
    """

    jobs: int
    engine: str | None = None
    retry_failed: bool = False
    shard: tuple[int, int] | None = None
    limits: Limits = NO_LIMITS
    force: bool = False
    forkserver: bool = False

    @property
    def part(self) -> str | None:
        """The shard as "part/parts"."""
        return f"{self.shard[0]}/{self.shard[1]}" if self.shard else None


def run(
    config: Config,
    out: Path,
    execution: Execution,
    *,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda text: None,
    warn: Callable[[str], None] | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> State:
    """Compute the cells of a config that are not stored in ``out`` and return their state.

    say: called with each message. warn: called with notes on the data and warnings, by default ``say``.
    meanwhile: imports modules that the caller needs later, in a thread while this process waits for workers.

    Raises ConfigErrors or DataError before anything is computed, and EnvironmentFault if an error of the
    machine stops the run. After a KeyboardInterrupt finished cells are kept.
    """
    started, warn = time.monotonic(), warn or say
    engine = make_engine(execution.engine, execution.jobs, execution.forkserver)
    check_limits(config, execution.limits, engine)
    store = Store(Path(out).absolute())  # a method may change the working folder
    if not execution.force:
        check_folder(store.folder, config)
    datasets = load_datasets(config)
    whole = make_plan(config, datasets)
    if not execution.force:
        check_same_run(store, config, whole.cells)
    for data in datasets.values():
        for note in notes_on(data):
            warn(f"{data.name}: {note}")
    audited = audits(whole)
    warnings = run_warnings(whole, audited)
    for text in warning_texts(unsilenced(warnings, config.silence)):
        warn(f"warning: {text}")
    plan = whole.shard(*execution.shard) if execution.shard else whole
    store.make()
    with guarded(store.folder):
        state = run_state(store, plan.cells, execution.retry_failed)
        jobs, shard = execution.jobs, execution.part
        manifest = new_manifest(whole, audited, warnings, jobs=jobs, engine=engine.name, shard=shard)
        for data in datasets.values():
            write_origins(store, data)
        if shard is not None:
            note_shard(store, shard, plan.cells)
        store.sync()
        # A run with nothing to compute leaves times and versions of the one that computed.
        stored = stored_manifest(store.folder)
        is_new = bool(state.left) or not is_current(stored, manifest)
        if is_new:
            manifest["resumed"] = manifest_path(store.folder).is_file()
            manifest |= {} if state.left else origin_of(stored)
            write_manifest(store.folder, manifest)
        if state.done or state.failed:
            text = f"{len(state.done)} of {len(plan.cells)} fits are done already"
            say(text + (f", {len(state.failed)} failed (--retry-failed tries again)" if state.failed else ""))
        done = set(state.done)
        if state.left:
            display = progress or Progress()
            for text in _compute(plan, state, done, store, engine, execution, display, say, meanwhile):
                warn(text)
            if shard is None and not any(store.folder.glob(f"*{WORK}")):  # of other processes
                store.merge()
        else:
            remove_abandoned_files(store.folder, inner=True)
        if is_new and manifest["finished"] is None:
            manifest |= {"finished": now(), "seconds": round(time.monotonic() - started, 3)}
            write_manifest(store.folder, manifest)
        if state.left:
            return run_state(store, plan.cells, done_keys=done)
        return state


def check_limits(config: Config, limits: Limits, engine: Engine) -> None:
    """Raise ConfmlError for limits that the engine or this system cannot enforce."""
    all_limits = [limits, *(limits_of(entry) for entry in config.methods)]
    if any(all_limits) and not engine.has_limits:
        raise ConfmlError(
            "limits of time and memory need the engine joblib, whose worker processes can be stopped",
            hint="leave out --timeout, --memory and limits:, or use --engine joblib",
        )
    if any(limit.memory for limit in all_limits) and sys.platform != "linux":
        raise ConfmlError(
            "memory limits are available on Linux only", hint="leave out --memory and limits: memory"
        )


def _compute(
    plan: Plan,
    state: State,
    done: set[str],
    store: Store,
    engine: Engine,
    execution: Execution,
    progress: Progress,
    say: Callable[[str], None],
    meanwhile: Callable[[], None] | None,
) -> list[str]:
    """Compute the cells that are left, add the keys of those that are stored to ``done``, and return the
    warnings of tasks."""
    steps = sorted({step["name"] for job in plan.jobs for step in job.shared["steps"]})
    methods = sorted({job.entry.name for job in plan.jobs})
    wrappers = sorted({key for job in plan.jobs for key in job.entry.wrappers})
    classes: list[type[Method] | type[Step]] = [*map(step_class, steps), *map(method_class, methods)]
    classes += [WRAPPERS[key] for key in wrappers]
    modules = _modules(methods, classes)
    workspace = Workspace.make(store.folder)
    background = threading.Thread(target=_call_quietly, args=[meanwhile], name="meanwhile", daemon=True)
    try:
        engine.start(modules, workspace.logs)  # they are imported while the kernels are compiled
        warm(plan, say)
        if meanwhile is not None and engine.name != "serial":
            background.start()  # workers start when the modules are imported
        engine.start(modules, workspace.logs, len(state.left))
        files = {}
        for job in plan.jobs:
            if job.dataset not in files and any(cell.key in state.left for cell in job.cells):
                files[job.dataset] = workspace.put_dataset(plan.datasets[job.dataset]).resolve()
        tasks = make_tasks(
            plan,
            set(state.left),
            store.keys("inner"),
            store.folder.resolve(),
            workspace.folder.resolve(),
            files.__getitem__,
            execution.limits,
            engine.workers,
        )
        schedule = Schedule(tasks)
        batches = Batches(schedule, engine.workers, threaded=engine.shares_processors)

        def next_batch() -> tuple[Task, ...] | None:
            batch = batches.next()
            if batch is not None:
                progress.started(batch)
            return batch

        warned: dict[str, list[tuple[str, Task]]] = {}  # by the text without its numbers
        left = len(tasks)
        cells = {cell.key: cell for cell in plan.cells}
        with progress.of(len(tasks), len(state.left)):
            results = engine.run(next_batch, run_tasks, lambda batch: batch[0].context.limits)
            with contextlib.closing(results):
                for batch, result in results:
                    batches.ended(batch)
                    progress.ended(batch)
                    if isinstance(result, BaseException) and len(batch) > 1:
                        batches.put_back(batch)  # to find the task that is to blame
                        continue
                    for task, outcome in _outcomes(batch, result, batches):
                        for text in outcome.warned:
                            warned.setdefault(NUMBER.sub("", text), []).append((text, task))
                        _store_failures(schedule.finish(task, outcome), cells, store, progress)
                        done.update(outcome.done)
                        progress.advance(left - len(schedule), len(outcome.done))
                        left = len(schedule)
                    store.sync()
            if left > len(schedule):  # tasks whose cells had failed
                progress.advance(left - len(schedule), 0)
        progress.print_counts()
        return [
            f"warning in {len({id(task) for _, task in those})} of {len(tasks)} tasks, such as "
            f"{those[0][1].cells[0].title}: {those[0][0]}"
            for _, those in sorted(warned.items())
        ]
    finally:
        engine.stop()
        logs = store.folder / RUN / "logs"
        if workspace.keep_logs(logs):
            say(f"output of methods is in {logs}")
        workspace.remove()
        if background.ident is not None:  # no thread imports a module while the process ends
            background.join(_SECONDS_TO_END)


def _call_quietly(function: Callable[[], None]) -> None:
    """Call a function that imports modules; whoever needs them has the error of an import again."""
    with contextlib.suppress(Exception):
        function()


def _modules(names: Iterable[str], classes: Iterable[type[Method] | type[Step]]) -> list[str]:
    """Return the modules that workers import before their first task: those of confml and scikit-learn.

    names: of the methods. Modules of other packages are imported by the task that needs them, which fails
    alone if they cannot be.
    """
    modules = [run_tasks.__module__, *(name.rpartition(".")[0] for name in names)]
    modules += [kind.__module__ for kind in classes]
    if _jit.is_used():
        modules.append("confml.runner.first_kernel")
    return [name for name in dict.fromkeys(modules) if name.partition(".")[0] in ("confml", "sklearn")]


def _outcomes(batch: Sequence[Task], result: Any, batches: Batches) -> Iterator[tuple[Task, Outcome]]:
    """Yield the tasks of a batch that were run with their outcomes; raise the fault that stops the run.

    result: of `run_tasks`, or an exception.
    """
    if isinstance(result, BaseException):
        limits = batch[0].context.limits
        failed = tuple(Failure.of(cell.key, result, limits) for cell in batch[0].cells)
        outcomes = [Outcome(failed=failed, fault=fault_of(result))]
    else:
        outcomes, seconds = result
        batches.took(batch, seconds)
    for task, outcome in zip(batch, outcomes, strict=False):
        if outcome.fault is None:
            yield task, outcome
    if outcomes[-1].fault is not None:
        raise outcomes[-1].fault


def _store_failures(
    failures: Sequence[Failure], cells: Mapping[str, Cell], store: Store, progress: Progress
) -> None:
    """Store and print new failures."""
    for failure in failures:
        cell = cells[failure.key]
        document = {"cell": cell.as_dict(), "error": failure.error, "traceback": failure.traceback}
        store.write("failures", failure.key, document)
        progress.failed(cell, failure.error, failure.traceback)
