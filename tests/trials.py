"""Cases of `make test-all` that `make test` leaves out: `more_of` marks them (see conftest.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def more_of(cases: Iterable[Any]) -> list[Any]:
    """Return cases of a parametrised test that run only with ``--exhaustive``."""
    return [pytest.param(case, marks=pytest.mark.exhaustive) for case in cases]


def is_variant_with_files(check: Any) -> bool:
    """Return whether a check of scikit-learn is another one with read-only files.

    Large kernels are compiled once more for read-only arrays, and many machines are fitted. `make test` has
    the same check without read-only files, and `check_readonly_memmap_input`.
    """
    return bool(getattr(check, "keywords", {}).get("readonly_memmap"))
