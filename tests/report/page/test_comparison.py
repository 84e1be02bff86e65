"""The page of several runs, made by ``confml report A B``."""

import json

import numpy as np
import pytest
from report.page.test_page import Elements, rows_of

import confml
from confml.cli import main
from confml.report.page.page import comparison_page, run_names

CONFIG = {
    "datasets": [{"generate": "five-gaussians", "n": 60}, "wine-sklearn"],
    "methods": [{"name": "naive-bayes"}, {"name": "knn", "k": 1}],
    "protocol": {"kind": "holdout", "test-size": 0.3, "repeats": 3},
    "levels": [0.1],
    "thresholds": [0.9],
    "seed": 1,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    configs = {
        "plain": CONFIG,
        "scaled": CONFIG | {"steps": ["standardise"]},
        "other-seed": CONFIG | {"seed": 2, "datasets": ["wine-sklearn"]},
    }
    for name, config in configs.items():
        confml.run(config | {"name": name}, out=folder / name, jobs=1, engine="serial")
    return folder


def test_equal_methods_are_paired(runs):
    text, sentences = comparison_page([runs / "plain", runs / "scaled"])
    Elements(text)
    rows = rows_of(text, "runs-1")[1]
    assert len(rows) == 4 and all(row[2:4] == ["plain", "scaled"] for row in rows)
    (row,) = [row for row in rows if row[:2] == ["wine-sklearn", "knn k=1"]]
    errors = []
    for name in ("plain", "scaled"):
        metrics = confml.load_run(runs / name).metrics
        mine = metrics[(metrics.dataset == "wine-sklearn") & (metrics.method == "knn")]
        errors.append(mine[mine.metric == "error"].sort_values("split").value.to_numpy())
    expected = 100 * (errors[0] - errors[1]).mean()
    difference, interval = row[6].replace("\N{MINUS SIGN}", "-").split(" ", 1)
    assert float(difference) == pytest.approx(expected, abs=0.006)
    low, high = (float(end) for end in interval.strip("[]").split(", "))
    assert low < expected < high and (low > 0 or high < 0) == (float(row[7].lstrip("<")) < 0.05)
    assert row[4] == f"{100 * np.mean(errors[0]):.2f}" and row[9] == "3"
    shown = "".join(Elements(text).texts).replace("\N{NO-BREAK SPACE}", " ")
    assert all(part in shown for sentence in sentences for part in sentence.split(". "))


def test_results_on_other_test_examples_are_not_compared(runs):
    text, _ = comparison_page([runs / "plain", runs / "other-seed"])
    said = "".join(Elements(text).texts)
    assert "different test examples" in said and "five-gaussians is in plain only" in said
    assert [row[0] for row in rows_of(text, "runs-1")[1]] == ["datasets", "seed"]
    assert 'id="runs-2"' not in text
    assert "data sets are missing: knn k=1, other-seed, naive-bayes, other-seed" in said
    alone, _ = comparison_page([runs / "other-seed", runs / "other-seed"])
    assert "There are no mean ranks" in "".join(Elements(alone).texts)


def test_ranks_of_methods_of_two_runs(runs):
    text, _ = comparison_page([runs / "plain", runs / "scaled"])
    headings, rows = rows_of(text, "summary")
    methods, ranks = headings[1:], rows[-1][1:]
    assert {*methods[:4]} == {
        f"{method}, {run}" for method in ("naive-bayes", "knn k=1") for run in ("plain", "scaled")
    }
    assert sum(map(float, ranks[:4])) == pytest.approx(10, abs=0.02)
    assert methods[4:] == ["majority-class, plain", "majority-class, scaled"] and ranks[4:] == ["-", "-"]


def test_names_of_runs(tmp_path):
    assert run_names([tmp_path / "a", tmp_path / "b"], ["x", "y"]) == ["x", "y"]
    assert run_names([tmp_path / "a", tmp_path / "b"], ["x", "x"]) == ["a", "b"]
    assert run_names([tmp_path / "a" / "c", tmp_path / "b" / "c"], ["x", "x"]) == ["x (1)", "x (2)"]


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(one) for one in arguments])
    return ended.value.code or 0, *capsys.readouterr()


def test_the_command_writes_one_page(runs, tmp_path, capsys):
    code, out, _ = call(capsys, "report", runs / "plain", runs / "scaled", "--out", tmp_path / "both")
    assert code == 0 and out.endswith(f"page: {tmp_path / 'both' / 'report.html'}\n")
    code, out, _ = call(capsys, "report", runs / "plain", runs / "scaled", "--json")
    assert code == 0 and json.loads(out)["page"] == str(runs / "comparison" / "report.html")
    code, _, err = call(capsys, "report", runs / "plain", runs / "scaled", "--out", runs / "plain")
    assert code == 2 and "this is the folder of a run" in err
    code, _, err = call(capsys, "report", runs / "plain", "--out", tmp_path)
    assert code == 2 and "--out needs" in err
    code, _, err = call(capsys, "report", runs / "plain", "--table", "tcm-nn-table1")
    assert code == 2 and "--table needs --out" in err
