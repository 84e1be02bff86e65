"""Docstrings of public names: parameters agree with the declarations, and examples run."""

import contextlib
import doctest
import inspect
import re

import numpy as np
import pytest

import confml
from confml.steps.registry import steps

PUBLIC = {name: getattr(confml, name) for name in confml.__all__ if not name.startswith("_")}
METHODS = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isclass(value) and issubclass(value, confml.Method) and value is not confml.Method
}
STEPS = steps.built_in


def section(docstring, name):
    """Return the text of a section of a docstring in numpydoc form, None if it is absent."""
    found = re.search(rf"^{name}\n-+\n(.*?)(?=\n\n[A-Z][\w ]+\n-+\n|\Z)", docstring, re.MULTILINE | re.DOTALL)
    return None if found is None else found.group(1)


@pytest.mark.parametrize("name", METHODS)
def test_all_parameters_of_methods_are_documented(name):
    text = inspect.getdoc(METHODS[name])
    documented = f"{section(text, 'Parameters')}\n{section(text, 'Other Parameters')}"
    named = re.findall(r"^(\w+) : ", documented, re.MULTILINE)
    assert sorted(named) == sorted(inspect.signature(METHODS[name]).parameters)


@pytest.mark.parametrize("name", {**PUBLIC, **STEPS})
def test_public_names_have_the_sections_of_numpydoc(name):
    """A class lists attributes, a function its result, and the sections are in the order of numpydoc."""
    value = {**PUBLIC, **STEPS}[name]
    text = inspect.getdoc(value)
    assert text.partition("\n")[0].endswith("."), "the summary is one sentence on one line"
    order = "Parameters|Attributes|Other Parameters|Returns|Raises|Notes|References|Examples"
    found = re.findall(rf"^({order})\n-+$", text, re.MULTILINE)
    assert found == sorted(found, key=order.split("|").index)
    assert ">>> " in section(text, "Examples")
    if inspect.isclass(value):
        if inspect.signature(value).parameters:
            assert section(text, "Parameters")
        if name not in STEPS and value is not confml.Method:
            assert section(text, "Attributes")
        assert name not in METHODS or "classes_ : " in section(text, "Attributes")
    elif inspect.signature(value).return_annotation not in (None, "None", inspect.Signature.empty):
        assert section(text, "Returns") or value is confml.threads  # a context manager
        assert section(text, "Raises")


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
    for one in doctest.DocTestFinder(recurse=False).find(value, name, globs=globs):
        runner.run(one)
    assert runner.tries
    return runner.summarize(verbose=False).failed


@pytest.mark.parametrize("name", {**PUBLIC, **STEPS})
def test_examples_run(name, folder, monkeypatch):
    path, failed = folder
    monkeypatch.chdir(path)
    assert (failed[name] if name in failed else failures(name, {**PUBLIC, **STEPS}[name])) == 0


@pytest.mark.parametrize("name", sorted({*PUBLIC} - {*METHODS} - {"Method"}))
def test_parameters_of_other_public_names_are_documented(name):
    documented = section(inspect.getdoc(PUBLIC[name]), "Parameters")
    named = re.findall(r"^(\w[\w, ]*?)(?: : .*)?$", documented, re.MULTILINE)
    assert ", ".join(named).split(", ") == list(inspect.signature(PUBLIC[name]).parameters)
