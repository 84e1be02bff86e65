"""Finding one class by name imports the module of that class only."""

import subprocess
import sys

import pytest

from confml.methods.registry import methods
from confml.plugins.registry import read_sources
from confml.report.sections.base import sections
from confml.steps.registry import steps


@pytest.mark.parametrize("registry", [methods, steps, sections], ids=lambda registry: registry.noun)
def test_every_name_is_found_by_its_source(registry):
    for name, cls in registry.built_in.items():
        assert registry.own_class(name) is cls and registry.has(name)
    assert registry.own_class("no such name") is None and not registry.has("no such name")


def test_other_methods_are_not_imported():
    text = (
        "import sys; from confml.methods.registry import build; build('knn', {'k': 3}); "
        "print([name for name in sys.modules if name.startswith('confml.methods.svm')])"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("registry", [methods, steps], ids=lambda registry: registry.noun)
def test_sources_have_the_summary_of_every_class(registry):
    summaries = {name: summary for name, (_, summary) in read_sources(registry.package).items()}
    assert summaries == {name: registry.describe(name)["summary"] for name in registry.built_in}


def test_the_list_of_methods_imports_no_method():
    text = (
        "import sys; from confml.cli import cli; cli(['methods'], standalone_mode=False); "
        "assert not {'numpy', 'sklearn', 'confml.methods.base'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "  tcm-nn " in done.stdout and "  standardise " in done.stdout
