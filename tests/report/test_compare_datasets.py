"""`confml compare` over several data sets: Bayesian signed-rank test; published tables without numbers."""

import csv
import json

import pytest
from click.testing import CliRunner
from report.test_summary_tables import noisy_run

import confml.report.compare as module
from confml.commands.compare import compare
from confml.measures.signed_rank import signed_rank
from confml.published import known_tables
from confml.report import write_items
from confml.report.sections.published_tables import tables


@pytest.fixture
def opened(monkeypatch):
    run = noisy_run(datasets=("first", "second", "third"))
    monkeypatch.setattr(module, "open_run", lambda folder: run)


def test_each_data_set_is_a_case(opened, tmp_path):
    rows, curves = module.compare(["run"])
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
    paths = module.write_comparison(rows, curves, tmp_path, tests)
    with (tmp_path / "signed-rank.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == len(tests) and tmp_path / "signed-rank.csv" in paths
    module.write_comparison(rows, curves, tmp_path)
    assert not (tmp_path / "signed-rank.csv").exists()


def test_the_command_prints_and_repeats(opened):
    first, second = (CliRunner().invoke(compare, ["run", "--rope", "0.05"]).output for _ in range(2))
    assert first == second and "equivalent within 0.05" in first and "second better" in first
    found = json.loads(CliRunner().invoke(compare, ["run", "--json"]).output)
    assert set(found) == {"comparisons", "signed_rank"} and found["signed_rank"][0]["rope"] == 0.01


def test_one_data_set_has_no_test_over_data_sets(monkeypatch):
    monkeypatch.setattr(module, "open_run", lambda folder: noisy_run())
    assert module.signed_rank_rows(module.compare(["run"])[0], 0.01) == []


def test_a_published_table_without_numbers_of_the_run_says_so(tmp_path):
    for name, table in known_tables().items():
        paths, notes = write_items(tables([name], noisy_run().summary), tmp_path)
        assert paths == [] and not list(tmp_path.iterdir())
        (note,) = notes
        assert note.startswith(f"table {name} is not written") and table.rows()[0]["dataset"] in note
