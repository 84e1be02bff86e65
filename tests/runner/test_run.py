"""`confml run` as users run it: the same bytes however it is run, nothing lost, failures told."""

import contextlib
import csv
import io
import json
import os
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from processes import confml, start
from runner.stored import stored_keys
from sklearn.neighbors import KNeighborsClassifier

from confml.cli import main
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
figures: FIGURES
baseline: false
seed: 3
"""
METHODS = [
    "  - {name: tcm-nn, sweep: {k: [1, 3]}}",
    "  - {name: knn, tune: {k: [1, 5, 9]}}",
    "  - {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 5, sweep: {max_depth: [1, 3]}}",
]


def write_config(folder, methods=METHODS, text=CONFIG, figures="[]"):
    path = folder / "config.yaml"
    path.write_text(text.replace("METHODS", "\n".join(methods)).replace("FIGURES", figures))
    return path


def run(config, out, *more, code=0):
    done = confml("run", config, "--out", out, *more)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def quick(config, out, *more, code=0):
    """`run` in this process, for tests whose subject is not the workers."""
    return command("run", config, "--out", out, "--engine", "serial", *more, code=code)


def command(*arguments, code=0):
    errors, printed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(printed):
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
    assert ended.value.code == code, errors.getvalue()
    assert "Traceback" not in errors.getvalue()
    return SimpleNamespace(stderr=errors.getvalue(), stdout=printed.getvalue())


def tables(out):
    files = [path for path in sorted(out.rglob("*.csv")) if path.name != "timings.csv"]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def metrics(out):
    with open(out / "metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    # There is a column for each parameter of any method in the config.
    return [{name: row[name] for name in row if not name.startswith("params.")} for row in rows]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """One run with one job: the truth for the others."""
    folder = tmp_path_factory.mktemp("reference")
    run(write_config(folder, figures="[coverage-by-level]"), folder / "out", "--jobs", "1")
    return folder / "out"


def test_results_are_complete(reference):
    rows = metrics(reference)
    assert list(rows[0]) == ["dataset", "method", "params", "split", "view", "metric", "level", "value"]
    assert {row["dataset"] for row in rows} == {"wine-sklearn", "five-gaussians"}
    assert {row["params"] for row in rows if row["method"] == "tcm-nn"} == {"k=1", "k=3"}
    assert {row["split"] for row in rows} == {"r0", "r1"}
    wanted = {
        "error",
        "accuracy",
        "ari",
        "coverage",
        "mean_region_size",
        "one_class",
        "two_or_more",
        "no_class",
    }
    assert wanted <= {row["metric"] for row in rows if row["view"] == "p-value"}
    assert list((reference / "regions" / "wine-sklearn").glob("*.csv"))
    assert not list(reference.glob(".work*"))
    with open(reference / "tables/tuning.csv", newline="") as file:
        tuned = list(csv.DictReader(file))
    assert {row["method"] for row in tuned} == {"knn"}
    manifest = json.loads((reference / ".run/manifest.json").read_text())
    assert manifest["finished"] and manifest["provenance"]["packages"]["numpy"]


def test_two_jobs_give_the_same_bytes(reference, tmp_path):
    run(write_config(tmp_path), tmp_path / "out", "--jobs", "2")
    assert tables(tmp_path / "out") == tables(reference)


def test_order_and_company_of_methods_do_not_matter(reference, tmp_path):
    quick(write_config(tmp_path, METHODS[::-1]), tmp_path / "turned")
    turned = sorted(map(str, metrics(tmp_path / "turned")))
    assert turned == sorted(map(str, metrics(reference)))
    quick(write_config(tmp_path, [METHODS[2]]), tmp_path / "alone")
    alone = [row for row in metrics(reference) if row["method"].startswith("sklearn")]
    assert metrics(tmp_path / "alone") == alone


def test_a_swept_value_gives_what_the_fixed_one_gives(reference, tmp_path):
    """A cell does not know which other values stand beside it: chance does not depend on the sweep."""
    fixed = "  - {name: sklearn.ensemble.RandomForestClassifier, n_estimators: 5, max_depth: 3}"
    quick(write_config(tmp_path, [fixed]), tmp_path / "out")
    swept = [row for row in metrics(reference) if "max_depth=3" in row["params"]]
    assert metrics(tmp_path / "out") == swept


def test_killed_half_way_and_taken_up_again(reference, tmp_path):
    config = write_config(tmp_path)
    process = start("run", config, "--out", tmp_path / "out", "--jobs", "2", new_session=True)
    out = tmp_path / "out"
    while process.poll() is None and len(stored_keys(out)) < 4:
        time.sleep(0.02)
    with_kill = process.poll() is None
    if with_kill:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = stored_keys(out)
    done = run(config, out, "--jobs", "2")
    assert f"{len(before)} of 20 fits are done already" in done.stderr
    assert len(set(stored_keys(out))) == len(stored_keys(out)) == 20  # nothing that was done is done again
    assert tables(tmp_path / "out") == tables(reference)
    assert not list((tmp_path / "out").glob(".work*"))
    assert read_manifest(tmp_path / "out")["resumed"] and not read_manifest(reference)["resumed"]


def test_more_repeats_and_other_levels_keep_the_finished_cells(tmp_path):
    config = write_config(tmp_path, METHODS[:1])
    quick(config, tmp_path / "out")
    first, rows = stored_keys(tmp_path / "out"), metrics(tmp_path / "out")
    quick(config, tmp_path / "out", "--set", "protocol.repeats=3")
    again = stored_keys(tmp_path / "out")
    assert set(first) < set(again) and len(set(again)) == len(again) == len(first) * 3 // 2
    assert [row for row in metrics(tmp_path / "out") if row["split"] != "r2"] == rows
    quick(config, tmp_path / "out", "--set", "protocol.repeats=3", "--set", "levels=[0.1]")
    assert stored_keys(tmp_path / "out") == again
    assert {row["level"] for row in metrics(tmp_path / "out") if row["metric"] == "coverage"} == {"0.1"}


def test_report_needs_neither_data_nor_computing(reference, tmp_path, monkeypatch):
    shutil.copytree(reference, tmp_path / "out")
    for path in [*(tmp_path / "out").rglob("*.csv"), *(tmp_path / "out").rglob("*.svg")]:
        path.unlink()
    monkeypatch.setenv("CONFML_DATA", "/nowhere")
    command("report", tmp_path / "out", "--quiet")
    assert tables(tmp_path / "out") == tables(reference)
    figures = sorted(path.relative_to(reference) for path in reference.rglob("*.svg"))
    assert figures
    for figure in figures:
        assert (tmp_path / "out" / figure).read_bytes() == (reference / figure).read_bytes()


FAILING = [
    "  - {name: tcm-nn, k: 1}",
    "  - {name: sklearn.neighbors.KNeighborsClassifier, sweep: {n_neighbors: [3, 5000]}}",
]


def test_a_failing_cell_harms_no_other(tmp_path):
    config = write_config(tmp_path, FAILING)
    done = run(config, tmp_path / "out", "--jobs", "2", code=1)
    assert "4 fits failed" in done.stderr
    with open(tmp_path / "out" / "tables/failures.csv", newline="") as file:
        failures = list(csv.DictReader(file))
    assert len(failures) == 4 and {row["params"] for row in failures} == {"n_neighbors=5000"}
    assert all("n_neighbors" in row["error"] for row in failures)
    assert {row["params"] for row in metrics(tmp_path / "out")} == {"k=1", "n_neighbors=3"}

    again = quick(config, tmp_path / "out", code=1)
    assert "4 failed (--retry-failed tries again)" in again.stderr
    retried = quick(config, tmp_path / "out", "--retry-failed", code=1)
    assert "4 fits to compute" in retried.stderr

    status = json.loads(command("status", tmp_path / "out", "--json").stdout)
    assert (status["cells"], status["done"], status["failed"], status["left"]) == (12, 8, 4, 0)


def test_an_interrupted_retry_keeps_the_failures_that_it_did_not_replace(tmp_path, monkeypatch):
    fit, raised = KNeighborsClassifier.fit, {}

    def failing(self, X, y):
        if self.n_neighbors in raised:
            raise raised[self.n_neighbors]
        return fit(self, X, y)

    monkeypatch.setattr(KNeighborsClassifier, "fit", failing)
    sweep = "  - {name: sklearn.neighbors.KNeighborsClassifier, sweep: {n_neighbors: [3, 5, 7]}}"
    config, out = write_config(tmp_path, [sweep]), tmp_path / "out"

    def status():
        state = RunStatus.of(Store(out))
        errors = {
            (failure["dataset"], failure["params"]["n_neighbors"], failure["split"]): failure["error"]
            for failure in state.failures(Store(out))
        }
        assert len(state.state.done) + len(errors) == 12 and not state.state.left
        return errors

    raised.update(dict.fromkeys((3, 5, 7), ValueError("first")))
    quick(config, out, code=1)
    assert len(status()) == 12
    raised.update({5: ValueError("second"), 7: KeyboardInterrupt()})
    del raised[3]
    quick(config, out, "--retry-failed", code=130)
    kept = status()
    assert {error for (_, k, _), error in kept.items() if k != 5} == {"ValueError: first"}
    raised.clear()
    quick(config, out, code=1)
    assert status() == kept
    quick(config, out, "--retry-failed")
    assert status() == {}


def test_a_damaged_cell_is_computed_again(reference, tmp_path):
    config = write_config(tmp_path, METHODS[:1])
    quick(config, tmp_path / "out")
    whole = tables(tmp_path / "out")
    lines = max(
        (tmp_path / "out" / ".run/batches").glob("*.jsonl"),
        key=lambda path: path.read_text().count("cells"),
    )
    content = lines.read_bytes().split(b"\n")
    damaged = [b"{", content[2].replace(b'"train_rows": ', b'"train_rows": 1'), *content[3:]]
    lines.write_bytes(b"\n".join([content[0], *damaged]))
    done = quick(config, tmp_path / "out")
    assert "6 of 8 fits are done already" in done.stderr
    assert tables(tmp_path / "out") == whole


@pytest.mark.parametrize("large", [False, True])
def test_shards_make_the_whole(reference, tmp_path, monkeypatch, large):
    """In a large run only the shard that finishes last writes the report; the others print numbers."""
    if large:
        monkeypatch.setattr("confml.commands.run.LARGE", 7)
    config, out, done = write_config(tmp_path), tmp_path / "out", 0
    whole = json.loads((reference / "summary.json").read_text())
    for shard in ("1/3", "3/3", "2/3"):
        ran = quick(config, out, "--shard", shard, "--json")
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
    assert printed == whole and tables(out) == tables(reference)


def test_plan_computes_nothing(tmp_path):
    config = write_config(tmp_path)
    rows = json.loads(command("run", "--dry-run", config, "--out", tmp_path / "out", "--json").stdout)[
        "cells"
    ]
    assert sum(row["cells"] for row in rows) == 20 and all(row["left"] == row["cells"] for row in rows)
    assert {row["inner_fits"] for row in rows if row["method"] == "knn"} == {9}
    assert not (tmp_path / "out").exists()


def test_no_write_permission(tmp_path):
    (tmp_path / "file").write_text("")
    done = quick(write_config(tmp_path), tmp_path / "file" / "out", code=2)
    assert "cannot write results there" in done.stderr


def test_paths_are_not_machine_bound(reference):
    """Nothing in the reports names a folder of the machine that made them."""
    for path in reference.rglob("*"):
        if path.suffix in (".csv", ".md", ".json", ".svg") and path.parent.name != "batches":
            assert str(Path(sys.prefix)) not in path.read_text(encoding="utf-8"), path


def test_data_sets_of_equal_contents_stay_apart(tmp_path):
    text = CONFIG.replace(
        "  - {generate: five-gaussians, n: 80, test-n: 40}", "  - {name: same, card: wine-sklearn}"
    )
    quick(write_config(tmp_path, METHODS[:2], text), tmp_path / "out")
    rows = {name: [] for name in ("wine-sklearn", "same")}
    for row in metrics(tmp_path / "out"):
        rows[row.pop("dataset")].append(row)
    assert rows["same"] == rows["wine-sklearn"] != []


def test_warnings_of_libraries_are_told_once(tmp_path):
    slow = "  - {name: sklearn.linear_model.LogisticRegression, max_iter: 1}"
    config = write_config(tmp_path, [slow])
    done = run(config, tmp_path / "out", "--jobs", "2")
    assert done.stderr.count("ConvergenceWarning") == 1 and "warning in" in done.stderr
    again = quick(config, tmp_path / "quiet", "--quiet")
    assert again.stderr.count("ConvergenceWarning") == 1 and len(again.stderr.splitlines()) == 1


def test_warnings_that_differ_by_their_numbers_are_one_line(tmp_path, monkeypatch):
    numbers = iter(range(100))

    def divided(*args):
        warnings.warn(f"largest R-hat {1 + next(numbers) / 7:.2f}, raise it", UserWarning, stacklevel=2)
        return split_rows(*args)

    monkeypatch.setattr(split_data, "split_rows", divided)
    done = quick(write_config(tmp_path, METHODS[:1]), tmp_path / "out")
    lines = [line for line in done.stderr.splitlines() if "R-hat" in line]
    assert len(lines) == 1 and not lines[0].startswith("warning in 1 of")


def test_inner_folds_that_the_data_cannot_give_are_said_before_anything_runs(tmp_path):
    done = quick(write_config(tmp_path), tmp_path / "out", "--set", "protocol.inner-folds=1000", code=2)
    assert "too few for 1000 folds" in done.stderr and not (tmp_path / "out").exists()


def states(out):
    return {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_a_run_with_nothing_to_do_changes_nothing_and_prints_the_same(tmp_path):
    config, out = write_config(tmp_path, METHODS[:2]), tmp_path / "out"
    first = quick(config, out)
    before = states(out)
    again = quick(config, out)
    assert states(out) == before
    assert again.stdout == first.stdout
    assert json.loads(quick(config, out, "--json").stdout) == json.loads((out / "summary.json").read_text())


def test_a_report_that_is_not_of_the_results_is_made_again(tmp_path):
    config, out = write_config(tmp_path, METHODS[1:2]), tmp_path / "out"
    quick(config, out)
    expected = tables(out)
    (out / "summary.csv").write_text("mine\n")
    (out / ".run/notes.txt").unlink()
    quick(config, out, "--set", "figures=[coverage-by-level]")
    assert (out / ".run/notes.txt").exists() and list(out.rglob("coverage-by-level*.svg"))
    assert tables(out) == expected
    shutil.rmtree(out)
    quick(config, out)  # its tasks do not look for what an earlier run of their process had stored
    assert tables(out) == expected
