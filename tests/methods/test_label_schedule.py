"""When labels are learnt, and online passes with late labels, against step-by-step simulations."""

from __future__ import annotations

import numpy as np
import pytest

from confml.methods.label_schedule import LabelSchedule
from confml.methods.tcm_nn import TCMNN
from confml.methods.tcm_nn.delayed import DelayedLabels
from confml.methods.tcm_nn.online import OnlineTCMNN


def simulated(delays, label_order):
    """Rows in the order of learning, the rows predicted by then, and the rows known at each prediction."""
    n = len(delays)
    arrived, learnt, predicted, known = set(), [], [], []
    for now in range(n):  # row ``now`` is predicted, then labels arrive
        known.append(len(learnt))
        new = [row for row in range(now + 1) if row + delays[row] == now]
        arrived |= set(new)
        if label_order == "arrival":
            ready = new
        else:
            ready = []
            while len(learnt) + len(ready) in arrived:
                ready.append(len(learnt) + len(ready))
        learnt += ready
        predicted += [now + 1] * len(ready)
    return learnt, predicted, known


@pytest.mark.parametrize("label_order", ["given", "arrival"])
@pytest.mark.parametrize("most", [0, 1, 5, 40])
def test_schedule_is_that_of_a_simulation(label_order, most):
    for seed in range(20):
        delays = np.random.default_rng(seed).integers(0, most + 1, 30)
        found = LabelSchedule.of(delays, label_order)
        rows, predicted, known = simulated(delays.tolist(), label_order)
        assert found.rows.tolist() == rows and found.predicted.tolist() == predicted
        assert found.learnt.tolist() == known and found.total == 30


def test_schedules_that_make_no_sense_are_errors():
    with pytest.raises(ValueError, match="label_order must be"):
        LabelSchedule.of([1, 2], "late")
    with pytest.raises(ValueError, match="delays must be"):
        LabelSchedule.of([1, -2])


@pytest.mark.parametrize("label_order", ["given", "arrival"])
@pytest.mark.parametrize("mondrian", [False, True], ids=["all", "mondrian"])
def test_a_pass_with_late_labels_is_a_loop_of_predictions_and_labels(label_order, mondrian):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 4, (70, 2)).astype(float), rng.integers(0, 3, 70)
    start, classes = 9, np.arange(3)
    delays = rng.integers(0, 12, 61)
    schedule = LabelSchedule.of(delays, label_order)
    grid = [{"k": k, "mondrian": mondrian, "smoothed": True} for k in (1, 3)]
    views = TCMNN().evaluate_online(
        X[:start], y[:start], X[start:], y[start:], classes, grid, np.random.default_rng(0), schedule
    )
    for point, found in views:
        view = found["p-value"]
        online = OnlineTCMNN(classes, k=point["k"], mondrian=mondrian, smoothed=True, random_state=0)
        online.learn(X[:start], y[:start])
        late = DelayedLabels(online, label_order)
        due = {}
        for row in range(61):
            literal = late.predict(row, X[start + row])
            assert literal.extra["learnt"][0] == view.extra["learnt"][row] == start + len(late.keys)
            for name in ("n_greater", "n_equal", "alpha"):
                assert np.array_equal(literal.extra[name][0], view.extra[name][row])
            tau = view.extra["tau"][row]
            size = (literal.extra["n_greater"][0] + literal.extra["n_equal"][0]) / plain_p(literal)
            expected = (literal.extra["n_greater"][0] + tau * literal.extra["n_equal"][0]) / size
            assert view.scores[row] == pytest.approx(expected)
            due.setdefault(row + delays[row], []).append(row)
            for key in due.pop(row, []):
                learnt = len(late.keys)
                late.label(key, y[start + key])
                for place in range(learnt, len(late.keys)):
                    one = late.keys[place]
                    assert view.extra["label_place"][one] == place
                    assert view.extra["label_after"][one] == row + 1
        never = sorted(set(range(61)) - set(late.keys))
        assert np.flatnonzero(view.extra["label_place"] < 0).tolist() == never
        assert np.flatnonzero(np.isnan(view.extra["label_p"])).tolist() == never
        # The p-values of the learnt rows are those of an ordinary pass over them, in their order.
        order = np.array(late.keys) + start
        again = OnlineTCMNN(classes, k=point["k"], mondrian=mondrian).learn(X[:start], y[:start])
        extra = (plain := again.predict_then_learn(X[order], y[order])).extra
        at = np.arange(len(order)), y[order]
        upper, share = plain.scores[at], extra["n_equal"][at] / (extra["n_greater"] + extra["n_equal"])[at]
        p = view.extra["label_p"][late.keys]
        assert np.all(p <= upper) and np.all(p >= upper * (1 - share) - 1e-12)


def plain_p(view):
    """p-values without smoothing of one example whose smoothed ones and tau are known."""
    greater, equal, tau = (view.extra[name] for name in ("n_greater", "n_equal", "tau"))
    return ((greater + equal) * view.scores / (greater + tau[:, None] * equal))[0]


def test_without_a_delay_nothing_changes():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    grid = [{"k": 2, "smoothed": True}]
    plain, late = (
        next(TCMNN().evaluate_online(X[:0], y[:0], X, y, np.arange(2), grid, np.random.default_rng(1), one))[
            1
        ]["p-value"]
        for one in (None, LabelSchedule.of(np.zeros(40)))
    )
    assert np.array_equal(plain.scores, late.scores)
    assert np.array_equal(plain.extra["learnt"], late.extra["learnt"])
    assert late.extra["label_place"].tolist() == list(range(40))
