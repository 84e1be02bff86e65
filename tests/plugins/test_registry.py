"""The registries of methods and steps: names, descriptions, hints, and classes of other packages."""

import re
import sys

import pytest

from confml.errors import ConfigError, ConfmlError
from confml.methods import registry
from confml.methods.base import Method
from confml.plugins.registry import PluginRegistry
from confml.steps.registry import describe_step, known_steps, steps


@pytest.mark.parametrize("registry", [registry.methods, steps], ids=lambda registry: registry.noun)
def test_every_class_is_listed_under_its_name(registry):
    for name, cls in registry.known().items():
        assert cls.name == name and issubclass(cls, registry.base)
        assert registry.own_class(name) is cls and registry.has(name)
    assert registry.own_class("no such name") is None and not registry.has("no such name")


def test_descriptions_are_for_users():
    """No constants, private names and classes in backticks; `knn` and ``k`` are names of configs."""
    entries = [registry.describe(name) for name in registry.known_methods()]
    for entry in [*entries, *map(describe_step, known_steps())]:
        texts = [entry["text"], *(parameter["about"] for parameter in entry["parameters"])]
        for text in texts:
            assert not re.findall(r"`[A-Z_]{4,}`|`\.?_\w+`|`[A-Z]\w+\.\w+`", text), (entry["name"], text)
        assert all(parameter["expected"] for parameter in entry["parameters"])


def test_methods_with_the_word_or_a_similar_name_are_the_hint():
    with pytest.raises(ConfigError) as raised:
        registry.methods.find("svm")
    assert {"ovo-svm", "ovr-svm", "dag-svm", "kernel-svm", "tcm-svm"} <= {
        *re.findall("[a-z-]+", raised.value.hint)
    }
    with pytest.raises(ConfigError, match="did you mean 'tcm-nn'"):
        registry.methods.find("tcm-n")


# ---- other packages' methods

MODULE = """
from sklearn.dummy import DummyClassifier
from confml import KNN

class Near(KNN):
    '''A neighbour from elsewhere.'''
    name = "near"

class Misnamed(KNN):
    name = "another-name"
"""
ENTRY_POINTS = """
[confml.methods]
near = their_methods:Near
nowhere = their_methods:Missing
raises = their_broken_module:Near
not-a-method = their_methods:DummyClassifier
misnamed = their_methods:Misnamed
knn = their_methods:Near
twice = their_methods:Near
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Two packages of other people that offer methods, good and bad, and a registry that sees them."""
    (tmp_path / "their_methods.py").write_text(MODULE)
    (tmp_path / "their_broken_module.py").write_text("raise RuntimeError('no licence found')")
    for package, version, points in [
        ("their-package", "1.2", ENTRY_POINTS),
        ("other-package", "0.1", "[confml.methods]\ntwice = their_methods:Near\n"),
    ]:
        folder = tmp_path / f"{package.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        (folder / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "their_methods", raising=False)
    theirs = PluginRegistry("method", registry.methods.locations, Method, "confml.methods")
    monkeypatch.setattr(registry, "methods", theirs)


def test_a_method_of_another_package(installed):
    assert "their_methods" not in sys.modules
    assert type(registry.build("near", {"k": 3})).__name__ == "Near"
    card = registry.describe("near")
    assert card["source"] == "their-package 1.2" and card["summary"] == "A neighbour from elsewhere."
    with pytest.raises(ConfigError, match="did you mean 'near'"):
        registry.check("nearr")
    assert registry.describe("knn")["source"] == "confml"  # no package replaces a method of confml


@pytest.mark.parametrize(
    "name, message",
    [
        ("nowhere", "cannot be imported from their_methods:Missing: AttributeError"),
        ("raises", "cannot be imported from their_broken_module:Near: RuntimeError: no licence found"),
        ("not-a-method", "must be a subclass of confml.methods.base.Method with this name"),
        ("misnamed", "with this name, but their_methods:Misnamed is 'another-name'"),
        ("twice", "offered by other-package 0.1 and their-package 1.2"),
    ],
)
def test_a_broken_method_of_another_package(installed, name, message):
    for function in (registry.check, registry.describe):
        with pytest.raises(ConfmlError) as caught:
            function(name)
        assert message in str(caught.value) and "their-package 1.2" in str(caught.value)
    assert name in registry.methods.broken() and name not in registry.known_methods()
