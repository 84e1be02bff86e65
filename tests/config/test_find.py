"""Configs by path, and by the names of those that come with confml."""

from pathlib import Path

import pytest
from config.cases import FULL, messages, write

from confml.config import bundled_configs, load_config
from confml.plugins.imports import allow_imports


@pytest.mark.parametrize("name", sorted(bundled_configs()))
def test_bundled_configs_are_right(name, monkeypatch):
    # Two configs of papers name classifiers beside the program of published numbers.
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "programs" / "reproduction"))
    with allow_imports(["confml", "smartsvm_package", "tree_network"]):
        config = load_config(name)
        assert config.name and load_config(config.path).as_dict() == config.as_dict()


def test_config_that_does_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, FULL, "experiment.yaml")
    no = "no such file, and no config of that name comes with confml"
    assert messages(load_config, "quickstrat") == [f"quickstrat: {no}; did you mean 'quickstart'?"]
    assert "did you mean 'experiment.yaml'?" in messages(load_config, "experimnt.yaml")[0]
    (tmp_path / "folder").mkdir()
    assert messages(load_config, "folder") == ["folder: this is a folder, expected a YAML file"]
    (tmp_path / "quickstart").mkdir()  # a folder does not hide a bundled config
    assert load_config("quickstart").name == "quickstart"
    for name in ("", "\0", "x" * 5000, "/dev/null/x"):
        assert len(messages(load_config, name)) == 1
