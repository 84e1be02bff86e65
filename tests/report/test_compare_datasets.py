"""`confml compare` over several data sets: Bayesian signed-rank test; published tables without numbers."""

import json

import pytest
from click.testing import CliRunner
from report.report_cases import read
from report.test_summary_tables import noisy_run

import confml.report.compare as module
from confml.commands.compare import compare
from confml.measures.ranks import signed_rank
from confml.published import known_tables
from confml.report.report import Report
from confml.report.tables.published_tables import write_tables

LABELS = [f"tcm-nn k={k}" for k in (1, 2, 3, 4)]


@pytest.fixture
def opened(monkeypatch):
    run = noisy_run(datasets=("first", "second", "third"))
    monkeypatch.setattr(module, "open_run", lambda folder: run)


def test_each_data_set_is_a_case(opened, tmp_path):
    rows = module.compare(["run"])
    tests = module.signed_rank_rows(rows, 0.02)
    error = next(one for one in tests if one.metric == "error" and one.first == "tcm-nn k=3")
    gaps = [row.difference for row in rows if row.metric == "error" and row.first == "tcm-nn k=3"]
    expected = signed_rank(gaps, 0.02)
    assert len(gaps) == 3 == error.datasets and error.rope == 0.02
    sides = (error.first_better, error.equivalent, error.second_better)
    assert sides == (expected.second_larger, expected.equivalent, expected.first_larger)
    assert error.second_better > 0.9  # it has more errors
    accepted = next(one for one in tests if one.metric == "sure_correct" and one.first == "tcm-nn k=3")
    assert accepted.second_better > 0.9  # higher is better
    paths = module.write_comparison(rows, tmp_path, tests)
    written = read(tmp_path / "signed-rank.csv")
    assert len(written) == len(tests) and tmp_path / "signed-rank.csv" in paths
    module.write_comparison(rows, tmp_path)
    assert not (tmp_path / "signed-rank.csv").exists()


def test_the_command_prints_and_repeats(opened):
    first, second = (CliRunner().invoke(compare, ["run", "--rope", "0.05"]).output for _ in range(2))
    assert first == second and "equivalent within 0.05" in first and "second better" in first
    found = json.loads(CliRunner().invoke(compare, ["run", "--json"]).output)
    assert set(found) == {"comparisons", "signed_rank"} and found["signed_rank"][0]["rope"] == 0.01


def test_one_data_set_has_no_test_over_data_sets(monkeypatch):
    monkeypatch.setattr(module, "open_run", lambda folder: noisy_run())
    assert module.signed_rank_rows(module.compare(["run"]), 0.01) == []


def test_a_published_table_without_numbers_of_the_run_says_so(tmp_path):
    for name, table in known_tables().items():
        report = Report(noisy_run(), tmp_path)
        write_tables(report, [name], noisy_run().summary)
        assert report.paths == [] and not list(tmp_path.iterdir())
        (note,) = report.notes
        assert note.startswith(f"table {name} is not written") and table.rows()[0]["dataset"] in note


def test_comparisons_have_the_verdicts_of_the_run(opened, tmp_path):
    from confml.measures.ranks import holm
    from confml.report.answers.comparisons import comparisons_of

    run = module.open_run("run")
    comparisons = comparisons_of(run)
    every = [row for name in LABELS for row in module.compare(["run"], against=name)]
    for metric, level in dict.fromkeys((row.metric, row.level) for row in every):
        own = [row for row in every if (row.dataset, row.metric, row.level) == ("first", metric, level)]
        pairs = {frozenset((row.first, row.second)): row for row in own}
        assert len(pairs) == 6 == own[0].pairs
        corrected = dict(zip(pairs, holm([row.p_value for row in pairs.values()]), strict=True))
        for pair, row in pairs.items():
            assert row.p_holm == pytest.approx(corrected[pair])
            assert row.simultaneous_low <= row.low and row.high <= row.simultaneous_high
    rows = [row for row in every if row.metric == "error" and row.second == "tcm-nn k=1"]
    lines = {(line.dataset, line.method): line for line in comparisons.lines}
    for row in rows:
        found = comparisons.estimate(lines[row.dataset, row.first], "error")
        assert row.first_worse == found.worse and not row.second_worse
        assert row.p_holm == pytest.approx(found.p_value)
    assert any(row.first_worse for row in rows) and not all(row.first_worse for row in rows)
    accepted = [row for row in every if row.metric == "sure_correct" and row.first_worse]
    assert accepted and all(row.mean_first < 0.9 for row in accepted)  # higher is better
    printed = CliRunner().invoke(compare, ["run", "--out", str(tmp_path)]).output
    assert "simultaneous for 6 pairs" in printed and f"{rows[2].mean_first:.4f} *" in printed
    written = read(tmp_path / "comparisons.csv")
    assert [row["first_worse"] for row in written[:1]] == ["false"] and float(written[0]["p_holm"]) <= 1


def test_unfinished_runs_have_no_verdicts(monkeypatch):
    run = noisy_run()
    key = next(key for key, result in run.results.items() if result.cell.params["k"] == 4)
    del run.results[key]
    monkeypatch.setattr(module, "open_run", lambda folder: run)
    rows = module.compare(["run"])
    assert {row.pairs for row in rows} == {0} and not any(row.first_worse for row in rows)
    assert "no tests (fits are still to be computed" in CliRunner().invoke(compare, ["run"]).output
