"""Bundles: the archive of a run, its verification on another machine, and damaged archives."""

from __future__ import annotations

import csv
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from confml.cli import cli
from confml.errors import ConfmlError, DataError
from confml.studies.bundle import unpack_bundle, write_bundle

CONFIG = """
datasets:
  - {csv: mine/loans.csv, label: y}
  - wine
methods: [{name: knn, sweep: {k: [1, 3]}}, {name: tcm-nn, k: 1}]
protocol: {kind: holdout, test-size: 0.4}
levels: [0.1]
"""


def invoke(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of a file and a card."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "mine").mkdir()
    with (folder / "mine" / "loans.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["x", "z", "y"], *([i * 7 % 13, i * 5 % 11, "pn"[i % 3 > 0]] for i in range(60))]
        )
    (folder / "c.yaml").write_text(CONFIG.replace("wine", "iris"))
    done = invoke("run", folder / "c.yaml", "--out", folder / "run", "--jobs", 1)
    assert done.exit_code == 0, done.output
    return folder


def repacked(bundle: Path, target: Path, change) -> Path:
    """Copy an archive; ``change`` gets the members as a dict."""
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target


def test_a_run_travels_with_its_data(run, tmp_path, monkeypatch):
    made = invoke("bundle", run / "run", "--data", "--out", tmp_path / "b.zip")
    assert made.exit_code == 0, made.output
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        names = archive.namelist()
        assert {"bundle.json", "config.json", "requirements.txt", "cards/iris.yaml", "data/loans.csv"} <= {
            *names
        }
        assert "results/report.html" in names and "results/summary.csv" in names
        assert not any(str(run).encode() in archive.read(name) for name in names)
        assert "numpy==" in archive.read("requirements.txt").decode()
    moved = run.with_name("moved")
    run.rename(moved)  # the first machine is gone
    try:
        monkeypatch.chdir(tmp_path)
        told = invoke("verify", "b.zip", "--jobs", 1, "--json")
        assert told.exit_code == 0, told.output + str(told.exception)
        states = json.loads(told.stdout)
        assert set(states.values()) == {"same"} and "results/metrics.csv" in states
        assert sum(name.startswith("results/regions/") for name in states) == 6
        assert not any("timings" in name for name in states)
    finally:
        moved.rename(run)


def test_the_same_run_has_the_same_bundle(run, tmp_path):
    write_bundle(run / "run", tmp_path / "a.zip")
    write_bundle(run / "run", tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_data_stay_private_and_are_asked_for(run, tmp_path):
    write_bundle(run / "run", tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert not any(name.startswith("data/") for name in archive.namelist())
    alone = invoke("verify", tmp_path / "b.zip")
    assert "loans.csv is not in the bundle" in str(alone.exception)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "loans.csv").write_text("x,z,y\n1,2,p\n")
    other = invoke("verify", tmp_path / "b.zip", "--data", tmp_path / "other")
    assert "its SHA-256 differs" in str(other.exception)
    found = invoke("verify", tmp_path / "b.zip", "--data", run / "mine", "--jobs", 1, "--quiet")
    assert found.exit_code == 0 and found.stdout == ""


def test_a_result_that_differs_is_named(run, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(run / "run", copy)
    (copy / "summary.csv").write_text((copy / "summary.csv").read_text().replace("knn", "kNN"))
    write_bundle(copy, tmp_path / "b.zip", with_data=True)
    told = invoke("verify", tmp_path / "b.zip", "--jobs", 1)
    assert told.exit_code == 1 and "differs  results/summary.csv" in told.stdout
    assert "same     results/metrics.csv" in told.stdout


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda members: members.pop("results/summary.csv"), "results/summary.csv is missing"),
        (lambda members: members.pop("bundle.json"), "bundle.json"),
        (lambda members: members.update({"extra.txt": b"x"}), "extra.txt is not listed in it"),
        (
            lambda members: members.update({"results/metrics.csv": b"x"}),
            "the SHA-256 of results/metrics.csv differs",
        ),
        (lambda members: members.update({"bundle.json": b"[]"}), "does not have the form"),
        (lambda members: members.update({"bundle.json": b"{"}), "damaged"),
    ],
)
def test_damaged_bundles(run, tmp_path, change, words):
    write_bundle(run / "run", tmp_path / "b.zip", with_data=True)
    with pytest.raises(DataError, match="damaged") as caught:
        unpack_bundle(repacked(tmp_path / "b.zip", tmp_path / "c.zip", change), tmp_path / "out")
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["../evil.txt", "/tmp/evil.txt", "results/../../evil.txt", "c:\\evil"])
def test_members_stay_inside(run, tmp_path, name):
    def change(members):
        import hashlib

        about = json.loads(members["bundle.json"])
        about["members"][name] = hashlib.sha256(b"evil").hexdigest()
        members |= {name: b"evil", "bundle.json": json.dumps(about).encode()}

    write_bundle(run / "run", tmp_path / "b.zip")
    with pytest.raises(DataError):
        unpack_bundle(repacked(tmp_path / "b.zip", tmp_path / "c.zip", change), tmp_path / "deep" / "out")
    assert not list(tmp_path.rglob("evil*"))


def test_other_files_and_unfinished_runs(run, tmp_path):
    (tmp_path / "x.zip").write_bytes(b"not a zip")
    for path in (tmp_path / "x.zip", tmp_path / "none.zip", tmp_path):
        assert isinstance(invoke("verify", path).exception, DataError)
    assert "confml did not make this file" in str(
        invoke("bundle", run / "run", "--out", tmp_path / "x.zip").exception
    )
    shutil.copytree(run / "run", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "cells")
    with pytest.raises(ConfmlError, match="cells have no result"):
        write_bundle(tmp_path / "run", tmp_path / "b.zip")
    assert isinstance(invoke("bundle", tmp_path / "none").exception, ConfmlError)


def test_a_manifest_is_a_config(run, tmp_path):
    again = invoke("run", run / "run" / "manifest.json", "--out", tmp_path / "again", "--jobs", 1)
    assert again.exit_code == 0, again.output
    for name in ("metrics.csv", "summary.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (run / "run" / name).read_bytes()
