"""Cases of `make test-all`: `more_of` marks them, and `make test` leaves them out (see conftest.py)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def more_of(cases: Iterable[Any]) -> list[Any]:
    """Return cases of a parametrised test that run only with ``--exhaustive``."""
    return [pytest.param(case, marks=pytest.mark.exhaustive) for case in cases]
