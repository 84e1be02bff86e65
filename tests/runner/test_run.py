"""`confml run` as users run it: the same bytes however it is run, nothing lost, failures told."""

import json
import os
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path

import pytest
from processes import confml, start
from report.report_cases import read
from runner.runs import command, contents, run_serial, stored_keys
from sklearn.neighbors import KNeighborsClassifier

from confml.runner import split_data
from confml.runner.manifest import read_manifest
from confml.runner.splits import split_rows
from confml.runner.status import RunStatus
from confml.runner.store import Store

CONFIG = """\
name: small
datasets:
  - wine-sklearn
  - {generate: five-gaussians, n: 80, test-n: 40}
steps: [standardise]
methods:
METHODS
protocol: {kind: holdout, test-size: 0.3, repeats: 2, inner-folds: 3}
levels: [0.05, 0.2]
figures: []
baseline: false
seed: 3
"""
METHODS = [
    "  - {name: tcm-nn, sweep: {k: [1, 3]}}",
    "  - {name: knn, tune: {k: [1, 5, 9]}}",
    "  - {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 5, sweep: {max_depth: [1, 3]}}",
]


def write_config(folder, methods=METHODS, text=CONFIG):
    path = folder / "config.yaml"
    path.write_text(text.replace("METHODS", "\n".join(methods)))
    return path


def run(config, out, *options, code=0):
    done = confml("run", config, "--out", out, *options)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def metrics(out):
    # There is a column for each parameter of any method in the config.
    return [{name: row[name] for name in row if name[:7] != "params."} for row in read(out / "metrics.csv")]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One run with one job: the truth for the others."""
    folder = tmp_path_factory.mktemp("reference")
    run(write_config(folder), folder / "out", "--jobs", "1", "--set", "figures=[coverage-by-level]")
    return folder / "out"


def test_results_are_complete(reference):
    rows = metrics(reference)
    assert list(rows[0]) == ["dataset", "method", "params", "split", "view", "metric", "level", "value"]
    assert {row["dataset"] for row in rows} == {"wine-sklearn", "five-gaussians"}
    assert {row["params"] for row in rows if row["method"] == "tcm-nn"} == {"k=1", "k=3"}
    assert {row["split"] for row in rows} == {"r0", "r1"}
    of_regions = {"coverage", "mean_region_size", "one_class", "two_or_more", "no_class"}
    assert of_regions | {"error", "ari"} <= {row["metric"] for row in rows if row["view"] == "p-value"}
    assert list((reference / "regions" / "wine-sklearn").glob("*.csv"))
    assert not list(reference.glob(".work*"))
    assert {row["method"] for row in read(reference / "tables/tuning.csv")} == {"knn"}
    manifest = json.loads((reference / ".run/manifest.json").read_text())
    assert manifest["finished"] and manifest["provenance"]["packages"]["numpy"]


def test_the_order_of_methods_does_not_matter(reference, tmp_path):
    run_serial(write_config(tmp_path, METHODS[::-1]), tmp_path / "turned")
    turned = sorted(map(str, metrics(tmp_path / "turned")))
    assert turned == sorted(map(str, metrics(reference)))


def test_a_swept_value_gives_what_the_fixed_one_gives_without_other_methods(reference, tmp_path):
    """Random numbers of a cell depend neither on other values of a sweep nor on other methods."""
    fixed = "  - {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 5, max_depth: 3}"
    run_serial(write_config(tmp_path, [fixed]), tmp_path / "out")
    swept = [row for row in metrics(reference) if "max_depth=3" in row["params"]]
    assert metrics(tmp_path / "out") == swept


def test_two_jobs_that_are_killed_half_way_and_taken_up_again_give_the_same_bytes(reference, tmp_path):
    config, out = write_config(tmp_path), tmp_path / "out"
    process = start("run", config, "--out", out, "--jobs", "2", new_session=True)
    while process.poll() is None and len(stored_keys(out)) < 4:
        time.sleep(0.02)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = stored_keys(out)
    done = run(config, out, "--jobs", "2")
    assert f"{len(before)} of 20 fits are done already" in done.stderr
    assert len(set(stored_keys(out))) == len(stored_keys(out)) == 20  # nothing that was done is done again
    assert contents(out) == contents(reference)
    assert not list(out.glob(".work*"))
    assert read_manifest(out)["resumed"] and not read_manifest(reference)["resumed"]


def test_more_repeats_and_other_levels_keep_the_finished_cells(tmp_path):
    config, out = write_config(tmp_path, METHODS[:1]), tmp_path / "out"
    repeats = ("--set", "protocol.repeats=3")
    run_serial(config, out)
    first, rows = stored_keys(out), metrics(out)
    run_serial(config, out, *repeats)
    again = stored_keys(out)
    assert set(first) < set(again) and len(set(again)) == len(again) == len(first) * 3 // 2
    assert [row for row in metrics(out) if row["split"] != "r2"] == rows
    run_serial(config, out, *repeats, "--set", "levels=[0.1]")
    assert stored_keys(out) == again
    assert {row["level"] for row in metrics(out) if row["metric"] == "coverage"} == {"0.1"}


def test_report_needs_neither_data_nor_computing(reference, tmp_path, monkeypatch):
    shutil.copytree(reference, tmp_path / "out")
    for path in [*(tmp_path / "out").rglob("*.csv"), *(tmp_path / "out").rglob("*.svg")]:
        path.unlink()
    monkeypatch.setenv("CONFML_DATA", "/nowhere")
    command("report", tmp_path / "out", "--quiet")
    for pattern in ("*.csv", "*.svg"):
        assert contents(tmp_path / "out", pattern) == contents(reference, pattern) != {}


KNN = "  - {name: sklearn.neighbors.KNeighborsClassifier, sweep: {n_neighbors: [3, 5, 5000]}}"


def test_a_failing_cell_harms_no_other(tmp_path):
    config, out = write_config(tmp_path, [KNN]), tmp_path / "out"
    assert "4 fits failed" in run(config, out, "--jobs", "2", code=1).stderr
    failures = read(out / "tables/failures.csv")
    assert len(failures) == 4 and {row["params"] for row in failures} == {"n_neighbors=5000"}
    assert all("n_neighbors" in row["error"] for row in failures)
    assert {row["params"] for row in metrics(out)} == {"n_neighbors=3", "n_neighbors=5"}
    assert "4 failed (--retry-failed tries again)" in run_serial(config, out, code=1).stderr
    assert "4 fits to compute" in run_serial(config, out, "--retry-failed", code=1).stderr
    status = json.loads(command("status", out, "--json").stdout)
    assert (status["cells"], status["done"], status["failed"], status["left"]) == (12, 8, 4, 0)


def test_an_interrupted_retry_keeps_the_failures_that_it_did_not_replace(tmp_path, monkeypatch):
    fit, raised = KNeighborsClassifier.fit, {}

    def failing(self, X, y):
        if self.n_neighbors in raised:
            raise raised[self.n_neighbors]
        return fit(self, X, y)

    monkeypatch.setattr(KNeighborsClassifier, "fit", failing)
    config, out = write_config(tmp_path, [KNN.replace("5000", "7")]), tmp_path / "out"

    def status():
        state = RunStatus.of(Store(out))
        failures = [(*failure["params"].values(), failure["error"]) for failure in state.failures(Store(out))]
        assert len(state.state.done) + len(failures) == 12 and not state.state.left
        return failures

    raised.update(dict.fromkeys((3, 5, 7), ValueError("first")))
    run_serial(config, out, code=1)
    assert len(status()) == 12
    raised.update({5: ValueError("second"), 7: KeyboardInterrupt()})
    del raised[3]
    run_serial(config, out, "--retry-failed", code=130)
    failures = status()
    assert {error for k, error in failures if k != 5} == {"ValueError: first"}
    raised.clear()
    run_serial(config, out, code=1)
    assert status() == failures
    run_serial(config, out, "--retry-failed")
    assert status() == []


def test_a_damaged_cell_is_computed_again(tmp_path):
    config, out = write_config(tmp_path, METHODS[:1]), tmp_path / "out"
    run_serial(config, out)
    whole = contents(out)
    (lines,) = out.glob(".run/batches/*.jsonl")
    content = lines.read_bytes().split(b"\n")
    damaged = [b"{", content[2].replace(b'"train_rows": ', b'"train_rows": 1'), *content[3:]]
    lines.write_bytes(b"\n".join([content[0], *damaged]))
    assert "6 of 8 fits are done already" in run_serial(config, out).stderr
    assert contents(out) == whole


@pytest.mark.parametrize("large", [False, True])
def test_shards_make_the_whole(reference, tmp_path, monkeypatch, large):
    """In a large run only the shard that finishes last writes the report; the others print numbers."""
    if large:
        monkeypatch.setattr("confml.commands.run.LARGE", 7)
    config, out, done = write_config(tmp_path), tmp_path / "out", 0
    whole = json.loads((reference / "summary.json").read_text())
    for shard in ("1/3", "3/3", "2/3"):
        ran = run_serial(config, out, "--shard", shard, "--json")
        printed, last = json.loads(ran.stdout), shard == "2/3"
        cells = printed["cells"]
        assert cells["planned"] == whole["cells"]["planned"] and cells["failed"] == 0
        assert done < cells["done"] and (cells["done"] == cells["planned"]) is last
        done = cells["done"]
        assert (out / "metrics.csv").exists() is (last or not large)
        message = "fits of other shards are not finished; the shard that finishes last"
        assert (message in ran.stderr) is (large and not last)
        if large and not last:
            assert printed == {"name": whole["name"], "cells": cells}
        else:
            assert printed == json.loads((out / "summary.json").read_text())
    assert printed == whole and contents(out) == contents(reference)


def test_plan_computes_nothing(tmp_path):
    dry_run = command("run", "--dry-run", write_config(tmp_path), "--out", tmp_path / "out", "--json")
    rows = json.loads(dry_run.stdout)["cells"]
    assert sum(row["cells"] for row in rows) == 20 and all(row["left"] == row["cells"] for row in rows)
    assert {row["inner_fits"] for row in rows if row["method"] == "knn"} == {9}
    assert not (tmp_path / "out").exists()


def test_no_write_permission(tmp_path):
    (tmp_path / "file").write_text("")
    done = run_serial(write_config(tmp_path), tmp_path / "file" / "out", code=2)
    assert "cannot write results there" in done.stderr


def test_paths_are_not_machine_bound(reference):
    """Nothing in the reports names a folder of the machine that made them."""
    for path in reference.rglob("*"):
        if path.suffix in (".csv", ".md", ".json", ".svg") and path.parent.name != "batches":
            assert str(Path(sys.prefix)) not in path.read_text(encoding="utf-8"), path


def test_data_sets_of_equal_contents_stay_apart(tmp_path):
    text = CONFIG.replace("{generate: five-gaussians, n: 80, test-n: 40}", "{name: same, card: wine-sklearn}")
    run_serial(write_config(tmp_path, METHODS[:2], text), tmp_path / "out")
    rows = {name: [] for name in ("wine-sklearn", "same")}
    for row in metrics(tmp_path / "out"):
        rows[row.pop("dataset")].append(row)
    assert rows["same"] == rows["wine-sklearn"] != []


def test_warnings_of_libraries_are_told_once(tmp_path):
    config = write_config(tmp_path, ["  - {name: sklearn.linear_model.LogisticRegression, max_iter: 1}"])
    done = run(config, tmp_path / "out", "--jobs", "2")
    assert done.stderr.count("ConvergenceWarning") == 1 and "warning in" in done.stderr
    again = run_serial(config, tmp_path / "quiet", "--quiet")
    assert again.stderr.count("ConvergenceWarning") == 1 and len(again.stderr.splitlines()) == 1


def test_warnings_that_differ_by_their_numbers_are_one_line(tmp_path, monkeypatch):
    numbers = iter(range(100))

    def divided(*args):
        warnings.warn(f"largest R-hat {1 + next(numbers) / 7:.2f}, raise it", UserWarning, stacklevel=2)
        return split_rows(*args)

    monkeypatch.setattr(split_data, "split_rows", divided)
    done = run_serial(write_config(tmp_path, METHODS[:1]), tmp_path / "out")
    lines = [line for line in done.stderr.splitlines() if "R-hat" in line]
    assert len(lines) == 1 and not lines[0].startswith("warning in 1 of")


def test_inner_folds_that_the_data_cannot_give_are_said_before_anything_runs(tmp_path):
    done = run_serial(write_config(tmp_path), tmp_path / "out", "--set", "protocol.inner-folds=1000", code=2)
    assert "too few for 1000 folds" in done.stderr and not (tmp_path / "out").exists()


def test_a_report_that_is_not_of_the_results_is_made_again(tmp_path):
    config, out = write_config(tmp_path, METHODS[1:2]), tmp_path / "out"
    run_serial(config, out)
    expected = contents(out)
    (out / "summary.csv").write_text("mine\n")
    (out / ".run/notes.txt").unlink()
    run_serial(config, out, "--set", "figures=[coverage-by-level]")
    assert (out / ".run/notes.txt").exists() and list(out.rglob("coverage-by-level*.svg"))
    assert contents(out) == expected
    shutil.rmtree(out)
    run_serial(config, out)  # its tasks do not look for what an earlier run of their process had stored
    assert contents(out) == expected
