"""Compilation of kernels before a run, so that its workers load them from disk."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias, Union

from confml import _jit
from confml._cache import cache_folder
from confml.methods.base import Method
from confml.steps.base import Step

if TYPE_CHECKING:  # its package imports all estimators
    from confml.bayes_error.compilation import BayesErrorKernels

Kind: TypeAlias = Union[type[Method], type[Step], "type[BayesErrorKernels]"]
_SECONDS = "up to a minute on an idle machine"
ANY_SHAPE = ((10**9, 1), (10**9, 1000))  # rows and features that need all kernels


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


def compile_all_kernels(kinds: Iterable[Kind], say: Callable[[str], None]) -> None:
    """Compile the kernels of classes that are not yet compiled."""
    for kind in kinds:
        if not has_kernels(kind) or _jit.kernels_are_compiled(name_of(kind)):
            continue
        say(f"compiling kernels of {name_of(kind)}{_how_often()} ({_SECONDS})")
        seconds = _compile(kind)
        if seconds > 1:
            say(f"compiled in {seconds:.0f} s")


def _compile(kind: Kind) -> float:
    """Compile the kernels of a class and return the seconds that this took."""
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits to a few rows, which compile the kernels
        kind.compile_kernels()
    _jit.mark_kernels_compiled(name_of(kind))
    return time.monotonic() - started


def _how_often() -> str:
    if _jit.is_cache_kept():
        return ", once per machine"
    return f", for this run only: {cache_folder()} is not writable, or other users can write there"
