"""Methods: one file each. `Method` is the contract, for other packages' methods too; see ``_template.py``."""

from confml.methods.base import Method, Views

__all__ = ["Method", "Views"]
