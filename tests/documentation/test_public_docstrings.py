"""Docstrings of public names: parameters agree with the declarations, and examples run."""

import doctest
import inspect
import re

import numpy as np
import pytest

import confml

PUBLIC = {name: getattr(confml, name) for name in confml.__all__ if not name.startswith("_")}
METHODS = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isclass(value) and issubclass(value, confml.Method) and value is not confml.Method
}


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


def test_the_sections_of_a_method_are_made_from_its_declarations():
    text = inspect.getdoc(confml.TCMNN)
    assert text.partition("\n\nNotes\n")[0] == inspect.cleandoc(
        """Transductive conformal p-values from nearest-neighbour distances, computed exactly.

        Parameters
        ----------
        k : int, default=1
            Number of nearest neighbours.
        smoothed : bool, default=False
            Break ties between strangeness values at random.
        mondrian : bool, default=False
            Count only examples of the label in question (label-conditional p-values).
        shift : {"covariate"} or None, default=None
            Weight examples for a test part of another distribution, by its features without labels.
        random_state : int or None, default=None
            Seed of smoothed p-values where no generator is given.
        by : str, dict, list or None, default=None
            Groups in which p-values are valid, by columns, bins with given cuts, and label.
        by_columns : list or None, default=None
            The last columns of X, which hold the columns of by and are no features; set by a run.

        Attributes
        ----------
        classes_ : ndarray of shape (n_classes,)
            Classes of the training examples, sorted."""
    )


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_attributes_and_an_example(name):
    text = inspect.getdoc(METHODS[name])
    assert "classes_ : " in section(text, "Attributes") and ">>> " in section(text, "Examples")


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_run(name):
    finder = doctest.DocTestFinder(recurse=False)
    globs = {**PUBLIC, "np": np}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    tests = [one for one in finder.find(PUBLIC[name], name, globs=globs) if one.examples]
    for one in tests:
        runner.run(one)
    assert runner.summarize(verbose=False).failed == 0
    assert tests or name not in METHODS


def test_descriptions_leave_out_the_sections_that_repeat_declarations():
    from confml.report.described import describe_all

    for name in ("tcm-nn", "conformal"):
        text = describe_all(name, "method")[0]["text"]
        assert "-----" not in text and ">>>" not in text and "classes_ :" not in text
        assert "view is ``p-value``" in text


@pytest.mark.parametrize("name", sorted({*PUBLIC} - {*METHODS} - {"Method"}))
def test_parameters_of_other_public_names_are_documented(name):
    documented = section(inspect.getdoc(PUBLIC[name]), "Parameters")
    named = re.findall(r"^(\w[\w, ]*?)(?: : .*)?$", documented, re.MULTILINE)
    assert ", ".join(named).split(", ") == list(inspect.signature(PUBLIC[name]).parameters)
