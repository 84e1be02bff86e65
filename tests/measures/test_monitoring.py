"""Martingales, CUSUM and Shiryaev-Roberts, against their definitions."""

import math

import numpy as np
import pytest
from reference import monitoring as literal

from confml.measures.monitoring import BETTORS, cusum_alarms, log_martingale, shiryaev_roberts_alarms


@pytest.mark.parametrize("name", BETTORS)
@pytest.mark.parametrize("power", [1, 2])
def test_martingales_are_the_products(name, power):
    p = np.append(np.random.default_rng(0).random(200) ** power, [0.0, 1.0, 0.5])
    expected = getattr(literal, name.replace("-", "_"))(p.tolist())
    np.testing.assert_allclose(log_martingale(p, BETTORS[name]), np.log(expected[1:]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_alarms_and_changes_are_those_of_the_definitions(seed):
    rng = np.random.default_rng(seed)
    p = np.append(rng.random(100), rng.random(200) ** 3)
    for kind, limit, alarms in (("cusum", 20, cusum_alarms), ("sr", 500, shiryaev_roberts_alarms)):
        raised = alarms(p, limit)
        expected = literal.alarms(p.tolist(), limit, kind)
        assert [(alarm.row, alarm.change_after) for alarm in raised] == expected
        assert len(raised) >= 2 and all(alarm.log_value >= math.log(20) for alarm in raised)


def test_no_value_overflows():
    assert log_martingale(np.zeros(5000))[-1] > 709
    assert np.isfinite(log_martingale(np.full(5000, 0.999), BETTORS["composite-jumper"])).all()
    (first, *_) = shiryaev_roberts_alarms(np.zeros(2000), 1e300)
    assert first.change_after == 0 and math.isfinite(first.log_value)


def test_shiryaev_roberts_has_one_alarm_in_at_least_c_rows():
    rng = np.random.default_rng(1)
    rows, threshold = 60_000, 100
    alarms = len(shiryaev_roberts_alarms(rng.random(rows), threshold))
    assert 0.7 < alarms / (rows / threshold) < 1.15  # 102 rows on average


def test_mistakes():
    with pytest.raises(ValueError, match="between 0 and 1"):
        log_martingale([1.5])
    with pytest.raises(ValueError, match="above 1"):
        cusum_alarms([0.5], 1.0)
