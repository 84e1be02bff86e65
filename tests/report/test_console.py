"""The console: a short table that fits a terminal, its legend, and plain text in a pipe."""

import contextlib
import io
import re

import pytest
from report.report_cases import entry, golden_run, random_run

from confml.report.console import print_run
from confml.report.write import write_report

LONG = "a-data-set-with-a-name-of-forty-letters-x"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("console")
    write_report(golden_run(), folder)
    return folder


def printed(report, stream=None, run=None, **options) -> str:
    stream = stream or io.StringIO()
    with contextlib.redirect_stdout(stream):
        print_run(run or golden_run(), report, **options)
    return stream.getvalue()


@pytest.mark.parametrize(("columns", "everything"), [("80", False), ("80", True), ("60", False)])
def test_a_terminal_gets_whole_names_in_its_width(report, monkeypatch, columns, everything):
    monkeypatch.setenv("COLUMNS", columns)
    text = printed(report, Terminal(), everything=everything)
    for name in ("odd, data", "satimage", "tcm-nn k=10", "1-NN", "ovo-svm", "p-value", "posterior"):
        assert name in text
    lines = [line for line in text.split("\n") if str(report) not in line]
    # One word, the name of the forest with its parameters, is longer than a narrow column.
    assert all(len(line) <= int(columns) or "class_weight" in line for line in lines), lines


def test_a_pipe_gets_no_line_breaks_and_no_escapes(report, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = printed(report)
    assert text.split("\n")[0].split()[:6] == ["data", "set", "method", "view", "error", "coverage"]
    assert "\x1b" not in text and max(map(len, text.split("\n"))) > 80


def test_the_short_table_has_a_legend_and_the_files(report):
    text = printed(report)
    assert "sure correct" not in text
    assert "regions at significance level 0.05" in text and "+ the lowest" in text
    assert "0 of 5; no significant difference from the others" in text  # all errors are equal
    assert "is not compared (different test examples)" in text
    several = printed(report, run=many_run(4))
    assert re.search(r"significance: \* shown to be worse than the lowest \(.*\): \d of 3", several)
    assert "would probably have been detected (80 % power)" in several and "2 splits: fewer than 5" in several
    assert "note: satimage: column 'id' looks like an id" in text
    assert f"tables:  {report / 'tables'}" in text
    assert f"page:    {report / 'report.html'}" in text


def many_run(methods: int, datasets=(LONG,)):
    return random_run([entry("knn", sweep={"k": list(range(1, methods + 1))})], datasets, classes=(0, 1))


def test_a_long_table_has_the_best_and_says_so(tmp_path):
    text = printed(tmp_path, run=many_run(41))
    assert "40 of 41 rows, the lowest errors; --all prints the rest" in text
    assert sum("vote" in line for line in text.split("\n")) >= 40
    assert "--all prints the rest" not in printed(tmp_path, run=many_run(40))


def test_ten_data_sets_have_every_method_in_sixty_lines(tmp_path):
    names = [f"data-set-{number}" for number in range(10)]
    run = many_run(7, names)
    lines = printed(tmp_path, run=run).split("\n")
    assert len(lines) <= 60
    heads = " ".join(line for line in lines if line.startswith("data set "))
    assert set(re.findall(r"knn k=\d", heads)) == set(map(run.label, run.cells))
    (means,) = [line for line in lines if line.startswith("data-set-3 ")]
    errors = [row.mean for row in run.summary if (row.dataset, row.metric) == ("data-set-3", "error")]
    assert sorted(re.findall(r"\d+\.\d\d", means)) == sorted(f"{100 * mean:.2f}" for mean in errors)
