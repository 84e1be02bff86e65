"""The online protocol from a config to its files, and martingales beside their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import yaml
from config.cases import messages
from report.report_cases import read
from runner.runs import command, run_serial
from scipy.integrate import quad
from scipy.stats import kstest

from confml.config import make_config
from confml.measures import evaluate
from confml.measures.martingales import power_martingale, simple_mixture
from confml.methods.tcm_nn.online import OnlineTCMNN

# ---- martingales


def test_power_martingale_is_its_product():
    p = np.random.default_rng(0).random(40)
    for epsilon in (0.3, 0.92, 1.0):
        product = np.cumprod(epsilon * p ** (epsilon - 1))
        assert np.allclose(power_martingale(p, epsilon), np.log10(product))
    for wrong in ((p, 0.0), (p, 1.1), (p, math.nan), ([0.5, math.nan], 0.5)):
        with pytest.raises(ValueError, match="epsilon must be|between 0 and 1"):
            power_martingale(*wrong)


@pytest.mark.parametrize("shape", [0.2, 0.9, 1.0, 3.0], ids="beta{}".format)
def test_simple_mixture_is_its_integral(shape):
    """p-values too small, about right, and too large: both ways of computing it, and the border between."""
    p = np.random.default_rng(1).beta(shape, 1, 60)
    logs = simple_mixture(p)
    for n in (1, 2, 7, 30, 60):
        S = -math.fsum(np.log(p[:n]))
        integral = quad(lambda e, n=n, S=S: math.exp(n * math.log(e) + S * (1 - e)) if e else 0.0, 0, 1)[0]
        assert logs[n - 1] == pytest.approx(math.log10(integral), abs=1e-7), n


def test_simple_mixture_of_many_p_values_neither_overflows_nor_breaks_off():
    for p in (np.full(20_000, 1e-9), np.full(20_000, 1 - 1e-12), np.full(20_000, math.exp(-1)), np.zeros(9)):
        logs = simple_mixture(p)
        assert np.all(np.isfinite(logs))
        assert np.all(np.abs(np.diff(np.diff(logs))) < 0.5 if p[0] < 1e-3 else np.diff(logs) < 0.01)
    assert simple_mixture(np.full(5, math.exp(-1) / 10))[-1] > 0 > simple_mixture(np.full(5, 0.9))[-1]


def metrics_of(view, y):
    return {row.metric: row.value for row in evaluate(view, y)}


def test_a_fair_game_rarely_wins_and_a_broken_order_always_does():
    rng = np.random.default_rng(2)
    largest = [simple_mixture(rng.random(400)).max() for _ in range(300)]
    assert np.mean(np.array(largest) >= 1) <= 0.1 + 3 * math.sqrt(0.09 / 300), "Ville: 10 in 1 of 10"
    X = np.r_[rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 4]
    y = rng.integers(0, 2, 300)
    X[:, 0] += 3 * y

    def end(order):
        view = OnlineTCMNN([0, 1], k=3, smoothed=True, random_state=0).predict_then_learn(X[order], y[order])
        return metrics_of(view, y[order])["log10_mixture_martingale"]

    assert end(np.arange(300)) > 2
    assert end(rng.permutation(300)) < 1.5


def test_smoothed_p_values_of_exchangeable_examples_are_uniform():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (600, 2)).astype(float), rng.integers(0, 3, 600)
    view = OnlineTCMNN([0, 1, 2], smoothed=True, random_state=1).predict_then_learn(X, y)
    p = view.scores[np.arange(600), y]
    assert kstest(p, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(p[1:], p[:-1])[0, 1]) < 0.12, "independent, unlike those of one test part"
    assert metrics_of(view, y)["ks_statistic"] == pytest.approx(kstest(p, "uniform").statistic)


def test_examples_that_are_not_learnt_make_no_martingale():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    online = OnlineTCMNN([0, 1]).learn(X[:20], y[:20])
    predicted = metrics_of(online.predict(X[20:]), y[20:])
    assert "ks_statistic" in predicted and "log10_power_martingale" not in predicted
    assert "log10_power_martingale" in metrics_of(online.predict_then_learn(X[20:], y[20:]), y[20:])


# ---- from a config to its files


CONFIG = {
    "name": "stream",
    "datasets": ["iris"],
    "steps": ["row-standardise"],
    "methods": [{"name": "tcm-nn", "smoothed": True, "sweep": {"k": [1, 3]}}],
    "protocol": {"kind": "online", "order": "shuffled", "repeats": 2, "start": 20},
    "levels": [0.05, 0.2],
    "baseline": False,
    "figures": ["online-errors", "exchangeability"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("online")
    (base / "stream.yaml").write_text(yaml.safe_dump(CONFIG))
    run_serial(base / "stream.yaml", base / "a", "--quiet")
    return base


def test_every_step_is_written(folder):
    path = folder / "a" / "regions" / "iris" / "tcm-nn_smoothed=true_k=3.csv"
    rows = [row for row in read(path) if row["split"] == "r1"]
    assert [int(row["learnt"]) for row in rows] == list(range(20, 150))
    assert len({row["row"] for row in rows}) == 130
    p = np.array([float(row["p_smoothed"]) for row in rows])
    assert np.array_equal(simple_mixture(p), [float(row["log10_mixture_martingale"]) for row in rows])
    for name in ("online-errors-iris.svg", "exchangeability.svg"):
        assert (folder / "a" / "figures" / name).is_file()


def test_each_repeat_has_an_order_of_its_own_whatever_their_number(folder):
    config = folder / "stream.yaml"
    run_serial(config, folder / "b", "--quiet", "--set", "protocol.repeats=1")
    for k in (1, 3):
        name = f"regions/iris/tcm-nn_smoothed=true_k={k}.csv"
        rows = read(folder / "a" / name)
        assert [row for row in rows if row["split"] == "r0"] == read(folder / "b" / name)
    orders = [[row["row"] for row in rows if row["split"] == split] for split in ("r0", "r1")]
    assert orders[0] != orders[1]
    assert "4 fits" in command("run", "--dry-run", config, "--out", folder / "a").stdout


def test_all_mistakes_in_a_config_are_reported():
    wrong = CONFIG | {
        "steps": ["standardise"],
        "noise": {"labels": 0.1, "on": "train"},
        "methods": ["knn", {"name": "tcm-nn", "tune": {"k": [1, 3]}}],
        "protocol": {"kind": "online", "repeats": 2, "folds": 3},
    }
    text = "\n".join(messages(make_config, wrong))
    for words in ("step 'standardise'", "noise.on", "'knn'", "methods.1.tune", "order: given", "no folds"):
        assert words in text
