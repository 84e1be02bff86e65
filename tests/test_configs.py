"""Every method and step is used by a config or a target of the Makefile; `external` by a page of the docs."""

import re
from pathlib import Path

import pytest
import yaml

from confml.methods import BASELINE, registry
from confml.steps.registry import known_steps

ROOT = Path(__file__).parents[1]
CONFIGS = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (ROOT / "configs").rglob("*.yaml")]


def named(key):
    """Names in the lists ``key`` of all configs."""
    for config in CONFIGS:
        for entry in config.get(key, []):
            yield entry if isinstance(entry, str) else entry.get("name", next(iter(entry)))


@pytest.mark.parametrize("name", sorted(registry.methods.known()))
def test_every_method_is_shown(name):
    if name == "external":  # it reads a file of another program
        pages = (path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "pages").rglob("*.md"))
        assert any("name: external" in text for text in pages)
    elif name != BASELINE:  # every run adds it
        assert name in set(named("methods"))


@pytest.mark.parametrize("name", sorted(known_steps()))
def test_every_step_is_shown(name):
    targets = (ROOT / "tests" / "programs" / "reproduction" / "targets.mk").read_text(encoding="utf-8")
    assert name in {*named("steps"), *re.findall(r"[a-z-]+", targets)}


def test_every_config_says_what_it_shows():
    for path in (ROOT / "configs").rglob("*.yaml"):
        assert path.read_text(encoding="utf-8").startswith("# "), path
