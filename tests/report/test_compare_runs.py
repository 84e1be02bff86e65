"""`confml compare` of runs: the tests of their report on each data set, ranks, and runs that differ."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command_line import command
from report.report_cases import dataset
from report.test_summary_tables import noisy_run

import confml.report.outcomes as module
from confml.config import make_config
from confml.errors import ConfmlError
from confml.measures.ranks import signed_rank
from confml.report.answers.comparisons import comparisons_of
from confml.report.answers.datasets import ranking
from confml.runner.run import Execution
from confml.runner.run import run as execute

NAMES = ("first", "second", "third")


@pytest.fixture
def run(monkeypatch):
    run = noisy_run(datasets=NAMES)
    monkeypatch.setattr(module, "open_run", lambda folder: run)
    return run


def test_each_data_set_has_the_tests_of_the_report(run, tmp_path):
    compared, comparisons = module.compare_runs(["run"]), comparisons_of(run)
    lines = {(line.dataset, line.method): line for line in comparisons.lines}
    assert len(compared.models) == 12 and len(compared.pairs) == 18
    for row in compared.models.itertuples():
        estimate = comparisons.estimate(lines[row.task, row.model], "error")
        assert row.mean == pytest.approx(estimate.mean) and row.worse == estimate.worse
        assert row.p_holm == pytest.approx(estimate.p_value, nan_ok=True)
        gap = comparisons.comparison(row.task).difference(lines[row.task, row.model])
        assert row.difference == pytest.approx(gap.difference)
        ends = row.simultaneous_low, row.simultaneous_high
        assert np.isnan(row.p_holm) or ends == pytest.approx(gap.interval(6))
    assert set(compared.models["worse"]) == {True, False}
    ranks = ranking(run, "error")
    of_models = dict(zip(ranks.labels, ranks.comparison.mean_ranks, strict=True))
    assert compared.ranks.set_index("model")["mean_rank"].to_dict() == of_models
    paths = {path.name for path in compared.write(tmp_path)}
    assert {"models.csv", "pairs.csv", "ranks.csv", "signed-ranks.csv", "report.html"} <= paths


def test_the_best_ranked_method_has_a_signed_rank_test_with_each_other_one(run):
    compared = module.compare_runs(["run"], 0.02)
    scores = ranking(run, "error").scores
    best = compared.ranks["model"][0]
    for row in compared.signed_ranks.itertuples():
        expected = signed_rank(scores[row.second] - scores[row.first], 0.02)  # lower errors are better
        sides = row.first_better, row.equivalent, row.second_better
        assert sides == (expected.first_larger, expected.equivalent, expected.second_larger)
        assert (row.first, row.tasks, row.rope) == (best, 3, 0.02)
    worst = compared.signed_ranks[compared.signed_ranks["second"] == "tcm-nn k=3"]
    assert worst["first_better"].item() > 0.9


def test_methods_of_runs_have_the_names_of_the_runs(run, monkeypatch):
    """Equal methods are compared on common splits; other test examples are named."""
    moved = {
        key: replace(result, rows=result.rows + 1) if result.cell.dataset == "third" else result
        for key, result in run.results.items()
    }
    config = run.config.model_copy(update={"seed": 7})
    infos = {name: replace(info, checksum="other") for name, info in run.datasets.items()}
    second = replace(run, results=moved, config=config, datasets=infos)
    runs = iter([run, second])
    monkeypatch.setattr(module, "open_run", lambda folder: next(runs))
    compared = module.compare_runs(["a", "b"])
    assert set(compared.models["model"]) == {f"tcm-nn k={k} ({n})" for k in (1, 2, 3, 4) for n in "ab"}
    pairs = compared.pairs[compared.pairs["task"] == "first"].set_index(["first", "second"])
    assert len(pairs) == 28
    same = [row for key, row in pairs.iterrows() if key[0][:10] == key[1][:10]]
    assert {row["difference"] for row in same} == {0.0} and {row["p_value"] for row in same} == {1.0}
    notes = "\n".join(compared.notes)
    assert "third: tcm-nn k=1 (b) is not compared (different test examples)" in notes
    assert "first has different contents" in notes and "configs of the runs differ in seed" in notes


def test_an_unfinished_run_has_no_comparison(run):
    key = next(key for key, result in run.results.items() if result.cell.dataset == "first")
    del run.results[key]
    compared = module.compare_runs(["run"])
    assert set(compared.models["task"]) == {"second", "third"}
    assert "first is left out: so far 5 of 6 splits are complete." in compared.notes
    for key, result in list(run.results.items()):
        if result.cell.params["k"] > 1:
            del run.results[key]
    with pytest.raises(ConfmlError, match="no two methods have finished the same splits"):
        module.compare_runs(["run"])


def test_two_splits_of_groups_have_no_test(monkeypatch):
    run = noisy_run(splits=2, datasets=("first",))
    run.config = run.config.model_copy(update={"datasets": (dataset("first", "person"),)})
    monkeypatch.setattr(module, "open_run", lambda folder: run)
    (sentence,) = module.compare_runs(["run"]).sentences
    assert sentence.startswith("No test: the rows of a group are not independent, and there are fewer")


def test_the_command_prints_the_answer_and_refuses_the_folder_of_a_run(run, tmp_path):
    output = command("compare", "run", "--rope", "0.05").output
    assert output == command("compare", "run", "--rope", "0.05").output
    assert output.startswith("Mean ranks over 3 tasks: ") and "equivalent within 0.05" in output
    document = json.loads(command("compare", "run", "--json").output)
    assert {"models", "pairs", "ranks", "signed_ranks"} <= set(document)
    (tmp_path / ".run").mkdir()
    (tmp_path / ".run" / "manifest.json").write_text("{}")
    with pytest.raises(ConfmlError, match="this is the folder of a run"):
        module.compare_runs(["run"]).write(tmp_path)


def test_differences_from_a_chosen_model_are_those_of_the_pairs(run):
    compared = module.compare_runs(["run"])
    model = compared.models["model"].iloc[-1]
    sentences = module.compare_runs(["run"], against=model).sentences
    assert sentences[: len(compared.sentences)] == compared.sentences
    for task, sentence in zip(NAMES, sentences[len(compared.sentences) :], strict=True):
        pairs = compared.pairs[compared.pairs["task"] == task]
        of_model = pairs[(pairs["first"] == model) | (pairs["second"] == model)]
        better = of_model[of_model["better"].notna() & (of_model["second"] == model)]["first"]
        worse = of_model[of_model["better"] == model]["second"]
        same = set(compared.models["model"]) - {model, *better, *worse}
        assert sentence.startswith(f"Against {model} ({task}): ")
        parts = dict(part.split(": ") for part in sentence.split("): ")[1].rstrip(".").split("; "))
        for kind, names in (("better", better), ("worse", worse), ("no significant difference", same)):
            assert all(name in parts[kind] for name in names) and (len(names) > 0) == (kind in parts)
    with pytest.raises(ConfmlError, match="the name of one model") as refused:
        module.compare_runs(["run"], against="unknown")
    assert model in refused.value.hint


def test_equal_views_are_one_model_and_failures_are_named(tmp_path):
    data = {"generate": "five-gaussians", "n": 60, "test-n": 60}
    methods = [{"name": name} for name in ("bayes-discriminant", "knn", "sklearn.naive_bayes.MultinomialNB")]
    values = {"name": "a", "datasets": [data], "methods": methods, "protocol": "fixed-split", "figures": []}
    execute(make_config(values), tmp_path, Execution(1, engine="serial"))
    compared = module.compare_runs([tmp_path])
    assert set(compared.models["model"]) == {"bayes-discriminant (reject)", "knn"}
    notes = "\n".join(compared.notes)
    assert "with the errors of the first view of the method: bayes-discriminant (envelope)" in notes
    assert "MultinomialNB failed on 1 split of five-gaussians" in notes
