"""Where confml keeps what it can make or fetch again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The user's cache of confml: ``CONFML_CACHE``, else the system's place for caches."""
    given = os.environ.get("CONFML_CACHE")
    if given:
        return Path(given)
    from pooch import os_cache

    return Path(os_cache("confml"))
