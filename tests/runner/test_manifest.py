"""Stored runs that are damaged, older, or somebody else's: one clear line, nothing overwritten."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from runner.runs import run_serial, stored_keys

from confml.errors import ConfmlError
from confml.runner.manifest import read_manifest

MANIFEST = ".run/manifest.json"
VALUES = {
    "name": "small",
    "datasets": [{"generate": "five-gaussians", "n": 40, "test-n": 20}],
    "methods": [{"name": "knn", "sweep": {"k": [1, 3, 5]}}, {"name": "knn", "tune": {"k": [1, 3]}}],
    "protocol": {"kind": "holdout", "repeats": 2, "inner-folds": 2},
    "baseline": False,
}


def run_again(folder, *options, code=0, **changed):
    """Run the config with other values into the folder of the run, and return its errors."""
    (folder / "config.yaml").write_text(json.dumps(VALUES | changed))
    return run_serial(folder / "config.yaml", folder / "run", "--quiet", *options, code=code).stderr


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("manifest")
    run_again(folder)
    assert len(stored_keys(folder / "run")) == 8
    return folder / "run"


def test_a_run_without_cells_to_compute_keeps_the_times_of_the_one_that_computed(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "run")
    first = read_manifest(tmp_path / "run")
    run_again(tmp_path, levels=[0.2])
    second = read_manifest(tmp_path / "run")
    assert first["config"]["levels"] != second["config"]["levels"] == [0.2]
    for name in ("started", "finished", "seconds", "provenance"):
        assert first[name] == second[name] is not None


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "other"}, ""),
        ({"datasets": [{"generate": "two-gaussians", "n": 40}]}, ""),
        ({"seed": 77}, "a run of another config named 'small'.*seed"),
        ({"steps": ["standardise"]}, "a run of another config.*steps"),
        ({"protocol": {"kind": "k-fold", "folds": 4}}, "a run of another config.*protocol"),
    ],
)
def test_another_run_is_not_overwritten(whole, tmp_path, changed, words):
    shutil.copytree(whole, tmp_path / "run")
    before = (tmp_path / "run" / MANIFEST).read_bytes()
    assert re.search(f"{words}.*add --force", run_again(tmp_path, code=2, **changed))
    assert (tmp_path / "run" / MANIFEST).read_bytes() == before
    run_again(tmp_path, methods=[{"name": "knn", "k": 7}])  # the same run with another method
    run_again(tmp_path, "--force", **changed)
    run_again(tmp_path, **changed)  # it is the run there now


def test_a_folder_with_other_files_is_not_used(tmp_path):
    mine = tmp_path / "run" / "thesis.tex"
    mine.parent.mkdir()
    mine.write_text("")
    assert "files that confml did not write (thesis.tex)" in run_again(tmp_path, code=2)
    assert [*mine.parent.iterdir()] == [mine]
    (tmp_path / "run" / ".run").mkdir()
    mine.rename(tmp_path / "run" / MANIFEST)  # not of confml
    run_again(tmp_path, code=2)
    assert (tmp_path / "run" / MANIFEST).read_text() == ""


@pytest.mark.parametrize("change", [lambda text: "{", lambda text: text.replace('"jobs": 1', '"jobs": 2')])
def test_a_damaged_manifest_of_ones_own_is_written_anew(whole, tmp_path, change):
    path = shutil.copytree(whole, tmp_path / "run") / MANIFEST
    path.write_text(change(path.read_text()))
    with pytest.raises(ConfmlError, match="the manifest is damaged"):
        read_manifest(tmp_path / "run")
    run_again(tmp_path)
    assert read_manifest(tmp_path / "run")["name"] == "small"
