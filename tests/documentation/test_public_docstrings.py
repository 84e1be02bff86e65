"""Docstrings of public names: parameters agree with the declarations, and examples run."""

import ast
import contextlib
import doctest
import inspect
import re

import numpy as np
import pytest
from documentation.blocks import ROOT
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import confml
from confml.steps.registry import steps

PUBLIC = {name: getattr(confml, name) for name in confml.__all__ if not name.startswith("_")}
METHODS = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isclass(value) and issubclass(value, confml.Method) and value is not confml.Method
}
STEPS = steps.known()
DOCUMENTED = {**PUBLIC, **STEPS}
# Not asked for: a blank line and a period where ruff's format has none, an extended summary, and "See Also".
NOT_CHECKED = {"GL01", "GL02", "GL03", "ES01", "SA01"}


def functions_of_classes():
    """Yield the address of each public function of a class, unless one of its bases documents it."""
    for name, value in PUBLIC.items():
        if not inspect.isclass(value):
            continue
        documented = {function for base in value.__mro__[1:-1] for function in vars(base)}
        documented |= {"fit", "predict_proba", "evaluate_online"} if name in METHODS else set()
        for function, member in vars(value).items():
            member = getattr(member, "__func__", member)
            if inspect.isfunction(member) and not function.startswith("_") and function not in documented:
                yield f"{value.__module__}.{value.__qualname__}.{function}"


ADDRESSES = {f"{value.__module__}.{value.__qualname__}": NOT_CHECKED for value in DOCUMENTED.values()}
ADDRESSES |= dict.fromkeys(functions_of_classes(), {*NOT_CHECKED, "EX01"})  # their class has the example


@pytest.mark.parametrize("address", ADDRESSES)
def test_docstrings_are_valid(address):
    errors = validate(address)["errors"]
    assert [text for code, text in errors if code not in ADDRESSES[address]] == []


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstrings_list_attributes_and_errors(name):
    """Which numpydoc does not ask for."""
    value = DOCUMENTED[name]
    docstring = NumpyDocString(inspect.getdoc(value))
    if inspect.isclass(value):
        assert docstring["Attributes"] or name in STEPS or value is confml.Method
        assert name not in METHODS or "classes_" in [attribute.name for attribute in docstring["Attributes"]]
    elif inspect.signature(value).return_annotation not in (None, "None"):
        assert docstring["Raises"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the run and the model that other examples read."""
    path = tmp_path_factory.mktemp("examples")
    with contextlib.chdir(path):
        failed = {name: failures(name, PUBLIC[name]) for name in ("run", "load_model")}
    return path, failed


def failures(name, value):
    """Return the number of lines of the example of a name that print something else."""
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    globs = {**PUBLIC, value.__name__: value, "np": np}
    for test in doctest.DocTestFinder(recurse=False).find(value, name, globs=globs):
        runner.run(test)
    assert runner.tries
    return runner.summarize(verbose=False).failed


@pytest.mark.parametrize("name", DOCUMENTED)
def test_examples_run(name, folder, monkeypatch):
    path, failed = folder
    monkeypatch.chdir(path)
    assert (failed[name] if name in failed else failures(name, DOCUMENTED[name])) == 0


# ---- all functions


def definitions(node):
    """Yield the functions and classes of a tree with a docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(child):
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
    for path in sorted((ROOT / "confml").rglob("*.py")):
        if "commands" in path.parts:
            continue
        for node in definitions(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and any(raised(node)):
                text = ast.get_docstring(node)
                if not re.search(r"\b[Rr]aises?\b|\b\w+Errors?\b", text):
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {set(raised(node))}")
    assert not wrong, "\n".join(wrong)
