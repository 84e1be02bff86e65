"""Docstrings: public functions name the errors that they raise."""

import ast
import re

from documentation.blocks import ROOT

FILES = sorted((ROOT / "confml").rglob("*.py"))


def definitions(node):
    """Yield the functions and classes of a tree with a docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(
            child
        ):
            yield child
        yield from definitions(child)


RAISED = re.compile(
    r"\b(Config|Data|Confml|Value|Type|Grid)Errors?$|^(UnknownParameter|MissingParameter|BadValue)$"
)


def raised(node):
    """Yield the names of the errors for callers that a function raises itself."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise) and child.exc is not None:
            name = ast.unparse(child.exc.func if isinstance(child.exc, ast.Call) else child.exc)
            yield from [name] if RAISED.search(name) else []
        elif not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from raised(child)


def test_public_functions_say_which_errors_they_raise():
    """Texts of commands are for users, and an override without a docstring has the one of its base class."""
    wrong = []
    for path in FILES:
        if "commands" in path.parts:
            continue
        for node in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and any(raised(node)):
                text = ast.get_docstring(node)
                if not re.search(r"\b[Rr]aises?\b|\b\w+Errors?\b", text):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {set(raised(node))}")
    assert not wrong, "\n".join(wrong)
