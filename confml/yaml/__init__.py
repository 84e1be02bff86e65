"""A YAML reader with positions, because PyYAML's constructors lose the lines and columns that messages name.

PyYAML scans and composes the text. Its constructors also read ``no`` as false and ``1e-3`` as text, and
accept repeated keys.
"""

from confml.yaml.located import Located, Mark, Problems, error_at, spelling
from confml.yaml.reader import parse, read_file
from confml.yaml.wording import flow, got

__all__ = ["Located", "Mark", "Problems", "error_at", "flow", "got", "parse", "read_file", "spelling"]
