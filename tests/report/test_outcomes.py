"""`confml compare` of a table of outcomes: tests by hand, answers, and tables that cannot be compared."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from command_line import command, refusal
from scipy.stats import t as student

import confml
from confml.data.outcomes import TaskOutcomes
from confml.errors import ConfmlError
from confml.measures.ranks import alike_runs, compare_ranks
from confml.report.answers.outcomes import TaskComparison


def right_or_wrong(rng, skills, items=200, groups=None):
    """Return a wide table of right and wrong answers to items of different difficulty."""
    hard = rng.normal(size=items)
    if groups is not None:
        hard += rng.normal(size=groups.max() + 1)[groups]
    return {name: hard + rng.normal(size=items) < skill for name, skill in skills.items()}


@pytest.fixture
def wide():
    return right_or_wrong(np.random.default_rng(1), {"a": 0.5, "b": 0.5, "c": -0.7})


def long_of(wide, **columns):
    frame = pd.DataFrame({"item": range(len(wide["a"])), **columns, **wide})
    return frame.melt(["item", *columns], var_name="model", value_name="outcome")


def test_pairs_have_the_test_of_bonett_and_price(wide):
    pairs = confml.compare(wide, wide=True).pairs.set_index(["first", "second"])
    for (first, second), row in pairs.iterrows():
        x = wide[first].astype(float) - wide[second].astype(float)
        padded = np.append(x, [1, -1])  # two items more, of which each model has one right
        error, centre = math.sqrt(padded.var() / len(padded)), padded.mean()
        assert row["p_value"] == pytest.approx(2 * student.sf(abs(centre) / error, len(x) - 1))
        half = student.ppf(1 - 0.025 / 3, len(x) - 1) * error
        ends = row["simultaneous_low"], row["simultaneous_high"]
        assert ends == pytest.approx((centre - half, centre + half))
        assert row["difference"] == pytest.approx(x.mean())
    p = pairs["p_value"].sort_values()
    holm = np.minimum(np.maximum.accumulate(p * [3, 2, 1]), 1)
    assert pairs["p_holm"].sort_values().tolist() == pytest.approx(holm.tolist())


def test_groups_have_the_cluster_robust_test_with_effective_degrees():
    rng = np.random.default_rng(1)
    sizes = np.array([15, 18, 13, 21, 24, 9, 10])
    groups = np.repeat(np.arange(7), sizes)
    wide = right_or_wrong(rng, {"a": 0.6, "b": 0.0}, len(groups), groups)
    row = confml.compare({**wide, "document": groups}, wide=True, group="document").pairs.iloc[0]
    x = wide[row["first"]].astype(float) - wide[row["second"]].astype(float)
    shares, d = sizes / len(x), x.mean()
    sums = np.bincount(groups, x) / len(x)  # each group against the estimate of the others
    variance = np.sum(((sums - shares * d) / (1 - shares)) ** 2)
    variance = max(variance, np.append(x, [1, -1]).var() / (len(x) + 2))
    degrees = 1 / np.sum(shares**2) - 1
    assert row["p_value"] == pytest.approx(2 * student.sf(abs(d) / math.sqrt(variance), degrees))
    assert (row["low"] + row["high"]) / 2 == pytest.approx(d)


def test_long_and_wide_tables_of_any_form_have_the_same_answer(wide, tmp_path):
    expected = confml.compare(wide, wide=True)
    frame = long_of(wide)
    for right, wrong in (("right", "wrong"), ("Yes", "no"), ("TRUE", "false"), (1, 0), (1.0, 0.0)):
        texts = frame.assign(outcome=frame["outcome"].map({True: right, False: wrong}))
        compared = confml.compare(texts.sample(frac=1, random_state=1))
        pd.testing.assert_frame_equal(compared.pairs, expected.pairs)
    names = {"item": "id", "model": "llm", "outcome": "score"}
    frame.rename(columns=names).to_csv(tmp_path / "o.csv", index=False)
    renamed = confml.compare(tmp_path / "o.csv", **names)
    pd.testing.assert_frame_equal(renamed.pairs, expected.pairs)
    errors = frame.assign(outcome=~frame["outcome"].astype(bool))
    lower = confml.compare(errors, lower_is_better=True)
    assert lower.models["model"].tolist() == expected.models["model"].tolist()
    assert lower.pairs["p_value"].tolist() == pytest.approx(expected.pairs["p_value"].tolist())
    assert lower.models["mean"].tolist() == pytest.approx((1 - expected.models["mean"]).tolist())


def test_a_cross_validation_has_the_variance_of_nadeau_and_bengio():
    """Five folds with one item each do not hide that the folds differ."""
    fold = np.repeat(np.arange(5), 20)
    a = np.where(np.arange(100) % 20 < 2 * fold + 3, 1.0, 0.0)
    frame = long_of({"a": a, "b": np.zeros(100)}, fold=fold)
    row = confml.compare(frame, split="fold").pairs.iloc[0]
    means = a.reshape(5, 20).mean(axis=1)
    variance = (1 / 5 + 20 / 80) * means.var(ddof=1)
    assert row["high"] - row["low"] == pytest.approx(2 * student.ppf(0.975, 99) * math.sqrt(variance))


def test_sets_are_maximal_runs_without_a_difference():
    differ = np.zeros((5, 5), dtype=bool)
    for first, second in ((0, 3), (0, 4), (1, 4)):
        differ[first, second] = differ[second, first] = True
    assert alike_runs([0, 1, 2, 3, 4], differ) == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert alike_runs([0, 1], np.ones((2, 2), dtype=bool)) == [[0], [1]]


def test_the_share_of_first_places_is_that_of_the_exact_bootstrap():
    wide = {"a": [1, 1, 0, 1], "b": [1, 0, 1, 1]}
    gaps = np.array(wide["a"]) - wide["b"]
    draws = [sum(draw) for draw in itertools.product(gaps, repeat=4)]
    exact = np.mean([0.5 + 0.5 * np.sign(total) for total in draws])
    models = confml.compare(wide, wide=True).models.set_index("model")["first"]
    assert models["a"] == pytest.approx(exact, abs=0.03) and models.sum() == pytest.approx(1)
    many = np.random.default_rng(4).random((6000, 2)) < [0.5, 0.51]
    by_limit = confml.compare({"a": many[:, 0], "b": many[:, 1]}, wide=True).models
    gap = many[:, 0] * 1.0 - many[:, 1]
    expected = student.cdf(abs(gap.mean()) / gap.std() * math.sqrt(6000), 1e9)
    assert by_limit["first"].max() == pytest.approx(expected, abs=0.03)


def test_the_answer_comes_first_and_says_what_would_have_been_detected(wide):
    compared = confml.compare(wide, wide=True)
    first, power, stays = compared.sentences
    assert first.startswith("No significant difference between ") and "; c is worse by " in first
    assert "80 % power" in power and "of the bootstrap samples" in stays
    assert str(compared).startswith(first)
    assert compared._repr_html_().startswith("<p>No significant difference")


def test_the_detectable_difference_is_found_in_about_80_percent_of_tables():
    rng = np.random.default_rng(5)

    def compared(gap):
        wrong = [rng.random(300) < 0.3, rng.random(300) < 0.3 + gap]
        outcomes = TaskOutcomes("", ["a", "b"], [(np.arange(300), ~np.array(wrong))], None, [])
        return TaskComparison.of(outcomes)

    gap = float(np.median([compared(0).comparison.detectable for _ in range(30)]))
    assert 0.72 < np.mean([compared(gap).comparison.worse("b") for _ in range(300)]) < 0.88


@pytest.mark.parametrize("name", ["scikit_posthocs", "autorank"])
def test_ranks_over_tasks_agree_with_other_packages(name):
    package = pytest.importorskip(name)
    rng = np.random.default_rng(6)
    skills = {"a": 0.8, "b": 0.3, "c": -0.4}
    frames = [long_of(right_or_wrong(rng, skills, 60), task=f"t{task}") for task in range(9)]
    compared = confml.compare(pd.concat(frames), task="task")
    means = compared.models.pivot(index="task", columns="model", values="mean")
    ranks = compared.ranks.set_index("model")["mean_rank"]
    ours = compare_ranks(means.to_numpy())
    if name == "scikit_posthocs":
        blocks = means.stack().rename("score").reset_index()
        p_values = package.posthoc_wilcoxon(blocks, "score", "model", p_adjust="holm", sort=True)
        np.testing.assert_allclose(ours.wilcoxon, p_values.loc[list(means), list(means)], atol=1e-12)
    else:
        result = package.autorank(means, alpha=0.05, force_mode="nonparametric", verbose=False)
        assert result.rankdf["meanrank"].to_dict() == pytest.approx(ranks.to_dict())
        assert result.pvalue == pytest.approx(ours.p_value)


def test_tasks_have_ranks_and_wins(tmp_path):
    rng = np.random.default_rng(7)
    frames = [
        long_of(right_or_wrong(rng, {"a": skill, "b": 0.0, "c": -1.0}, 100), task=task)
        for task, skill in (("easy", 1.0), ("hard", 0.9), ("odd", -0.8))
    ]
    alone = pd.DataFrame({"item": [0], "task": ["alone"], "model": ["a"], "outcome": [1]})
    compared = confml.compare(pd.concat([*frames, alone]), task="task")
    assert compared.sentences[0].startswith("Mean ranks over 3 tasks: a ")
    assert "too few for a test of the models: 7 needed, 3 available." in compared.sentences[0]
    assert "Best mean: a on easy and hard; b on odd." in compared.sentences[1]
    assert any(note.startswith("alone is left out: only the model 'a'") for note in compared.notes)
    assert compared.ranks["best"].sum() == 3 and set(compared.models["task"]) == {"easy", "hard", "odd"}
    names = {path.name for path in compared.write(tmp_path)}
    assert {"ranks.csv", "ranks.tex", "report.html", "outcomes.svg"} <= names
    assert "Over tasks" in (tmp_path / "report.html").read_text()
    confml.compare(frames[0]).write(tmp_path)
    assert not (tmp_path / "ranks.csv").exists()


# ---- tables that are not as they should be


def test_only_common_items_are_compared(wide):
    frame = long_of(wide)
    frame = frame[(frame["model"] != "b") | (frame["item"] >= 20)]
    frame["outcome"] = frame["outcome"].astype(object)
    frame.loc[(frame["model"] == "c") & (frame["item"] == 30), "outcome"] = None
    compared = confml.compare(frame)
    assert any("179 of 200" in note and "(b lacks 20, c lacks 1)" in note for note in compared.notes)
    assert set(compared.models["items"]) == {179}
    common = np.setdiff1d(np.arange(20, 200), [30])
    expected = confml.compare({name: values[common] for name, values in wide.items()}, wide=True)
    assert compared.pairs["p_value"].tolist() == pytest.approx(expected.pairs["p_value"].tolist())


def test_models_without_a_difference_have_no_test():
    same = confml.compare({"a": [1, 0, 1], "b": [1, 0, 1]}, wide=True)
    assert "the same outcome on every item (mean 66.7 %)" in same.sentences[0]
    assert same.pairs["p_value"].tolist() == [1.0]
    assert same.pairs["low"].iloc[0] < 0 < same.pairs["high"].iloc[0]
    constant = confml.compare({"a": [2.5, 2.5], "b": [2.5, 2.5]}, wide=True)
    assert "(mean 2.5)" in constant.sentences[0]


def test_groups_that_allow_no_test_say_so(wide):
    for groups in (np.arange(200) % 2, np.where(np.arange(200) < 120, 0, np.arange(200))):
        compared = confml.compare({**wide, "document": groups}, wide=True, group="document")
        assert compared.sentences[0].startswith("No test: the items are in fewer than five groups")
        assert compared.pairs["better"].isna().all() and compared.pairs["p_holm"].isna().all()


def test_a_column_that_looks_like_groups_is_named(wide):
    frame = long_of(wide, document=[f"d{item // 4}" for item in range(200)])
    frame["seconds"] = np.linspace(0, 1, len(frame))
    frame["language"] = frame["model"]
    (hint,) = [note for note in confml.compare(frame).notes if "--group" in note]
    assert hint.startswith("'document' has one value for several items") and "add --group document" in hint
    assert not any("--group" in note for note in confml.compare(frame, group="document").notes)


TWO = {"item": [1, 2], "model": ["a", "b"], "outcome": [1, 0]}


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        ({"item": [1, 1, 2], "model": ["a", "a", "b"], "outcome": [1, 0, 1]}, {}, "2 outcomes (rows 1, 2)"),
        (TWO, {}, "(a lacks 1, b lacks 1"),
        (TWO | {"model": ["a", "a"]}, {}, "only the model 'a' has outcomes"),
        (TWO | {"outcome": ["", ""]}, {}, "no outcomes"),
        (TWO | {"outcome": ["maybe", "no"]}, {}, "row 1, column 'outcome'"),
        (TWO | {"item": [1, 1]}, {}, "only 1 item has outcomes"),
        (TWO | {"item": [1, ""]}, {}, "column 'item': the item is empty"),
        (TWO | {"item": [1, 1], "doc": ["x", "y"]}, {"group": "doc"}, "row 2, column 'doc'"),
        (TWO | {"task": [1, 2]}, {"task": "task"}, "no task has two models"),
        ({"item": [1, 2], "modle": ["a", "b"], "outcome": [1, 0]}, {}, "did you mean 'modle'?"),
        ({"id": range(12), "a": [0, 1] * 6, "b": [1] * 12}, {"wide": True}, "add --item id"),
        ({"a": [1, 0], "b": [1, 0], "source": ["x", "y"]}, {"wide": True}, "'x' is not an outcome"),
    ],
)
def test_tables_that_cannot_be_compared_are_explained(frame, options, message):
    with pytest.raises(ConfmlError) as caught:
        confml.compare(pd.DataFrame(frame), **options)
    assert message in str(caught.value)


# ---- the command


@pytest.fixture
def table(tmp_path, wide):
    path = tmp_path / "outcomes.csv"
    long_of(wide, document=np.arange(200) // 4).to_csv(path, index=False)
    return path


def test_the_command_prints_the_answer_first(table, tmp_path):
    output = command("compare", table, "--out", tmp_path / "out").output
    assert output.startswith("No significant difference between") and "add --group document" in output
    document = json.loads(command("compare", table, "--group", "document", "--json").output)
    assert set(document) == {"sentences", "notes", "models", "pairs"} and len(document["pairs"]) == 3
    assert document["models"][0]["p_holm"] is None
    latex = command("compare", table, "--latex").output
    assert latex.startswith("% needs") and "\\toprule" in latex
    page = (tmp_path / "out" / "report.html").read_text()
    assert "No significant difference" in page and "<svg" in page
    models = confml.compare(table).models.replace({"task": {"": math.nan}})
    read = pd.read_csv(tmp_path / "out" / "models.csv")
    pd.testing.assert_frame_equal(read, models, check_dtype=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["folder", "--group", "document"], "--group is for a table of outcomes"),
        (["{table}", "folder"], "expected one table of outcomes, or folders of runs, got 2 paths"),
        (["missing.csv"], "missing.csv: no such file"),
    ],
)
def test_options_of_the_other_kind_are_refused(table, arguments, message):
    assert message in str(refusal("compare", *[argument.format(table=table) for argument in arguments]))


def test_the_unit_of_outcomes_does_not_matter():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(2, 400)) + [[0.0], [0.3]]
    texts = []
    for unit in (1.0, 2.0**-40):
        compared = confml.compare(dict(zip("ab", scores * unit, strict=True)), wide=True)
        texts.append((compared.pairs["p_value"].tolist(), compared.models["first"].tolist()))
        (gap,) = compared.pairs["difference"] / unit
        assert gap == pytest.approx(scores[1].mean() - scores[0].mean())
    assert texts[0] == texts[1]
