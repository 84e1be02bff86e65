"""`run`: carry a plan out, keeping every result the moment it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from confml._cache import cache_folder
from confml.config import Config
from confml.errors import ConfmlError
from confml.methods.base import Method
from confml.methods.registry import method_class
from confml.runner.engines import make_engine
from confml.runner.graph import Schedule, make_tasks
from confml.runner.manifest import new_manifest, notes_on, write_manifest
from confml.runner.plan import Plan, load_datasets, make_plan
from confml.runner.progress import Progress
from confml.runner.provenance import now
from confml.runner.store import Store
from confml.runner.tasks import Failure, Outcome, run_task
from confml.runner.workspace import Workspace
from confml.steps.base import Step
from confml.steps.registry import step_class


@dataclass(frozen=True)
class State:
    """How far a plan's cells are in a folder: keys that are done, failed (and not to be retried), left."""

    done: frozenset[str]
    failed: frozenset[str]
    left: frozenset[str]


def run_state(store: Store, keys, retry_failed: bool = False) -> State:
    """Look which of the cells ``keys`` are stored whole; damaged ones count as left."""
    keys = frozenset(keys)
    done = frozenset(key for key in keys & store.keys("cells") if store.sound("cells", key))
    failed = frozenset() if retry_failed else (keys & store.keys("failures")) - done
    return State(done, failed, keys - done - failed)


def run(
    config: Config,
    out: Path,
    *,
    jobs: int,
    engine: str | None = None,
    scheduler: str | None = None,
    retry_failed: bool = False,
    shard: tuple[int, int] | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> State:
    """Compute the cells of a config that ``out`` does not hold yet. Returns how far they are afterwards.

    Raises ConfigErrors or DataError before anything is computed; a KeyboardInterrupt leaves all that is done.
    """
    started = time.monotonic()
    worker_engine = make_engine(engine, jobs, scheduler)
    datasets = load_datasets(config)
    whole = make_plan(config, datasets)
    for data in datasets.values():
        for note in notes_on(data):
            say(f"{data.name}: {note}")
    plan = whole.shard(*shard) if shard else whole
    store = Store(out)
    store.make()
    state = run_state(store, (cell.key for cell in plan.cells), retry_failed)
    manifest = new_manifest(
        whole,
        jobs=jobs,
        engine=type(worker_engine).__name__.removesuffix("Engine").lower(),
        shard=f"{shard[0]}/{shard[1]}" if shard else None,
    )
    write_manifest(out, manifest)
    if state.done or state.failed:
        kept = f"{len(state.done)} of {len(plan.cells)} cells are done already"
        say(kept + (f", {len(state.failed)} failed (--retry-failed tries again)" if state.failed else ""))
    if state.left:
        _compute(plan, state, store, worker_engine, progress or Progress(), say)
    manifest |= {"finished": now(), "seconds": round(time.monotonic() - started, 3)}
    write_manifest(out, manifest)
    return run_state(store, (cell.key for cell in plan.cells))


def _compute(plan: Plan, state: State, store: Store, engine, progress: Progress, say) -> None:
    steps = sorted({step["name"] for job in plan.jobs for step in job.identity["steps"]})
    methods = sorted({job.entry.name for job in plan.jobs})
    warm_kernels([*map(step_class, steps), *map(method_class, methods)], say)
    workspace = Workspace.make(store.folder)
    try:
        folders = {}
        for job in plan.jobs:
            if job.dataset not in folders and any(cell.key in state.left for cell in job.cells):
                folders[job.dataset] = workspace.put_dataset(plan.datasets[job.dataset]).resolve()
        tasks = make_tasks(
            plan,
            set(state.left),
            {key for key in store.keys("inner") if store.sound("inner", key)},
            store.folder.resolve(),
            workspace.folder.resolve(),
            folders.__getitem__,
        )
        for key in state.left:  # what was stored of them is stale: a failure to retry, a damaged record
            store.remove("failures", key)
        schedule = Schedule(tasks)
        cells = {cell.key: cell for cell in plan.cells}
        warned: dict[str, list] = {}
        with progress.of(len(tasks), len(state.left)):
            for task, outcome in engine.run(schedule.feed, run_task):
                if isinstance(outcome, BaseException):
                    outcome = Outcome(failed=tuple(Failure.of(cell.key, outcome) for cell in task.cells))
                for text in outcome.warned:
                    warned.setdefault(text, []).append(task)
                before = len(schedule)
                for failure in schedule.finish(task, outcome):
                    cell = cells[failure.key]
                    document = {
                        "cell": cell.as_dict(),
                        "error": failure.error,
                        "traceback": failure.traceback,
                    }
                    store.write("failures", failure.key, document)
                    progress.failed(f"{cell.words}: {failure.error}")
                progress.advance(before - len(schedule), len(outcome.done))
        for text, those in sorted(warned.items()):
            say(f"warning in {len(those)} of {len(tasks)} tasks, as {those[0].cells[0].words}: {text}")
    finally:
        workspace.remove()


def has_kernels(kind: type[Method] | type[Step]) -> bool:
    """Whether a method or step has anything to compile."""
    return kind.warm.__func__ not in (Method.warm.__func__, Step.warm.__func__)


def warm_kernels(kinds: Iterable[type[Method] | type[Step]], say: Callable[[str], None]) -> None:
    """Compile the kernels of methods and steps here, so that no two workers compile the same one."""
    from confml import _jit

    for kind in kinds:
        if not has_kernels(kind) or _jit.is_warm(kind.name):
            continue
        started = time.monotonic()
        once = (
            ", once"
            if _jit.is_cache_kept()
            else f", for this run only: {cache_folder()} is not writable, or other users can write there"
        )
        say(f"compiling kernels of {kind.name}{once}")
        kind.warm()
        _jit.mark_warm(kind.name)
        if time.monotonic() - started > 1:
            say(f"compiled in {time.monotonic() - started:.0f} s")


def parse_shard(text: str) -> tuple[int, int]:
    """``3/16`` as (3, 16); raises ConfmlError for anything else."""
    index, slash, count = text.partition("/")
    if not (slash and index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise ConfmlError(f"--shard must be like 3/16, from 1/16 to 16/16, got {text!r}")
    return int(index), int(count)
