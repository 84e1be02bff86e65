"""The online protocol from a config to its files, and martingales beside their definitions."""

from __future__ import annotations

import csv
import io
import math
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pytest
import yaml
from scipy.integrate import quad
from scipy.stats import kstest

from confml.cli import main
from confml.config import make_config
from confml.errors import ConfmlError
from confml.measures import evaluate
from confml.measures.martingales import power_martingale, simple_mixture
from confml.methods.tcm_nn.online import OnlineTCMNN

# ---- martingales


def test_power_martingale_is_its_product():
    p = np.random.default_rng(0).random(40)
    for epsilon in (0.3, 0.92, 1.0):
        product = np.cumprod(epsilon * p ** (epsilon - 1))
        assert np.allclose(power_martingale(p, epsilon), np.log10(product))
    for wrong in (0.0, 1.1, math.nan):
        with pytest.raises(ValueError, match="epsilon must be"):
            power_martingale(p, wrong)
    with pytest.raises(ValueError, match="between 0 and 1"):
        power_martingale([0.5, math.nan])


@pytest.mark.parametrize("shape", [0.2, 0.9, 1.0, 3.0], ids="beta{}".format)
def test_simple_mixture_is_its_integral(shape):
    """p-values too small, about right, and too large: both ways of computing it, and the border between."""
    p = np.random.default_rng(1).beta(shape, 1, 60)
    found = simple_mixture(p)
    for n in (1, 2, 7, 30, 60):
        S = -math.fsum(np.log(p[:n]))
        integral = quad(lambda e, n=n, S=S: math.exp(n * math.log(e) + S * (1 - e)) if e else 0.0, 0, 1)[0]
        assert found[n - 1] == pytest.approx(math.log10(integral), abs=1e-7), n


def test_simple_mixture_of_many_p_values_neither_overflows_nor_breaks_off():
    for p in (np.full(20_000, 1e-9), np.full(20_000, 1 - 1e-12), np.full(20_000, math.exp(-1)), np.zeros(9)):
        found = simple_mixture(p)
        assert np.all(np.isfinite(found))
        assert np.all(np.abs(np.diff(np.diff(found))) < 0.5 if p[0] < 1e-3 else np.diff(found) < 0.01)
    assert simple_mixture(np.full(5, math.exp(-1) / 10))[-1] > 0 > simple_mixture(np.full(5, 0.9))[-1]


def test_a_fair_game_rarely_wins_and_a_broken_order_always_does():
    rng = np.random.default_rng(2)
    largest = [simple_mixture(rng.random(400)).max() for _ in range(300)]
    assert np.mean(np.array(largest) >= 1) <= 0.1 + 3 * math.sqrt(0.09 / 300), "Ville: 10 in 1 of 10"
    X = np.r_[rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 4]
    y = rng.integers(0, 2, 300)
    X[:, 0] += 3 * y

    def end(order):
        view = OnlineTCMNN([0, 1], k=3, smoothed=True, random_state=0).predict_then_learn(X[order], y[order])
        return {row.metric: row.value for row in evaluate(view, y[order])}

    assert end(np.arange(300))["log10_mixture_martingale_max"] > 3
    assert end(rng.permutation(300))["log10_mixture_martingale_max"] < 1.5


def test_smoothed_p_values_of_exchangeable_examples_are_uniform():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (600, 2)).astype(float), rng.integers(0, 3, 600)
    view = OnlineTCMNN([0, 1, 2], smoothed=True, random_state=1).predict_then_learn(X, y)
    p = view.scores[np.arange(600), y]
    assert kstest(p, "uniform").pvalue > 0.01, "independent, unlike those of one test part"
    assert abs(np.corrcoef(p[1:], p[:-1])[0, 1]) < 0.12, "and independent"
    values = {row.metric: row.value for row in evaluate(view, y)}
    assert values["ks_statistic"] == pytest.approx(kstest(p, "uniform").statistic)


def test_examples_that_are_not_learnt_make_no_martingale():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    online = OnlineTCMNN([0, 1]).learn(X[:20], y[:20])
    told = {row.metric for row in evaluate(online.predict(X[20:]), y[20:])}
    assert "ks_statistic" in told and not any("martingale" in metric for metric in told)
    steps = {row.metric for row in evaluate(online.predict_then_learn(X[20:], y[20:]), y[20:])}
    assert "log10_power_martingale" in steps


# ---- from a config to its files


CONFIG = {
    "name": "stream",
    "datasets": ["iris"],
    "steps": ["row-standardise"],
    "methods": [{"name": "tcm-nn", "smoothed": True, "sweep": {"k": [1, 3]}}],
    "protocol": {"kind": "online", "order": "shuffled", "repeats": 2, "start": 20},
    "levels": [0.05, 0.2],
    "figures": ["online-errors", "exchangeability"],
}


def confml(*arguments, code=0) -> str:
    """Run a command line; what it said on both streams."""
    said = io.StringIO()
    with pytest.raises(SystemExit) as ended, redirect_stdout(said), redirect_stderr(said):
        main([*map(str, arguments)])
    assert ended.value.code == code, said.getvalue()
    return said.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("online")
    (base / "stream.yaml").write_text(yaml.safe_dump(CONFIG))
    confml("run", base / "stream.yaml", "--out", base / "a", "--quiet", "--engine", "serial")
    return base


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_step_is_written(folder):
    path = folder / "a" / "online" / "iris" / "tcm-nn_smoothed=true_k=3" / "r1.csv"
    rows = rows_of(path)
    assert [int(row["learnt"]) for row in rows] == list(range(20, 150))
    assert len({row["row"] for row in rows}) == 130
    for level in ("0.05", "0.2"):
        errors = [int(row[f"error@{level}"]) for row in rows]
        assert errors == [int(float(row["p_value"]) <= float(level)) for row in rows]
        assert [int(row[f"errors@{level}"]) for row in rows] == np.cumsum(errors).tolist()
    regions = rows_of(folder / "a" / "regions" / path.relative_to(folder / "a" / "online"))
    sizes = [len(row["region@0.2"].split("|")) if row["region@0.2"] else 0 for row in regions]
    assert [int(row["size@0.2"]) for row in rows] == sizes
    p = np.array([float(row["p_smoothed"]) for row in rows])
    assert np.array_equal(simple_mixture(p), [float(row["log10_mixture_martingale"]) for row in rows])
    for name in ("online-errors-iris.svg", "exchangeability.svg"):
        assert (folder / "a" / "figures" / name).is_file()


@pytest.fixture(scope="module")
def again(folder):
    """The folder of a run of the first repeat alone."""
    out = ("--out", folder / "b", "--quiet", "--engine", "serial")
    confml("run", folder / "stream.yaml", *out, "--set", "protocol.repeats=1")
    return folder / "b"


def test_the_same_bytes_again_and_an_order_of_its_own_each_repeat(folder, again):
    config = folder / "stream.yaml"
    for k in (1, 3):
        name = f"online/iris/tcm-nn_smoothed=true_k={k}/r0.csv"
        assert (folder / "a" / name).read_bytes() == (again / name).read_bytes()
    steps = [rows_of(folder / "a" / f"online/iris/tcm-nn_smoothed=true_k=1/r{r}.csv") for r in (0, 1)]
    assert [row["row"] for row in steps[0]] != [row["row"] for row in steps[1]]
    assert "4 cells" in confml("plan", config, "--out", folder / "a")


def test_several_runs_in_one_figure(folder, again):
    out = confml("report", folder / "a", again, "--figures", "--out", folder / "both")
    assert str(folder / "both" / "figures" / "exchangeability.svg") in out.splitlines()


def test_mistakes_in_a_config_are_all_told():
    wrong = CONFIG | {
        "steps": ["standardise"],
        "noise": {"labels": 0.1, "on": "train"},
        "methods": ["knn", {"name": "tcm-nn", "tune": {"k": [1, 3]}}],
        "protocol": {"kind": "online", "repeats": 2, "folds": 3},
    }
    with pytest.raises(ConfmlError) as caught:
        make_config(wrong)
    text = str(caught.value)
    for words in (
        "step 'standardise' learns on a training part",
        "noise.on: protocol online has no training part",
        "'knn' does not learn one example at a time",
        "methods.1.tune: protocol online has no training part",
        "with order: given every repeat is the same",
        "online has no folds",
    ):
        assert words in text


def test_a_start_that_leaves_nothing_and_missing_values(tmp_path):
    from confml.runner.plan import load_datasets, make_plan

    config = make_config(CONFIG | {"protocol": {"kind": "online", "start": 150}})
    with pytest.raises(ConfmlError, match="150 rows, none after start: 150"):
        make_plan(config, load_datasets(config))
    (tmp_path / "gaps.csv").write_text("a,b,y\n1,2,0\n,3,1\n2,2,0\n")
    gaps = {"csv": "gaps.csv", "label": "y", "missing": "mean"}
    config = make_config(CONFIG | {"datasets": [gaps], "protocol": {"kind": "online"}}, folder=tmp_path)
    with pytest.raises(ConfmlError, match="missing values, and no training part"):
        make_plan(config, load_datasets(config))


# ---- labels that arrive later

LATE = {
    "name": "late",
    "datasets": [
        {"name": "changed", "generate": "covariate-shift", "n": 300, "test-n": 200, "shift": 3.0},
    ],
    "methods": [{"name": "tcm-nn", "k": 3, "smoothed": True}, {"name": "tcm-nn", "label": "plain", "k": 3}],
    "levels": [0.1],
    "figures": ["online-errors", "exchangeability"],
}


def late_run(folder, protocol, **others):
    wanted = LATE | {"protocol": {"kind": "online", **protocol}} | others
    (folder / "late.yaml").write_text(yaml.safe_dump(wanted))
    confml("run", folder / "late.yaml", "--out", folder / "out", "--quiet", "--engine", "serial")
    return folder / "out"


@pytest.mark.parametrize("label_order", ["given", "arrival"])
def test_late_labels_from_a_config_to_its_files(tmp_path, label_order):
    out = late_run(tmp_path, {"delay": [10, 40], "label-order": label_order})
    paths = list((out / "online").rglob("*.csv"))
    assert len(paths) == 2  # one is smoothed
    for path in paths:
        rows = rows_of(path)
        come = [row for row in rows if row["learnt_place"]]
        assert 460 <= len(come) < 500 == len(rows)
        by_place = sorted(come, key=lambda row: int(row["learnt_place"]))
        given = [row["row"] for row in by_place] == [row["row"] for row in come]
        assert given == (label_order == "given")
        for place, row in enumerate(by_place, start=1):
            delay = int(row["learnt_after"]) - int(row["row"]) - 1
            assert 10 <= delay <= 40 and int(row["learnt_place"]) == place
        for number, row in enumerate(rows):
            assert int(row["learnt"]) == sum(int(one["learnt_after"]) <= number for one in come)
        p = np.array([float(row["p_learnt"]) for row in by_place])
        mixture = [float(row["log10_mixture_martingale"]) for row in by_place]
        assert np.array_equal(simple_mixture(p), mixture)
        assert all(row["log10_mixture_martingale"] == "" for row in rows if not row["learnt_place"])
    alarms = [row for row in rows_of(out / "monitoring.csv") if row["statistic"] == "shiryaev-roberts"]
    assert len(alarms) >= 2
    for alarm in alarms:
        assert 300 < int(alarm["step"]) <= 490 and int(alarm["predicted"]) > int(alarm["step"]) + 10
        assert f"in the order of learning ({int(alarm['predicted'])} rows predicted by" in alarm["meaning"]
    assert "labels 10 to 40 rows later" in (out / "figures" / "index.md").read_text()


def test_a_delay_of_0_is_no_delay(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    plain, zero = (
        late_run(tmp_path / folder, protocol, figures=[])
        for folder, protocol in (("a", {}), ("b", {"delay": 0}))
    )
    for name in ("monitoring.csv", "adaptive-levels.csv", "metrics.csv"):
        assert (plain / name).read_bytes() == (zero / name).read_bytes()
    steps = rows_of(plain / "monitoring.csv")
    assert all(row["predicted"] == row["step"] for row in steps)


def test_wrong_delays_are_errors():
    from confml.runner.plan import load_datasets, make_plan

    for protocol, words in (
        ({"delay": -1}, "protocol.delay: expected a whole number of rows, or two of them such as"),
        ({"delay": [5, 2]}, "the smallest delay first"),
        ({"delay": "30 days"}, "protocol.delay: expected a whole number of rows"),
        ({"delay": True}, "protocol.delay: expected a whole number of rows"),
        ({"delay": 30, "label-order": "arrival"}, "labels that all have the same delay arrive in the given"),
        ({"delay": [1, 2], "label-order": "late"}, "expected one of given, arrival"),
    ):
        with pytest.raises(ConfmlError, match=words):
            make_config(LATE | {"protocol": {"kind": "online", **protocol}})
    with pytest.raises(ConfmlError, match="holdout has no delay; it is for online"):
        make_config(CONFIG | {"protocol": {"kind": "holdout", "delay": 3}})
    config = make_config(LATE | {"protocol": {"kind": "online", "start": 100, "delay": 399}})
    with pytest.raises(ConfmlError, match="no label arrives before the last prediction"):
        make_plan(config, load_datasets(config))
    config = make_config(LATE | {"protocol": {"kind": "online", "start": 100, "delay": 398}})
    assert make_plan(config, load_datasets(config))
