"""Methods: a file or a folder each. `Method` is the public contract, ``_template.py`` an example."""

from confml.methods.base import Method, Views

__all__ = ["Method", "Views"]
