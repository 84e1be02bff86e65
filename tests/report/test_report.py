"""Reports of runs made by hand: golden files, numbers, names, tables, figures, and what is printed."""

import csv
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report.report_cases import (
    GOLDEN,
    PAPER,
    contents,
    entry,
    figure,
    golden_run,
    make_config,
    random_run,
    read,
    result_of,
    run_by_hand,
)

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.published import Ours
from confml.report.console import print_json, print_run
from confml.report.files import field, safe_name, safe_names, write_csv
from confml.report.numbers.summaries import SummaryRow, mean_and_sd
from confml.report.report import Report
from confml.report.tables.known import known_outputs
from confml.report.tables.published_tables import compare, find, published_table, write_combined_tables
from confml.report.write import write_report
from confml.runner import manifest


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    written = write_report(golden_run(paper=PAPER), folder)
    assert len(written) == len(set(written)) and all(path.is_file() for path in written)
    return folder


# ---- all files


def test_files_are_the_golden_ones(report):
    written = contents(report)
    assert written.pop(".run/report-files") and written.pop("summary.json")
    assert written.pop("report.html").startswith(b"<!doctype html>")
    golden = contents(GOLDEN)
    assert set(written) == set(golden)
    declared = {name.partition("/")[0] for output in known_outputs() for name in output.paths}
    assert {name.partition("/")[0] for name in written} <= declared
    for name, content in golden.items():
        assert written[name] == content, f"{name} differs from tests/golden/report (see report_cases.py)"


def test_the_order_of_the_config_decides_no_number(report, tmp_path):
    run = golden_run(paper=PAPER)
    turned = type(run)(run.config, run.cells[::-1], run.results, run.failures[::-1], run.datasets)
    write_report(turned, tmp_path)
    written, expected = contents(tmp_path), contents(report)
    assert set(written) == set(expected)
    for name, content in expected.items():
        if not name.startswith(("tables/", "report.html")):
            assert written[name] == content, name
        elif name.endswith(".csv") and "ranks" not in name:  # in the order of the config
            assert sorted(written[name].splitlines()) == sorted(content.splitlines()), name


def test_what_the_last_report_wrote_and_this_one_does_not_goes(tmp_path):
    run = golden_run(paper=PAPER)
    write_report(run, tmp_path)
    (tmp_path / "regions" / "mine.txt").write_text("kept")
    fewer = [cell for cell in run.cells if cell.method == "tcm-nn" and cell.dataset == "satimage"]
    write_report(type(run)(make_config(run.config.methods), fewer, run.results, (), run.datasets), tmp_path)
    assert {path.name for path in (tmp_path / "regions").iterdir()} == {"satimage", "mine.txt"}
    tables = {path.stem for path in (tmp_path / "tables").iterdir()}
    assert "results" in tables and not {"tcm-nn-table1", "tcm-nn-table3"} & tables
    assert {row["method"] for row in read(tmp_path / "metrics.csv")} == {"tcm-nn"}


def test_a_run_without_results_has_a_report_too(tmp_path, capsys):
    run = golden_run()
    empty = type(run)(run.config, run.cells, {}, run.failures, run.datasets)
    write_report(empty, tmp_path)
    assert read(tmp_path / "metrics.csv") == [] and len(read(tmp_path / "tables/failures.csv")) == 2
    assert "0 of 20 fits finished, 2 failed" in (tmp_path / ".run/notes.txt").read_text()
    print_run(empty, tmp_path)
    out = capsys.readouterr().out
    assert "failures.csv" in out and "Results" not in out


# ---- metrics and summaries


def test_summary_json_holds_what_the_csv_holds_and_is_printed(report, capsys):
    text = (report / "summary.json").read_text(encoding="utf-8")
    print_json(golden_run(paper=PAPER))
    assert capsys.readouterr().out == text
    document = json.loads(text)
    assert document["name"] == "by-hand"
    assert document["cells"] == {"planned": 20, "done": 18, "failed": 2}
    rows = read(report / "summary.csv")
    assert len(rows) == len(document["summary"])
    for row, entry_ in zip(rows, document["summary"], strict=True):
        mean = math.inf if row["mean"] == "inf" else entry_["mean"]  # JSON has no infinity
        assert (entry_["mean"] is None) == (row["mean"] in ("", "inf"))
        assert field(mean) == row["mean"] and field(entry_["level"]) == row["level"]
        assert field(entry_["sd"]) == row["sd"] and str(entry_["n"]) == row["n"]
    assert {"n_estimators": 5, "class_weight": "a;b=c/d,e"} in [row["params"] for row in document["summary"]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([math.nan], (math.nan, math.nan, 0)),
        ([0.5, math.nan], (0.5, math.nan, 1)),
        ([0.1] * 10, (0.1, 0.0, 10)),
        ([1.0, 2.0, 4.0], (7 / 3, math.sqrt(7 / 3), 3)),
        ([math.inf, 1.0], (math.inf, math.nan, 2)),
        ([math.inf, -math.inf], (math.nan, math.nan, 2)),
    ],
)
def test_mean_and_sd(values, expected):
    assert mean_and_sd(values) == pytest.approx(expected, nan_ok=True)


def test_numbers_read_back_as_they_were(tmp_path):
    rng = np.random.default_rng(1)
    values = [0.1 + 0.2, 1 / 3, 5e-324, 1e300, -0.0, *rng.random(50).tolist(), *rng.random(5)]
    write_csv(tmp_path / "x.csv", ["x"], [[value] for value in values])
    lines = (tmp_path / "x.csv").read_bytes().decode().split("\n")
    assert lines[-1] == "" and [float(line) for line in lines[1:-1]] == values
    fields = [field(value) for value in (None, math.nan, True, 3, np.int64(3), 0.05)]
    assert fields == ["", "", "true", "3", "3", "0.05"]


def test_fields_survive_any_reader(tmp_path):
    awkward = ["a,b", 'say "x"', "two\nlines", "a\rb", " blank ", "", "é|ß", "1=1"]
    write_csv(tmp_path / "x.csv", awkward, [awkward, awkward[::-1]])
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        escaped = [field.replace("\r", "\\r") for field in awkward]  # a control character of terminals
        assert list(csv.reader(file)) == [escaped, escaped, escaped[::-1]]


# ---- names of files


@pytest.mark.parametrize(
    "raw",
    ["", "..", "../../etc", "a b", "x" * 300, "é", "-rf", "a\\b", "a:b", "a,b", "k=1.", "\udc80"],
)
def test_other_names_become_safe(raw):
    name = safe_name(raw)
    assert re.fullmatch("[A-Za-z0-9][A-Za-z0-9._=-]*", name) and not name.endswith(".") and len(name) <= 80


def test_names_do_not_collide():
    raws = ["a/b", "a-b", "a b", "A-B", "k=1;x=2", "k=1_x=2", "x" * 100, "x" * 101, *"ab"]
    names = safe_names(raws)
    assert len({name.casefold() for name in names.values()}) == len(raws)
    assert names["a"] == "a"
    assert all(len(name) <= 80 for name in names.values())


def test_a_method_that_stands_twice_has_the_rows_of_both(tmp_path):
    """The same method tuned on two grids: the same name, but two keys."""
    view = Prediction(np.arange(2), np.eye(2), "vote")
    methods = ["ovo-svm", entry("ovo-svm", label="second")]
    run = run_by_hand(methods, lambda cell: result_of(cell, view, [0, 1]))
    first, second = run.cells
    second = replace(second, key="f" * 32)
    results = {**run.results, second.key: replace(run.results[first.key], cell=second)}
    run = type(run)(run.config, [first, second], results, (), run.datasets)
    (file,) = [path for path in write_report(run, tmp_path) if "regions" in path.parts]
    assert [row["row"] for row in read(file)] == ["0", "1", "0", "1"]


# ---- published tables


def summary_row(dataset, method, params, mean, metric="error", level=None):
    variant = ";".join(f"{name}={value}" for name, value in params.items())
    return SummaryRow(dataset, method, params, variant, "p-value", metric, level, mean, math.nan, 1)


def test_the_papers_numbers_meet_ours():
    values = {("one_class", 0.01): 0.644, ("two_or_more", 0.01): 0.356, ("no_class", 0.01): 0.0}
    values |= {("correct_of_one_class", 0.01): 0.98758, ("correct_of_one_class", 0.05): 0.95}
    summary = [summary_row("satimage", "tcm-nn", {"k": 1}, mean, *key) for key, mean in values.items()]
    lines, notes = compare(published_table("tcm-nn-table3"), summary)
    ours = {line.entry[:2]: line for line in lines if line.confml is not None}
    assert {key[0][0] for key in ours} == {"satellite"} and len(ours) == 5
    satellite = ours[("satellite", "1"), "one_class_percent"]
    assert satellite.entry.printed == "64.4" and satellite.confml == 64.4
    assert satellite.difference == 0.0 and satellite.as_printed
    right = ours[("satellite", "1"), "correct_of_one_class_percent"]
    assert right.confml == 98.758 and right.difference == -0.042 and right.as_printed
    assert not ours[("satellite", "5"), "correct_of_one_class_percent"].as_printed  # 95.0 is not 94.9
    assert {"Not computed: usps, shuttle, segment.", "Computed in part: satellite."} <= set(notes)


def test_the_papers_variant_is_found_among_others():
    rows = [
        summary_row("d", "tcm-nn", {"k": 3}, 0.3),
        summary_row("d", "tcm-nn", {"k": 1}, 0.1),
        summary_row("d", "tcm-nn", {"k": 1, "extra": "yes"}, 0.2),
        summary_row("d", "knn", {"k": 1}, 0.4),
        summary_row("other", "tcm-nn", {"k": 1}, 0.5),
    ]
    ours = Ours("tcm-nn", "error", {"k": 1})
    assert [row.mean for row in find(ours, ("d",), rows)] == [0.1]
    assert [row.mean for row in find(ours, ("d",), rows[2:])] == [0.2]
    assert find(ours, ("nothing",), rows) == []
    assert [row.mean for row in find(ours, ("d", "other"), rows)] == [0.1, 0.5]


def test_two_candidates_are_not_chosen_between():
    summary = [summary_row(name, "tcm-nn", {"k": 1}, 0.1) for name in ("satimage", "satellite")]
    lines, notes = compare(published_table("tcm-nn-table1"), summary)
    assert all(line.confml is None for line in lines) and "several variants match" in "".join(notes)


def test_a_table_out_of_several_runs(tmp_path, monkeypatch):
    def predict(cell):
        view = Prediction(np.array([0, 1]), np.tile([0.9, 0.01], (4, 1)), "p-value")
        return result_of(cell, view, [0, 0, 0, 1])

    for name in ("usps", "shuttle"):
        run = run_by_hand([entry("tcm-nn", {"k": 1})], predict, [name], levels=(0.05,))
        write_report(run, tmp_path / name)
        (tmp_path / name / ".run/manifest.json").touch()
    ended = {"usps": {"finished": "2026-11-22T10:00:00+00:00"}, "shuttle": {}}
    monkeypatch.setattr(manifest, "read_manifest", lambda folder: ended[folder.name])
    combined = Report(golden_run(), tmp_path / "all")
    write_combined_tables(combined, ["tcm-nn-table3"], [tmp_path / "usps", tmp_path / "shuttle"])
    (note,) = combined.notes
    assert "shuttle: the run is not finished" in note
    assert [path.name for path in combined.paths] == [f"tcm-nn-table3.{end}" for end in ("csv", "md", "tex")]
    rows = read(combined.paths[0])
    computed = {row["dataset"] for row in rows if row["status"] == "computed"}
    assert computed == {"usps", "shuttle"}
    with pytest.raises(ConfmlError, match=r"nowhere: there is no summary.json"):
        write_combined_tables(combined, ["tcm-nn-table3"], [tmp_path / "nowhere"])


# ---- figures

ALL_FIGURES = [
    figure("error-against"),
    figure("error-against", parameter="C"),
    figure("coverage-by-level", max_level=0.5),
    figure("coverage-by-level", confidence=True, instances=20),
    figure("efficiency"),
]


def figures_run(figures, **config):
    methods = [
        entry("tcm-nn", sweep={"k": [1, 3, 5]}),
        entry("knn", sweep={"k": [1, 3, 5]}, label="NN $_{x"),
        entry("ovo-svm", sweep={"C": [0.25, 1.0, 64.0]}),
    ]
    return random_run(methods, figures=figures, **config)


def test_every_figure_is_drawn_and_its_bytes_repeat(tmp_path, exhaustive):
    write_report(figures_run(ALL_FIGURES, figure_formats=("png", "pdf")), tmp_path / "one")
    write_report(figures_run(ALL_FIGURES if exhaustive else ALL_FIGURES[:2]), tmp_path / "two")
    first, second = contents(tmp_path / "one" / "figures"), contents(tmp_path / "two" / "figures")
    assert exhaustive is (second.pop("index.md") == first["index.md"])
    assert second and second.items() <= first.items()
    index = first.pop("index.md").decode()
    assert len(first) == len(ALL_FIGURES) * 3  # SVG, PNG and PDF
    assert {Path(name).suffix for name in second} == {".svg", ".png"}
    starts = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    for name, content in first.items():
        assert len(content) > 1000, name
        assert content.startswith(starts[Path(name).suffix])
        assert b"<dc:date>" not in content and b"CreationDate" not in content and b"/home/" not in content
        assert re.fullmatch("[A-Za-z0-9_-]+[.](svg|png|pdf)", name)
        if name.endswith(".svg"):
            assert b"<text" in content and f"]({name})" in index  # text as text
    assert (tmp_path / "one" / ".run/notes.txt").read_text() == ""


def test_figures_do_not_follow_the_users_settings(tmp_path):
    import matplotlib

    run, before = figures_run([figure("coverage-by-level")]), dict(matplotlib.rcParams)
    write_report(run, tmp_path / "plain")
    assert dict(matplotlib.rcParams) == before
    of_user = {"font.size": 30, "axes.grid": True, "savefig.dpi": 10, "svg.fonttype": "path"}
    with matplotlib.rc_context(of_user):
        write_report(run, tmp_path / "other")
    assert contents(tmp_path / "plain") == contents(tmp_path / "other")
