"""Methods: a file or a folder each. `Method` is the public contract, ``_template.py`` an example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confml.methods.base import Method as Method
    from confml.methods.base import Views as Views

__all__ = ["Method", "Views"]


def __getattr__(name: str) -> Any:
    """Import the contract when it is first used: a stored model needs no scikit-learn."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from confml.methods import base

    return getattr(base, name)
