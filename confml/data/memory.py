"""Memory: refuse what does not fit before it is taken."""

import contextlib
import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from confml.errors import DataError

SMALL = 1 << 26  # bytes that always fit
LARGE = 1 << 30  # bytes from which a warning says what is taken


def most(name: str, default: int) -> int:
    """Return a limit: the environment variable ``CONFML_MOST_<NAME>``, or else ``default``."""
    limit = os.environ.get(f"CONFML_MOST_{name}", "")
    return int(limit) if limit.isdecimal() else default


def raised_by(name: str) -> str:
    """Return the hint that says how a limit is raised."""
    return f"if this is correct, raise the limit: CONFML_MOST_{name}"


def check_width(columns: int, where: str) -> None:
    """Raise DataError for more columns than the limit."""
    if columns > (limit := most("COLUMNS", 100_000)):
        message = f"{columns:,} columns are more than the limit of {limit:,}"
        raise DataError(message, where=where, hint=raised_by("COLUMNS"))


def available_memory() -> int | None:
    """Return bytes that this machine can still give, or None where that is not known."""
    with contextlib.suppress(OSError):
        numbers = re.search(r"MemAvailable:\s*(\d+)", Path("/proc/meminfo").read_text(encoding="ascii"))
        return int(numbers[1]) * 1024 if numbers else None
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def require_memory(count: int, purpose: str, *, where: str | None = None, hint: str | None = None) -> None:
    """Raise DataError where ``count`` bytes for ``purpose`` are more than half of the available memory.

    Warn (UserWarning) from `LARGE` bytes on.
    """
    available = available_memory() if count > SMALL else None
    if available is not None and 2 * count > available:
        message = f"{purpose} takes {gigabytes(count)} of memory; {gigabytes(available)} are available"
        raise DataError(message, where=where, hint=hint)
    if count >= LARGE:
        warnings.warn(f"{purpose} takes {gigabytes(count)} of memory", UserWarning, stacklevel=2)


def is_sparse(X: Any) -> bool:
    """Return whether examples X are a sparse matrix of scipy."""
    return hasattr(X, "toarray")


def dense(X: Any) -> np.ndarray:
    """Return examples X (n, d) as an array; they may be sparse."""
    if not is_sparse(X):
        return X
    entries, array = X.tocoo(), np.zeros(X.shape)
    array[entries.row, entries.col] = entries.data  # toarray() makes 0 of -0, which checksums tell apart
    return array


def gigabytes(count: int) -> str:
    """Return ``3.7 GB``."""
    return f"{count / 1e9:.1f} GB"
