"""Metrics of a case have the bits of their literal definitions."""

from dataclasses import replace

import numpy as np
import pytest
from reference import measures as literal
from trials import more_of

from confml.measures import Case, Context, Prediction, rows_of
from confml.measures.prediction import KINDS

LEVELS, THRESHOLDS = (0.05, 0.3), (0.5, 0.8)


def random_cases(seed, kind, number=25, digits=1, classes=3, counts=True):
    """Cases of different sizes with ties, some with few rows or one class."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    names = np.array(["a", "b", "c", "d"]) if seed % 2 else np.array([1, 4, 9, 12])
    cases = []
    for _ in range(number):
        n = int(rng.choice([1, 2, 7, 8, 9, 20, 30, 131]))
        extra = {}
        if kind == "p-value" and counts:
            greater, equal = rng.integers(0, 17, (n, classes)), rng.integers(1, 4, (n, classes))
            scores, extra = (greater + equal) / 20, {"n_greater": greater, "n_equal": equal}
            if seed % 3 == 2:
                extra["tau"] = rng.random(n)
        else:
            scores = np.round(rng.random((n, classes)), digits)
        if kind in ("probability", "posterior", "vote", "envelope"):
            scores = scores + 0.0 if seed % 2 else scores + 0.05
            totals = scores.sum(axis=1, keepdims=True)
            scores = np.divide(scores, totals, out=np.full_like(scores, 1 / classes), where=totals > 0)
        if kind == "posterior":
            extra = {"sd": np.round(rng.random((n, classes)), 1)}
        if kind == "probability":
            extra = {"lower": scores / 2, "upper": (scores + 1) / 2}
        truth = names[rng.integers(0, rng.integers(1, classes + 1), n)]
        context = Context(20, {name: 5 for name in names[:classes].tolist()}, {"mondrian": bool(seed % 2)})
        cases.append(Case(Prediction(names[:classes], scores, kind, extra=extra), truth, context=context))
    return cases


def bits(rows):
    return [(metric, level, np.float64(value).tobytes()) for metric, level, value in rows]


@pytest.mark.parametrize("digits", [1, 15])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2, *more_of([3])])
def test_metrics_are_their_definitions(seed, kind, digits):
    cases = random_cases(seed, kind, digits=digits, classes=2 + seed % 3, counts=seed > 0)
    cases = [replace(case, levels=LEVELS, thresholds=THRESHOLDS) for case in cases]
    expected = [bits(literal.rows_of(replace(case))) for case in cases]
    assert [bits(rows_of(replace(case))) for case in cases] == expected


def awkward_cases(kind):
    """Awkward cases by name."""
    for case in random_cases(2, kind, 8):
        view, truth = case.prediction, case.truth
        absent = truth.copy()
        absent[: 1 + len(absent) // 3] = 5
        yield "absent", replace(case, truth=absent)
        yield "only absent", replace(case, truth=np.where(np.arange(len(truth)) % 2, 5, 7))
        yield "empty", replace(case, prediction=view.take(np.arange(0)), truth=truth[:0])
        broken = view.scores.copy()
        broken[0, 0] = np.nan
        missing = Prediction(view.classes, broken, kind, view.labels, dict(view.extra))
        yield "nan", replace(case, prediction=missing)
        if kind == "margin":
            outside = Prediction(view.classes, view.scores, kind, np.full(len(truth), 7), dict(view.extra))
            yield "no class", replace(case, prediction=outside)


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_of_awkward_cases(kind):
    for name, case in awkward_cases(kind):
        case = replace(case, levels=LEVELS, thresholds=THRESHOLDS)
        rows = rows_of(case)
        assert bits(rows) == bits(literal.rows_of(replace(case))), name
        assert all(type(row.value) is float for row in rows)


def test_a_case_of_many_rows():
    """Products of their counts exceed 64 bits."""
    rng = np.random.default_rng(0)
    classes, n = np.arange(3), 200_000
    truth = rng.integers(0, 3, n)
    labels = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), truth)
    case = Case(Prediction(classes, np.round(rng.random((n, 3)), 3), "margin", labels), truth)
    small = replace(case, prediction=case.prediction.take(slice(0, 2000)), truth=truth[:2000])
    assert bits(literal.point(replace(case))) == bits(rows_of(case)[:3])
    assert bits(literal.rows_of(replace(small))) == bits(rows_of(small))
