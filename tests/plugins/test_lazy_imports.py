"""Finding one class by name imports the module of that class only."""

import pytest

from confml.methods.registry import methods
from confml.steps.registry import steps


@pytest.mark.parametrize("registry", [methods, steps], ids=lambda registry: registry.noun)
def test_every_class_is_listed_under_its_name(registry):
    for name, cls in registry.built_in.items():
        assert cls.name == name and issubclass(cls, registry.base)
        assert registry.own_class(name) is cls and registry.has(name)
    assert registry.own_class("no such name") is None and not registry.has("no such name")
