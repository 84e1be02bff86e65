"""Kernels are compiled before workers start, by fits to a few rows; numba keeps them on disk.

Kernels that only larger data sets need are compiled by the first task that calls them.
"""

import contextlib
import hashlib
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from confml import _jit
from confml._cache import cache_folder
from confml._threads import one_thread_per_library
from confml.config import make_config
from confml.data.dataset import DataSet
from confml.methods.registry import known_methods, method_class
from confml.plugins.by import BEST_OF, named
from confml.runner.plan import Plan, load_datasets, make_plan, steps_for
from confml.runner.provenance import machine
from confml.runner.split_data import SplitData
from confml.runner.splits import split_rows
from confml.runner.tasks import TaskContext
from confml.runner.worker import stdout_on_stderr
from confml.steps.registry import known_steps, step_class

ROWS = 20
_SECONDS = 1.0  # after which a message says what takes so long
Say = Callable[[str], None]


def warm(plan: Plan, say: Say) -> None:
    """Fit each method of a plan to a few rows of each data set, unless that was done before."""
    jobs = {(job.dataset, id(job.entry)): job for job in reversed(plan.jobs)}  # the first of each method
    for job in jobs.values():
        data = plan.datasets[job.dataset]
        train, test = split_rows(data, plan.config.protocol, job.split, plan.config.seed)
        rows = np.concatenate([train, test]) if job.split.kind == "online" else train
        steps = steps_for(plan.config, data)
        context = TaskContext(data.checksum, plan.config.protocol, job.split, steps, job.entry.name)
        points = [{**cell.params, **point} for cell in job.cells for point in job.entry.tune_grid()]
        for point in {repr(_choices(point)): point for point in reversed(points)}.values():
            warm_method(context, data, rows, point, say)


def _choices(point: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the parameters of a point that may choose kernels: numbers do not."""
    return sorted((name, value) for name, value in point.items() if isinstance(value, str | bool))


def warm_method(
    context: TaskContext, data: DataSet, rows: np.ndarray, point: Mapping[str, Any], say: Say
) -> None:
    """Fit a method of confml to a few of these rows of a data set and predict two, unless that was done.

    Methods of other packages run in workers only, which they may end; steps of other packages are left out. A
    method that cannot be fitted to so few rows compiles its kernels in the run.
    """
    candidates = (named(candidate)[0] for candidate in point.get(BEST_OF) or ())
    if not all(_is_of_confml(name, method_class) for name in (context.method, *candidates)):
        return
    own_steps = tuple((name, params) for name, params in context.steps if _is_of_confml(name, step_class))
    context, steps = replace(context, steps=own_steps), [name for name, _ in own_steps]
    key = context.method, _choices(point), steps, context.split.kind, data.table.shape[1]
    with _once(repr(key), context.method, say) as is_new:
        if is_new:
            _fit(context, data, _few(data, rows), point)


def _is_of_confml(name: str, class_of: Callable[[str], type]) -> bool:
    return "." not in name and class_of(name).__module__.startswith("confml.")


def _few(data: DataSet, rows: np.ndarray) -> np.ndarray:
    """Return ROWS of the rows, as evenly from the classes as they allow, in their order."""
    import pandas as pd

    codes = np.unique(data.y[rows], return_inverse=True)[1]
    rank_in_class = pd.Series(codes).groupby(codes).cumcount()
    return rows[np.sort(np.lexsort((codes, rank_in_class))[:ROWS])]


def _fit(context: TaskContext, data: DataSet, rows: np.ndarray, point: Mapping[str, Any]) -> None:
    online = context.split.kind == "online"
    train, test = (rows[:2], rows[2:]) if online else (rows, rows[:2])
    parts = SplitData(context, data, train, test, grid=[point])
    for _ in parts.evaluate(parts.with_nominal_columns([point]), np.random.default_rng(0)):
        pass


def warm_bayes_errors(say: Say) -> None:
    """Estimate Bayes errors of a few rows, unless that was done before."""
    from confml.bayes_error.rates import bayes_errors

    with _once("bayes errors", "Bayes error estimates", say) as is_new:
        if is_new:
            # many features; few features and many rows
            for n, d in ((300, 20), (6600, 2)):
                X = np.random.default_rng(0).random((n, d))
                bayes_errors(X, np.arange(n) % 3)


def warm_all(say: Say) -> None:
    """Warm all methods with their default parameters, the wrappers of methods, all steps and Bayes errors."""
    names = [name for name, kind in known_methods().items() if not kind.takes_rows and "." not in name]
    wrappers = {"conformal": "split", "venn": "inductive"}
    wrapped = [{"name": "naive-bayes", key: kind} for key, kind in wrappers.items()]
    online = [name for name in names if hasattr(method_class(name), "evaluate_online")]
    configs: list[dict[str, Any]] = [{"methods": [name]} for name in (*names, *wrapped)]
    configs += [{"methods": [name], "protocol": "online"} for name in online]
    configs += [{"methods": ["naive-bayes"], "steps": [name]} for name in known_steps()]
    for values in configs:
        with contextlib.suppress(Exception):  # a step that needs parameters
            config = make_config({"name": "warm", "datasets": ["iris"], "protocol": "holdout", **values})
            warm(make_plan(config, load_datasets(config)), say)
    warm_bayes_errors(say)


@contextlib.contextmanager
def _once(key: str, name: str, say: Say) -> Iterator[bool]:
    """Yield whether the block has not run before with this key, processor and cache of kernels.

    Its errors and warnings are ignored, and a message is printed after a second.
    """
    digest = hashlib.sha256(f"{machine()['processor']} {key}".encode()).hexdigest()[:16]
    stamp = _jit.cache_dir() / f"warm-{digest}"
    if stamp.exists():
        yield False
        return
    how = "once per machine"
    if not _jit.is_cache_kept():
        how = f"for this command only: {cache_folder()} is not writable, or other users can write there"
    message = threading.Timer(_SECONDS, say, [f"compiling kernels of {name}, {how} (up to a minute)"])
    message.daemon = True
    message.start()
    try:
        with warnings.catch_warnings(), stdout_on_stderr(), one_thread_per_library():
            warnings.simplefilter("ignore")
            with contextlib.suppress(Exception):
                yield True
    finally:
        message.cancel()
    with contextlib.suppress(OSError):
        stamp.touch()
