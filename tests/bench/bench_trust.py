"""Conformal p-values, martingales, alarms and certified thresholds beside crepes, online-cp and MAPIE."""

from __future__ import annotations

import warnings

import numpy as np
from _pairs import Row, Skipped, paired

from confml.measures.conditional import size_strata
from confml.measures.monitoring import log_martingale, shiryaev_roberts_alarms
from confml.methods.conformal.scores import counts_against

CALIBRATION, TEST, CLASSES = 5_000, 5_000, 26
STEPS = 5_000


def _installed(package: str) -> None:
    import importlib.util

    if importlib.util.find_spec(package) is None:
        raise Skipped(f"{package} is not installed (pip install 'confml[bench]')")


def bench_split_p_values() -> Row:
    """p-values of all labels from calibration scores with ties, beside crepes; the same numbers."""
    _installed("crepes")
    from crepes import ConformalClassifier

    rng = np.random.default_rng(0)
    calibration, test = rng.random(CALIBRATION).round(3), rng.random((TEST, CLASSES)).round(3)
    model = ConformalClassifier()
    model.fit(calibration)
    found = {}

    def ours():
        placed = np.sort(calibration)
        p = np.empty(test.shape)
        for column in range(CLASSES):
            greater, equal = counts_against(placed, test[:, column], 1.0)
            p[:, column] = (greater + equal + 1) / (CALIBRATION + 1)
        found["ours"] = p

    def other():
        found["other"] = model.predict_p(test, smoothing=False)

    name = f"split conformal p-values, {CALIBRATION} + {TEST} rows, {CLASSES} classes, beside crepes"
    row = paired(name, ours, other, 3, goal=1.0)
    row[4]["largest_difference"] = float(np.abs(found["ours"] - found["other"]).max())
    return row


def bench_simple_jumper() -> Row:
    """ln of the simple jumper martingale beside crepes, which overflows after many small p-values."""
    _installed("crepes")
    from crepes.martingales import SimpleJumper

    p = np.random.default_rng(1).random(STEPS)
    found = {}

    def ours():
        found["ours"] = log_martingale(p)

    def other():
        found["other"] = np.log(SimpleJumper(J=0.01).apply(p))

    row = paired(f"simple jumper, {STEPS} p-values, beside crepes", ours, other, 3)
    row[4]["largest_difference"] = float(np.abs(found["ours"] - found["other"]).max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = SimpleJumper(J=0.01).apply(np.full(4000, 1e-6))
    row[4]["crepes_after_4000_small_p"] = float(small[-1])
    return row


def bench_shiryaev_roberts() -> Row:
    """Alarms of Shiryaev-Roberts statistics beside online-cp: the first alarm is at the same row."""
    _installed("online_cp")
    from online_cp.martingale.jumpers import SimpleJumper
    from online_cp.martingale.wrappers import ShiryaevRobertsWrapper

    rng = np.random.default_rng(2)
    p = np.concatenate([rng.random(1000), rng.random(1000) ** 2])
    found = {}

    def ours():
        found["ours"] = shiryaev_roberts_alarms(p, 10_000)[0].row

    def other():
        one = ShiryaevRobertsWrapper(SimpleJumper(J=0.01))
        for value in p:
            one.update(value)
        found["other"] = int(np.argmax(np.asarray(one.sr_values) >= 10_000))

    row = paired(f"Shiryaev-Roberts, {len(p)} p-values, beside online-cp", ours, other, 3)
    row[4].update(first_alarm=found["ours"], first_alarm_of_online_cp=found["other"])
    return row


def bench_strata() -> Row:
    """Coverage by region size beside MAPIE, whose smallest share is 0 as soon as one region is empty."""
    _installed("mapie")
    from mapie.metrics.classification import classification_ssc

    rng = np.random.default_rng(3)
    region = rng.random((TEST, CLASSES)) < 0.1
    y = rng.integers(0, CLASSES, TEST)
    sizes = region.sum(axis=1)
    found = {}

    def ours():
        covered, strata = region[np.arange(TEST), y], size_strata(sizes)
        found["ours"] = min(covered[strata == one].mean() for one in np.unique(strata) if one)

    def other():
        found["other"] = float(np.nanmin(classification_ssc(y, region[:, :, None])))

    row = paired(f"size-stratified coverage, {TEST} rows, beside MAPIE", ours, other, 3)
    row[4].update(smallest_share=float(found["ours"]), smallest_share_of_mapie=found["other"])
    return row


BENCHMARKS = (bench_split_p_values, bench_simple_jumper, bench_shiryaev_roberts, bench_strata)
