"""Stored runs that are damaged, older, or somebody else's: one clear line, nothing overwritten."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from types import SimpleNamespace

import pytest

from confml import cli
from confml.config import make_config
from confml.errors import ConfmlError
from confml.runner.manifest import read_manifest
from confml.runner.run import Execution, run

VALUES = {
    "name": "small",
    "datasets": [{"generate": "five-gaussians", "n": 40, "test-n": 20}],
    "methods": [{"name": "knn", "sweep": {"k": [1, 3, 5]}}, {"name": "knn", "tune": {"k": [1, 3]}}],
    "protocol": {"kind": "holdout", "repeats": 2, "inner-folds": 2},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("manifest") / "run"
    state = run(make_config(VALUES), folder, Execution(1, engine="serial"))
    assert len(state.done) == 8
    return folder


def invoke(*arguments):
    """A command as the command line runs it, with its exit code and all of its text."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            cli.main([str(one) for one in arguments])
        except SystemExit as ended:
            code = ended.code
    return SimpleNamespace(code=code, text=text.getvalue())


def config_file(folder, **changed):
    path = folder / "config.yaml"
    path.write_text(json.dumps(VALUES | changed))
    return path


def test_a_run_without_cells_to_compute_keeps_the_times_of_the_one_that_computed(whole, tmp_path):
    folder = shutil.copytree(whole, tmp_path / "run")
    first = json.loads((folder / ".run/manifest.json").read_text())
    run(make_config(VALUES | {"levels": [0.2]}), folder, Execution(1, engine="serial"))
    second = json.loads((folder / ".run/manifest.json").read_text())
    assert first["config"]["levels"] != second["config"]["levels"] == [0.2]
    for name in ("started", "finished", "seconds", "provenance"):
        assert first[name] == second[name] is not None


def test_another_runs_folder_is_not_overwritten(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    before = (tmp_path / "run" / ".run/manifest.json").read_bytes()
    other = {"datasets": [{"generate": "two-gaussians", "n": 40}]}
    for config in (config_file(tmp_path, name="other"), config_file(tmp_path, **other)):
        done = invoke("run", config, "--out", tmp_path / "run", "--quiet", "--engine", "serial")
        assert done.code == 2 and "add --force" in done.text, done.text
        assert (tmp_path / "run" / ".run/manifest.json").read_bytes() == before
    more = config_file(tmp_path, methods=[{"name": "knn", "k": 7}])  # the same run with another method
    assert invoke("run", more, "--out", tmp_path / "run", "--quiet", "--engine", "serial").code == 0
    forced = ("--force", "--quiet", "--engine", "serial")
    assert invoke("run", config_file(tmp_path, name="other"), "--out", tmp_path / "run", *forced).code == 0


def test_another_config_of_the_same_name_does_not_replace_the_report(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    before = (tmp_path / "run" / ".run/manifest.json").read_bytes()
    serial = ("--quiet", "--engine", "serial")
    for other in ({"seed": 77}, {"steps": ["standardise"]}, {"protocol": {"kind": "k-fold", "folds": 4}}):
        done = invoke("run", config_file(tmp_path, **other), "--out", tmp_path / "run", *serial)
        assert done.code == 2 and "a run of another config named" in done.text, done.text
        assert next(iter(other)) in done.text and "add --force" in done.text
        assert (tmp_path / "run" / ".run/manifest.json").read_bytes() == before
    seed = config_file(tmp_path, seed=77)
    assert invoke("run", seed, "--out", tmp_path / "run", *serial, "--force").code == 0
    assert invoke("run", seed, "--out", tmp_path / "run", *serial).code == 0  # it is the run there now


def test_a_folder_with_other_files_is_not_used(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    done = invoke("run", config_file(tmp_path), "--out", tmp_path / "mine", "--quiet", "--engine", "serial")
    assert done.code == 2 and "files that confml did not write (thesis.tex)" in done.text
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    (tmp_path / "mine" / ".run").mkdir()
    (tmp_path / "mine" / "thesis.tex").rename(tmp_path / "mine" / ".run/manifest.json")  # not of confml
    done = invoke("run", config_file(tmp_path), "--out", tmp_path / "mine", "--quiet", "--engine", "serial")
    assert done.code == 2 and (tmp_path / "mine" / ".run/manifest.json").read_text() == ""


@pytest.mark.parametrize("change", [lambda text: "{", lambda text: text.replace('"jobs": 1', '"jobs": 2')])
def test_a_damaged_manifest_of_ones_own_is_written_anew(whole, tmp_path, change):
    path = shutil.copytree(whole, tmp_path / "run") / ".run/manifest.json"
    path.write_text(change(path.read_text()))
    with pytest.raises(ConfmlError, match="the manifest is damaged"):
        read_manifest(tmp_path / "run")
    done = invoke("run", config_file(tmp_path), "--out", tmp_path / "run", "--quiet", "--engine", "serial")
    assert done.code == 0, done.text
    assert json.loads((tmp_path / "run" / ".run/manifest.json").read_text())["name"] == "small"
