"""Compilation of kernels before a run, so that its workers load them from disk."""

from __future__ import annotations

import contextlib
import inspect
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from confml import _jit
from confml._cache import cache_folder
from confml._processes import each
from confml.methods.base import Method
from confml.steps.base import Step

if TYPE_CHECKING:  # its package imports all estimators
    from confml.bayes_error.compilation import BayesErrorKernels

Kind: TypeAlias = Union[type[Method], type[Step], "type[BayesErrorKernels]"]
_SECONDS = "up to a minute on an idle machine"
ANY_SHAPE = ((10**9, 1), (10**9, 1000))  # rows and features that need all kernels
NAMED = 6  # classes that a message names; with more, it counts them


def has_kernels(kind: Kind) -> bool:
    """Return whether a class overrides `compile_kernels`, because it has kernels to compile."""
    inherited = [vars(base)["compile_kernels"] for base in (Method, Step)]
    return inspect.getattr_static(kind, "compile_kernels") not in inherited


def kernels_for(
    kinds: Iterable[Kind], online: bool = True, shapes: Iterable[tuple[int, int]] = ANY_SHAPE
) -> list[Kind]:
    """Return classes and their `Method.further_kernels`, by default those for all data."""
    kinds, shapes = list(kinds), list(shapes)
    methods = [kind for kind in kinds if issubclass(kind, Method)]
    further = [one for kind in methods for one in kind.further_kernels(online, shapes)]
    return [*kinds, *dict.fromkeys(further)]


def name_of(kind: Kind) -> str:
    """Return the name of a class in configs, or the key of a wrapper or of a set of kernels."""
    return kind.key if hasattr(kind, "key") else kind.name


def compile_all_kernels(kinds: Iterable[Kind], say: Callable[[str], None], jobs: int = 1) -> None:
    """Compile the kernels of classes that are not yet compiled, in up to ``jobs`` processes.

    Kernels of classes outside confml are compiled in this process, where their modules are known.
    """
    left = [kind for kind in kinds if has_kernels(kind) and not _jit.kernels_are_compiled(name_of(kind))]
    own = [kind for kind in left if kind.__module__.startswith("confml.")]
    if jobs > 1 and len(own) > 1:
        _compile_in_processes(own, say, min(jobs, len(own)))
    for kind in left:
        if _jit.kernels_are_compiled(name_of(kind)):
            continue
        say(f"compiling kernels of {name_of(kind)}{_how_often()} ({_SECONDS})")
        seconds = _compile(kind)
        if seconds > 1:
            say(f"compiled in {seconds:.0f} s")


def _compile_in_processes(kinds: list[Kind], say: Callable[[str], None], jobs: int) -> None:
    """Compile in processes and leave what fails to the caller, whose error is the one to show."""
    started = time.monotonic()
    few = ", ".join(name_of(kind) for kind in kinds) if len(kinds) <= NAMED else None
    names = few or f"{len(kinds)} methods, steps and estimates"
    say(f"compiling kernels of {names}{_how_often()}, in {jobs} processes")
    largest_first = sorted(kinds, key=_size_of_kernels, reverse=True)
    with contextlib.suppress(Exception):  # a process died
        for _ in each(_try_to_compile, largest_first, jobs):
            pass
    say(f"compiled in {time.monotonic() - started:.0f} s")


def _try_to_compile(kind: Kind) -> None:
    with contextlib.suppress(Exception):
        _compile(kind)


def _compile(kind: Kind) -> float:
    """Compile the kernels of a class and return the seconds that this took."""
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits to a few rows, which compile the kernels
        kind.compile_kernels()
    _jit.mark_kernels_compiled(name_of(kind))
    return time.monotonic() - started


def _size_of_kernels(kind: Kind) -> int:
    """Return the bytes of the kernel modules beside a class: the largest are compiled first."""
    return sum(path.stat().st_size for path in Path(inspect.getfile(kind)).parent.glob("_kernels*.py"))


def _how_often() -> str:
    if _jit.is_cache_kept():
        return ", once per machine"
    return f", for this run only: {cache_folder()} is not writable, or other users can write there"
