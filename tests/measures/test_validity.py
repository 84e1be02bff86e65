"""Validity and efficiency of p-values against their literal definitions, and on exchangeable data."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from report.report_cases import entry, figure, golden_run, make_config, make_run, result_of

from confml.measures import Case, Context, evaluate
from confml.measures.prediction import Prediction
from confml.measures.validity import (
    class_coverage,
    kolmogorov_smirnov,
    smoothed_p_values,
    uniformity,
)
from confml.methods.registry import build
from confml.report import DatasetInfo, write_report
from confml.report.figures import NotApplicable, Subject, known_figures
from confml.report.figures.validity import class_errors, farthest
from confml.report.sections.class_coverage import class_rows


def values_of(prediction, truth, levels=()) -> dict:
    return {(row.metric, row.level): row.value for row in evaluate(prediction, truth, levels)}


def random_case(seed, n=40, c=4, counted=20, unseen=False) -> Case:
    """p-values out of random counts; where ``unseen``, some true labels are of no column."""
    rng = np.random.default_rng(seed)
    greater = rng.integers(0, counted - 3, (n, c))
    equal = rng.integers(1, 4, (n, c))
    extra = {"n_greater": greater, "n_equal": equal}
    prediction = Prediction(np.arange(c), (greater + equal) / counted, "p-value", extra=extra)
    return Case(prediction, rng.integers(0, c + unseen, n))


def exchangeable(seed, m=150, n=150):
    """m training and n test examples of three overlapping classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, m + n)
    X = rng.normal(size=(m + n, 2)) + 1.2 * y[:, None]
    return X[:m], y[:m], X[m:], y[m:]


# ---- criteria of efficiency


@pytest.mark.parametrize("c, unseen", [(4, False), (4, True), (2, False), (1, False), (1, True)])
@pytest.mark.parametrize("level", [0.05, 0.3, 0.7])
def test_criteria_are_their_definitions(c, unseen, level):
    case = random_case(5, c=c, unseen=unseen)
    p, truth = case.prediction.scores.tolist(), case.truth.tolist()
    n = len(truth)
    S = U = F = OU = OF = N = M = E = OM = OE = 0.0
    for i in range(n):
        S += sum(p[i])
        U += sorted(p[i])[-2] if c > 1 else 0
        F += sum(p[i]) - max(p[i])
        false = [p[i][y] for y in range(c) if y != truth[i]]
        OU += max(false, default=0)
        OF += sum(false)
        region = {y for y in range(c) if p[i][y] > level}
        N += len(region)
        M += len(region) > 1
        E += max(len(region) - 1, 0)
        OM += bool(region - {truth[i]})
        OE += len(region - {truth[i]})
    found = values_of(case.prediction, case.truth, [level])
    expected = {
        **{("sum_of_p", None): S, ("unconfidence", None): U, ("fuzziness", None): F},
        **{("observed_unconfidence", None): OU, ("observed_fuzziness", None): OF},
        **{("mean_region_size", level): N, ("two_or_more", level): M, ("excess", level): E},
        **{("observed_multiple", level): OM, ("observed_excess", level): OE},
    }
    for key, total in expected.items():
        assert found[key] == pytest.approx(total / n, abs=1e-12), key


def test_only_p_values_have_them():
    shares = Prediction(np.arange(3), np.full((4, 3), 1 / 3), "probability")
    names = {row.metric for row in evaluate(shares, np.arange(4) % 3, [0.05])}
    assert not names & {"ks_p_value", "worst_class_coverage", "sum_of_p", "observed_excess"}


# ---- smoothed p-values and their test


def test_smoothed_p_values_lie_between_their_counts():
    case = random_case(1, unseen=True)
    p = smoothed_p_values(case)
    extra = case.prediction.extra
    for i, (label, value) in enumerate(zip(case.truth, p, strict=True)):
        if label == 4:
            assert value == 0
            continue
        greater, equal = extra["n_greater"][i, label], extra["n_equal"][i, label]
        assert greater / 20 - 1e-12 <= value <= (greater + equal) / 20
    assert np.array_equal(p, smoothed_p_values(case)), "the same results, the same ties broken"
    assert not np.array_equal(p, smoothed_p_values(random_case(2, unseen=True)))


def test_p_values_that_are_smoothed_already_stay():
    case = random_case(3)
    counts = case.prediction.extra
    extra = dict(counts) | {"tau": np.full(40, 0.5)}
    scores = (counts["n_greater"] + 0.5 * counts["n_equal"]) / 20
    smoothed = Case(Prediction(np.arange(4), scores, "p-value", extra=extra), case.truth)
    assert np.array_equal(smoothed_p_values(smoothed), scores[np.arange(40), case.truth])
    _, expected = kolmogorov_smirnov(scores[np.arange(40), case.truth], np.full(40, 20))
    wrong = Context(train_rows=7)
    assert uniformity(Case(smoothed.prediction, case.truth, context=wrong))[1] == expected, "by the counts"
    without = {name: values for name, values in extra.items() if name == "tau"}
    smoothed = Case(Prediction(np.arange(4), scores, "p-value", extra=without), case.truth)
    context = Context(train_rows=19, train_class_counts=dict.fromkeys(range(4), 4))
    assert uniformity(Case(smoothed.prediction, case.truth, context=context))[1] == expected
    by_class = Context(19, context.train_class_counts, {"conformal__mondrian": True})
    found = [uniformity(Case(smoothed.prediction, case.truth, context=one))[1] for one in (context, by_class)]
    assert found[0] != found[1], "groups counted by themselves vary more"


def test_without_counts_there_is_no_test():
    found = values_of(Prediction(np.arange(2), [[0.5, 0.1]], "p-value"), np.array([0]))
    assert math.isnan(found["ks_statistic", None]) and math.isnan(found["ks_p_value", None])


@pytest.mark.parametrize("n", [2, 7, 200])
def test_statistic_and_tail_are_those_of_scipy(n):
    from scipy.stats import kstest

    p = np.random.default_rng(n).random(n)
    statistic, tail = kolmogorov_smirnov(p, np.full(n, 10**9))  # among so many that only the n matter
    oracle = kstest(p, "uniform")
    assert statistic == pytest.approx(oracle.statistic)
    assert tail == pytest.approx(oracle.pvalue, abs=0.05 if n < 7 else 0.02)


def test_the_variance_is_that_of_two_samples():
    p = np.random.default_rng(0).random(50)
    from scipy.special import kolmogorov

    statistic, tail = kolmogorov_smirnov(p, np.full(50, 51))
    root = math.sqrt(25)  # 1/50 + 1/50
    assert tail == pytest.approx(kolmogorov((root + 0.12 + 0.11 / root) * statistic))


def test_classes_of_one_size_are_counted_apart_where_label_conditional():
    """Ten classes of 40 vary as 10 samples of 40 do, not as one: else the test would never find anything."""
    rng = np.random.default_rng(3)
    classes, size, tests = 10, 40, 400
    low, alike = 0, 0
    for _ in range(300):
        truth = rng.integers(0, classes, tests)
        greater = np.zeros((tests, classes), dtype=np.int64)
        for label in range(classes):
            mine = np.flatnonzero(truth == label)
            greater[mine, label] = np.sum(rng.random(size) > rng.random((len(mine), 1)), axis=1)
        extra = {"n_greater": greater, "n_equal": np.ones_like(greater)}
        prediction = Prediction(np.arange(classes), (greater + 1) / (size + 1), "p-value", extra=extra)
        low += uniformity(Case(prediction, truth, context=Context(params={"mondrian": True})))[1] < 0.1
        alike += uniformity(Case(prediction, truth))[1] < 0.1
    assert 15 <= low <= 46  # of 300 at 10 %, binomial: outside has probability 0.3 %
    assert alike == 0, "as if all were counted among the same 40"


@pytest.mark.parametrize("params", [{"k": 1}, {"k": 5}, {"k": 3, "mondrian": True}, {"smoothed": True}])
def test_exchangeable_examples_are_called_so(params):
    """Of 60 tests at 10 %, binomial: more than 14 has probability 0.1 %."""
    low = 0
    for seed in range(60):
        X, y, X_test, y_test = exchangeable(seed)
        method = build("tcm-nn", {**params, "random_state": seed}).fit(X, y)
        rows = dict(zip(*map(np.ndarray.tolist, np.unique(y, return_counts=True)), strict=True))
        case = Case(
            method.confident_predict(X_test)["p-value"], y_test, context=Context(len(y), rows, params)
        )
        low += uniformity(case)[1] < 0.1
    assert low <= 14


def test_examples_of_another_distribution_are_found_out():
    X, y, X_test, y_test = exchangeable(1)
    prediction = build("tcm-nn", {"k": 3}).fit(X, y).confident_predict(X_test[:, ::-1] * [1.0, -1.0])
    assert uniformity(Case(prediction["p-value"], y_test))[1] < 1e-4


# ---- classes


def test_coverage_of_each_class():
    case = random_case(8, unseen=True)
    found = class_coverage(case, 0.4)
    assert list(found) == sorted(set(case.truth.tolist()))
    for label, (rows, covered) in found.items():
        mine = [i for i, t in enumerate(case.truth) if t == label]
        assert rows == len(mine)
        assert covered == sum(label < 4 and case.prediction.scores[i, label] > 0.4 for i in mine)
    rows = values_of(case.prediction, case.truth, [0.4])
    assert rows["worst_class_coverage", 0.4] == min(covered / rows for rows, covered in found.values())


def run_of(seeds, **options):
    """A run with one method of p-values and one of probabilities on splits of its own by seed."""
    cases = {f"r{seed}": random_case(seed) for seed in seeds}

    def result(cell):
        case = cases[cell.split]
        p = case.prediction
        shares = Prediction(p.classes, p.scores / p.scores.sum(axis=1, keepdims=True), "probability")
        views = {"p-value": p} if cell.method == "tcm-nn" else {"probability": shares}
        return result_of(cell, views, case.truth, train_rows=19)

    methods = [entry("tcm-nn", {"k": 1}), entry("naive-bayes")]
    info = {"blobs": DatasetInfo("blobs", 80, 2, 4)}
    return make_run(make_config(methods, **options), result, info, list(cases)), cases


def test_class_coverage_is_pooled_over_the_splits(tmp_path):
    run, cases = run_of([1, 2])
    rows = list(class_rows(run))
    assert [(row.label, row.level) for row in rows] == [
        (label, level) for label in range(4) for level in (0.05, 0.2)
    ]
    for row in rows:
        held = [
            case.prediction.scores[i, row.label] > row.level
            for case in cases.values()
            for i in np.flatnonzero(case.truth == row.label)
        ]
        assert row.coverage == pytest.approx(np.mean(held))
        assert row.rows == len(
            {i for case in cases.values() for i in np.flatnonzero(case.truth == row.label)}
        )
        assert 0 <= row.low <= 1 - row.level <= row.high <= 1
    write_report(run, tmp_path)
    with (tmp_path / "class-coverage.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    assert [row["class"] for row in written] == [str(row.label) for row in rows]
    assert {row["method"] for row in written} == {"tcm-nn"}


# ---- figures


def test_lines_of_the_validity_figure():
    run, cases = run_of([1, 2])
    subject = Subject(run, "blobs", {})
    levels = np.array([0.0, 0.25, 0.5, 1.0])
    with_p, without = subject.variants.values()
    assert class_errors(subject, without, levels) == {}
    found = class_errors(subject, with_p, levels)
    assert list(found) == [None, 0, 1, 2, 3]
    p = np.concatenate([case.prediction.scores[np.arange(40), case.truth] for case in cases.values()])
    truth = np.concatenate([case.truth for case in cases.values()])
    assert found[None][0] == pytest.approx([np.mean(p <= level) for level in levels])
    assert found[None][1] == 40
    assert found[2][0] == pytest.approx([np.mean(p[truth == 2] <= level) for level in levels])


def test_classes_farthest_off_are_shown():
    levels = np.array([0.1, 0.5])
    found = {None: (levels, 90), "a": (levels, 30), "b": (levels + 0.3, 30), "c": (levels - 0.1, 30)}
    assert farthest(found, levels, 1) == ["b"] and farthest(found, levels, 2) == ["b", "c"]


@pytest.mark.parametrize("name", ["validity", "efficiency"])
def test_figures_are_drawn_and_repeat(name, tmp_path):
    for folder in ("a", "b"):
        run, _ = run_of([1, 2], figures=(figure(name, max_level=0.5),))
        write_report(run, tmp_path / folder)
    first, second = (
        (tmp_path / folder / "figures" / f"{name}-blobs.svg").read_bytes() for folder in ("a", "b")
    )
    assert first == second and len(first) > 5000


@pytest.mark.parametrize("name", ["validity", "efficiency"])
def test_figures_of_awkward_runs(name, tmp_path):
    """Test parts that are empty, classes never seen, p-values without counts."""
    paths = write_report(golden_run(figures=(figure(name),)), tmp_path)
    assert sum(path.suffix == ".png" for path in paths) == 2


@pytest.mark.parametrize("name", ["validity", "efficiency"])
def test_without_p_values_there_is_no_figure(name):
    run, _ = run_of([1])
    cells = [cell for cell in run.cells if cell.method != "tcm-nn"]
    with pytest.raises(NotApplicable, match="no method has p-values"):
        known_figures()[name].draw(Subject(type(run)(run.config, cells, run.results), "blobs", {}))
