"""Advice for each aim: its method, price and guarantee; ranks over data sets; failures by cause."""

import numpy as np
import pytest
from report.report_cases import errors_first, run_of

from confml.config.protocol import Protocol
from confml.report.answers.accepted import Accepted
from confml.report.answers.advice import advise, overall
from confml.report.answers.answer import causes, state
from confml.report.answers.comparisons import Comparisons
from confml.report.answers.losses import COST
from confml.report.forms.short_table import short_table
from confml.report.forms.summary import summary_of
from confml.report.run.cells import Failure


def probabilities(wrong, sure=0.9):
    """Scores with ``wrong`` errors per data set and split, at random rows."""

    def predict(cell, truth):
        errors = wrong if isinstance(wrong, int) else wrong[cell.dataset]
        rng = np.random.default_rng(sum(map(ord, cell.dataset + cell.split)))
        label = truth.copy()
        label[rng.permutation(len(truth))[:errors]] ^= 1
        scores = np.where(label[:, None] == [0, 1], sure, 1 - sure)
        return scores, "probability"

    return predict


def p_values(high, missed=0):
    """p-values: ``high`` of the wrong labels; ``missed`` true labels are excluded at every level."""

    def predict(cell, truth):
        scores = np.where(truth[:, None] == [0, 1], 0.9, high)
        scores[:missed] = np.where(truth[:missed, None] == [0, 1], 0.001, 0.9)
        return scores, "p-value"

    return predict


def advice_of(run, aim, accepted=None):
    return advise(Comparisons([("", run)]), "d", aim, accepted or Accepted())


def test_ties_in_error_go_to_the_confidences_that_rank_errors():
    """As 1-NN and TCM-NN on USPS, which make the same errors."""
    same = {"fast": errors_first(5, ranked=False), "slow": errors_first(5), "bad": probabilities(50, 0.6)}
    advice = advice_of(run_of(same), "error")
    assert advice.recommended == "slow" and advice.alike == ["fast"]
    # n f of the curve: 5 errors at the last 5 of 100 rows, (1 + ... + 5 - 5 / 2) / 100^2 = 0.00125
    assert "slow (5.0 %)" in advice.head and "lowest AUGRC (0.125 %)" in advice.head
    assert advice.as_dict()["recommended"] == "slow"
    # One more error, which is no significant difference.
    advice = advice_of(run_of(same | {"slow": errors_first(6)}), "error")
    assert advice.recommended == "slow" and advice.best == "fast"
    assert "slow (6.0 %). No significant difference from fast (5.0 %)" in advice.head
    assert " or more would probably have been detected (80 % power)" in advice.rest
    assert advice.rest.endswith("The regions of slow have no guaranteed coverage of 95 %.")


def test_equal_confidences_leave_the_choice_to_a_guarantee_and_then_to_time():
    with_guarantee = errors_first(6, ranked=False, kind="p-value")
    methods = {"slow": with_guarantee, "fast": with_guarantee, "bad": probabilities(50, 0.6)}
    advice = advice_of(run_of(methods), "error")
    assert advice.head.endswith("No significant difference from slow; fast is the fastest.")
    advice = advice_of(run_of(methods | {"fast": errors_first(6, ranked=False)}), "error")
    assert advice.recommended == "slow" and advice.head.endswith("; slow has a guarantee.")


@pytest.mark.parametrize("protocol", [{"kind": "fixed-split"}, {"kind": "ordered", "by": "day"}])
def test_a_test_part_that_is_not_exchangeable_is_named(protocol):
    """Half of the labels that valid regions would contain: the promise is not kept, and the test says why."""
    methods = {"nn": p_values(0.01, 18), "bad": p_values(0.99, 45)}
    fixed = run_of(methods, protocol=Protocol(**protocol))
    text = advice_of(fixed, "error").guarantee
    assert "82 % of the rows, which is shown to be too low for 95 %." in text
    assert "The test part is not exchangeable with the training part (p < 1e-12)." in text
    assert "82.00 low" in short_table(fixed).frame["coverage"].tolist()
    random = advice_of(run_of(methods), "error").guarantee
    assert "exchangeable" not in random


def test_a_guarantee_and_its_price():
    run = run_of({"knn": probabilities(5), "slow": p_values(0.01, 6)})
    advice = advice_of(run, "error")
    assert advice.recommended == "knn"
    assert "of knn have no guaranteed coverage of 95 %. Those of slow have" in advice.guarantee
    assert "50 times as long" in advice.guarantee
    sure = advice_of(run_of({"knn": p_values(0.01), "bad": p_values(0.99, 30)}), "error")
    assert "contain the true label of a new row with probability at least 95 %" in sure.guarantee


def test_smallest_valid_regions():
    """The method with the smallest regions covers too little, so it is not recommended."""
    run = run_of({"small": p_values(0.01), "large": p_values(0.06), "low": p_values(0.001, 40)})
    advice = advice_of(run, "regions")
    assert advice.recommended == "small" and advice.value == "set size 1.000 at level 0.05"
    assert advice.head.startswith("Recommended for the smallest valid regions: small")
    low = run_of({"a": p_values(0.01, 40), "b": p_values(0.01, 50)})
    assert advice_of(low, "regions").reason.endswith("with a guarantee is shown to be too low.")
    margins = run_of({"a": lambda cell, truth: (np.eye(2)[truth], "margin")})
    assert advice_of(margins, "regions").reason == "No method has regions."


def test_regions_without_a_promise_are_never_the_smallest_valid_ones():
    """Regions of probabilities have one label each, and promise no coverage."""
    run = run_of({"sure": probabilities(0, 0.99), "a": p_values(0.06), "b": p_values(0.06)})
    assert advice_of(run, "regions").recommended == "a"
    comparisons = Comparisons([("", run)])
    estimates = [comparisons.estimate(line, "mean_region_size", 0.05) for line in comparisons.lines]
    assert [estimate.best for estimate in estimates] == [True, True, False]  # a, b, sure
    only = run_of({"sure": probabilities(0, 0.99), "other": probabilities(1, 0.99)})
    assert advice_of(only, "regions").reason == "No method guarantees the coverage of its regions."
    estimate = [estimates.get("mean_region_size") for *_, estimates in summary_of(only).rows]
    assert any(estimate) and not any(estimate.best for estimate in estimate if estimate)


def test_lowest_cost_is_that_of_the_decisions():
    """A method with more errors costs less, because it is unsure of them and abstains."""
    costs = {"matrix": {"0": {"1": 1.0}, "1": {"0": 1.0}}, "abstain": 0.2}
    run = run_of({"sure": probabilities(25, 0.99), "unsure": probabilities(30, 0.7)}, costs=costs)
    comparison = Comparisons([("", run)]).comparison("d", COST)
    means = dict(zip([line.method for line in comparison.lines], comparison.means.tolist(), strict=True))
    assert means == pytest.approx({"sure": 0.25, "unsure": 0.2})
    metrics = {row.method: row.mean for row in run.summary if row.metric == "cost_with_abstaining"}
    assert means == pytest.approx(metrics)
    advice = advice_of(run, "cost")
    assert advice.recommended == "unsure" and advice.value == "cost 0.2"
    assert advice_of(run, "error").recommended == "sure"
    assert "No method has costs" in advice_of(run_of({"a": probabilities(1)}), "cost").reason


def test_certified_share():
    run = run_of({"a": probabilities(1), "b": probabilities(9)})
    joint = {"coverage": 0.62, "candidates": 2, "limit": 0.05, "certified": 3, "splits": 5}
    advice = advice_of(run, "certified", Accepted(0.9, "a", joint, "b"))
    assert "smallest certified risk: b (at most 5 % for 62 % of new predictions)" in advice.head
    assert "The risk bound holds with probability 95 % over the calibration rows" in advice.guarantee
    assert advice_of(run, "certified").recommended is None


def test_ranks_over_data_sets_come_first():
    names = [f"d{number}" for number in range(8)]
    methods = {}
    for first, method in ((5, "best"), (10, "second"), (15, "third")):
        methods[method] = probabilities({name: first + number for number, name in enumerate(names)})
    run = run_of(methods, names)
    advice = overall(Comparisons([("", run)]), "error")
    assert advice.recommended == "best" and advice.alike == []
    assert "Friedman's test (Iman and Davenport): p =" in advice.power
    assert advice.value == "mean rank 1.00 over 8 data sets"
    few = run_of({"a": probabilities(1), "b": probabilities(2)}, names[:3])
    few = overall(Comparisons([("", few)]), "error")
    assert few.recommended == "a" and few.alike == []
    assert "too few for a test" in few.power


def test_failures_are_grouped_by_cause():
    methods = {"a": probabilities(1), "b": probabilities(2)}
    run = run_of(methods, ("d", "e"), failing=[("d", "b"), ("e", "b")])
    run.failures = [
        Failure(failure.cell, f"ValueError: k = {n} is too large") for n, failure in enumerate(run.failures)
    ]
    assert causes(run) == ["b: 10 fits on 2 data sets: ValueError: k = 0 is too large"]
    assert state(run) == "10 of 20 fits failed."
    del run.results[next(iter(run.results))]
    assert state(run).startswith("Incomplete: 9 of 20") and state(run).endswith("10 of 20 fits failed.")
