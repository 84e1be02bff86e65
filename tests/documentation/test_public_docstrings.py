"""Docstrings of public names: parameters agree with the declarations, and examples run."""

import doctest
import inspect
import re
import textwrap

import numpy as np
import pytest

import confml
from confml.methods.conformal.calibrated import CalibratedMethod
from confml.methods.conformal.wrapper_settings import parameter_name
from confml.plugins.parameters import AnyOf, Choice, Flag, Integer, Nothing, Number

PUBLIC = {name: getattr(confml, name) for name in confml.__all__ if not name.startswith("_")}
METHODS = {
    name: value
    for name, value in PUBLIC.items()
    if inspect.isclass(value) and issubclass(value, confml.Method) and value is not confml.Method
}
KINDS = {Flag: "bool", Integer: "int", Number: "float", Nothing: "None"}


def declared(cls):
    """Return the declarations of the parameters of a method by name, in the order of its constructor."""
    rules = cls.parameters
    if issubclass(cls, CalibratedMethod):
        rules = {parameter_name(setting, cls.key): rule for setting, rule in cls.settings.items()}
    return {name: rules[name] for name in inspect.signature(cls).parameters if name in rules}


def kind_of(rule):
    """Return the type of a parameter as numpydoc writes it."""
    if isinstance(rule, AnyOf):
        return " or ".join(dict.fromkeys(kind_of(one) for one in rule.of))
    if isinstance(rule, Choice):
        return "{" + ", ".join(f'"{option}"' for option in rule.options) + "}"
    return KINDS.get(type(rule), "object")


def parameters_section(cls):
    """Return the section Parameters of a method, from its declarations."""
    lines = []
    for name, rule in declared(cls).items():
        default = inspect.signature(cls).parameters[name].default
        shown = "" if default is inspect.Parameter.empty else f", default={default!r}".replace("'", '"')
        lines.append(f"{name} : {kind_of(rule)}{shown}")
        about = rule.about[0].upper() + rule.about[1:].rstrip(".") + "."
        lines += textwrap.wrap(about, 106, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def section(docstring, name):
    """Return the text of a section of a docstring in numpydoc form, None if it is absent."""
    found = re.search(rf"^{name}\n-+\n(.*?)(?=\n\n[A-Z][\w ]+\n-+\n|\Z)", docstring, re.MULTILINE | re.DOTALL)
    return None if found is None else found.group(1)


@pytest.mark.parametrize("name", METHODS)
def test_parameters_of_methods_agree_with_the_declarations(name):
    documented = section(inspect.getdoc(METHODS[name]), "Parameters")
    assert documented is not None and documented.endswith(parameters_section(METHODS[name]))
    named = re.findall(r"^(\w+) : ", documented, re.MULTILINE)
    named += re.findall(
        r"^(\w+) : ", section(inspect.getdoc(METHODS[name]), "Other Parameters") or "", re.MULTILINE
    )
    assert sorted(named) == sorted(inspect.signature(METHODS[name]).parameters)


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
