"""The YAML reader of configs and cards: one grammar, one set of messages, every value with its place."""

from confml.yaml.nodes import Node, spelling
from confml.yaml.problems import Mark, Problems
from confml.yaml.reader import Document, parse, read_file
from confml.yaml.wording import flow, got

__all__ = ["Document", "Mark", "Node", "Problems", "flow", "got", "parse", "read_file", "spelling"]
