"""Data sets on the local disk of a machine: one copy for all runs, and the same results."""

import dataclasses
import os
import shutil
import time

import numpy as np
import pytest
from processes import confml, start

from confml.data import load
from confml.runner import workspace as module
from confml.runner.workspace import Workspace, open_dataset

CONFIG = """
name: small
datasets: [wine-sklearn]
methods: [naive-bayes]
protocol: {kind: holdout, repeats: 4}
figures: []
"""


@pytest.fixture(autouse=True)
def stage(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFML_STAGE", str(tmp_path / "stage"))
    yield tmp_path / "stage"
    open_dataset.cache_clear()


def copies(stage):
    return [path for path in stage.glob("confml-*/*") if path.is_dir()]


def opened(folder, data):
    folder.mkdir(exist_ok=True)
    return open_dataset(Workspace.make(folder).put_dataset(data))


def source(data):
    """The file whose memory the features are in."""
    array = data.X
    while not hasattr(array, "filename"):
        array = array.base
    return os.path.realpath(array.filename)


def test_runs_share_a_copy(tmp_path, stage):
    data = load({"name": "wine-sklearn"})
    first, second = (opened(tmp_path / name, data) for name in ("a", "b"))
    (copy,) = copies(stage)
    assert source(first) == source(second) == os.path.realpath(copy / "X.npy")
    for name in ("X", "y", "table", "lines"):
        np.testing.assert_array_equal(getattr(first, name), getattr(data, name))
    assert first.checksum == data.checksum and first.attributes == data.attributes


def test_data_that_differ_beyond_the_checksum_have_copies_of_their_own(tmp_path, stage):
    data = load({"name": "wine-sklearn"})
    other = dataclasses.replace(data, notes=("another note",))
    assert other.checksum == data.checksum
    assert opened(tmp_path / "a", data).notes != opened(tmp_path / "b", other).notes
    assert len(copies(stage)) == 2


def test_without_a_private_folder_the_results_folder_is_read(tmp_path, stage, monkeypatch):
    data = load({"name": "wine-sklearn"})
    (stage / f"confml-{os.getuid()}").mkdir(parents=True)
    (stage / f"confml-{os.getuid()}").chmod(0o777)
    assert str(tmp_path / "a") in source(opened(tmp_path / "a", data))
    assert not copies(stage)


def test_a_full_disk_leaves_nothing(tmp_path, stage, monkeypatch):
    def full(folder, target):
        target.mkdir()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copytree", full)
    assert str(tmp_path / "a") in source(opened(tmp_path / "a", load({"name": "wine-sklearn"})))
    assert not copies(stage)


def test_copies_that_no_run_opens_are_removed(tmp_path, stage):
    data = load({"name": "wine-sklearn"})
    opened(tmp_path / "a", data)
    (old,) = copies(stage)
    long_ago = time.time() - module.UNUSED - 60
    os.utime(old, (long_ago, long_ago))
    opened(tmp_path / "b", dataclasses.replace(data, notes=("another note",)))
    assert copies(stage) != [old] and len(copies(stage)) == 1


def test_two_parts_at_once_use_one_copy_and_give_the_same_results(tmp_path, stage):
    (tmp_path / "config.yaml").write_text(CONFIG)
    parts = [
        start("run", "config.yaml", "--out", "staged", "--quiet", "--shard", f"{n}/2", cwd=tmp_path)
        for n in (1, 2)
    ]
    assert [part.wait() for part in parts] == [0, 0]
    (copy,) = copies(stage)
    assert (copy / "about.json").exists()
    for folder, place in (("staged", str(stage)), ("plain", "")):
        environment = {**os.environ, "CONFML_STAGE": place}
        assert confml("run", "config.yaml", "--out", folder, "--quiet", cwd=tmp_path, env=environment)
    texts = [(tmp_path / folder / "metrics.csv").read_bytes() for folder in ("staged", "plain")]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("damage", ["zeros", "cut", "missing"])
def test_a_damaged_copy_is_made_again(tmp_path, stage, damage, capfd):
    data = load({"name": "wine-sklearn"})
    opened(tmp_path / "a", data)
    (copy,) = copies(stage)
    content = (copy / "X.npy").read_bytes()
    half = content[: len(content) // 2]
    damaged = {"zeros": half + bytes(len(content) - len(half)), "cut": half, "missing": None}[damage]
    (copy / "X.npy").unlink() if damaged is None else (copy / "X.npy").write_bytes(damaged)
    open_dataset.cache_clear()  # as in a new process
    again = opened(tmp_path / "b", data)
    np.testing.assert_array_equal(again.X, data.X)
    assert source(again) == os.path.realpath(copy / "X.npy")
    assert (copy / "X.npy").read_bytes() == content
    assert str(copy) in capfd.readouterr().err


def test_a_disk_that_damages_what_it_stores_is_not_used(tmp_path, stage, monkeypatch, capfd):
    copy = module.shutil.copytree

    def damaging(source, target):
        copy(source, target)
        (target / "X.npy").write_bytes(b"")

    monkeypatch.setattr(module.shutil, "copytree", damaging)
    data = load({"name": "wine-sklearn"})
    np.testing.assert_array_equal(opened(tmp_path / "a", data).X, data.X)
    assert copies(stage) == [] and "not used" in capfd.readouterr().err
