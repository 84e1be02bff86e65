"""Certified thresholds and online columns, recomputed from CSV files alone."""

import math
from pathlib import Path

import numpy as np
import pytest
from report.report_cases import entry, infos, make_config, make_run, read
from scipy.stats import binom, kstest

from confml.measures.certified import threshold_grid
from confml.measures.martingales import power_martingale, simple_mixture
from confml.measures.prediction import Prediction
from confml.methods.base import Views
from confml.methods.tcm_nn.online import OnlineTCMNN
from confml.report.tables.certified import halves
from confml.report.write import write_report
from confml.runner.results import CellResult

LEVELS, ROWS = (0.05, 0.2), 301


def column(rows, name) -> np.ndarray:
    return np.array([float(row[name] or "nan") for row in rows])


def examples(n: int, seed: int):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.round(rng.normal(size=(n, 2)) + 1.5 * y[:, None]), y  # integers: many ties


def views_of(cell) -> tuple[dict[str, Prediction], np.ndarray]:
    seed = int(cell.split[1:])
    if cell.method == "online":
        X, y = examples(90, seed)
        online = OnlineTCMNN([0, 1], smoothed=cell.params["smoothed"], random_state=0)
        return {"p-value": online.learn(X[:20], y[:20]).predict_then_learn(X[20:], y[20:])}, y[20:]
    rng = np.random.default_rng([seed, 7])
    mean = rng.uniform(0.02, 0.98, ROWS)
    truth = (rng.random(ROWS) > np.clip(2.2 * mean - 0.6, 0.001, 0.999)).astype(int)
    scores = np.column_stack([mean, 1 - mean])
    sd = np.repeat(rng.uniform(0.05, 0.3, ROWS)[:, None], 2, axis=1)
    return {
        "reject": Prediction(np.array([0, 1]), scores, "probability"),
        "posterior": Prediction(np.array([0, 1]), scores, "posterior", extra={"sd": sd}),
        "margin": Prediction(np.array([0, 1]), scores - 0.4, "margin"),
    }, truth


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    def predict(cell):
        views, truth = views_of(cell)
        rows = 7 + np.random.default_rng(len(truth)).permutation(len(truth))
        return CellResult(cell, truth, rows, Views(views), None, 60, {0: 30, 1: 30})

    base = tmp_path_factory.mktemp("recomputable")
    methods = {"bayes": entry("bayes-knn"), "stream": entry("online", sweep={"smoothed": [False, True]})}
    for name, method in methods.items():
        config = make_config([method], levels=LEVELS, thresholds=(0.9,))
        write_report(make_run(config, predict, infos(name), ["r0", "r1", "r2"]), base / name)
    return base


def rows_of(path, split):
    return [row for row in read(path) if row["split"] == split]


def certainty_of(rows, view) -> np.ndarray:
    """What orders the rows of a region table, out of its columns."""
    if view != "posterior":
        return column(rows, "confidence")
    predicted = [row["prediction"] for row in rows]
    mean = np.array([float(row[f"prob[{label}]"]) for row, label in zip(rows, predicted, strict=True)])
    sd = np.array([float(row[f"sd[{label}]"]) for row, label in zip(rows, predicted, strict=True)])
    return (mean - 0.5) / sd


@pytest.mark.parametrize("view", ["reject", "posterior", "margin"])
def test_certified_thresholds_are_recomputed_from_region_tables(folder, view):
    run = folder / "bayes"
    table = read(run / "regions" / "bayes" / f"bayes-knn.{view}.csv")
    stored = [row for row in read(run / "tables/certified.csv") if row["view"] == view]
    assert [float(row["risk"]) for row in stored] == [0.1, 0.05, 0.01]
    for row in stored:
        risk, delta, thresholds, coverages, risks = float(row["risk"]), float(row["delta"]), [], [], []
        for split in ("r0", "r1", "r2"):
            rows = [line for line in table if line["split"] == split]
            calibration, chosen_on = halves("bayes", split, ROWS)
            assert sorted([*calibration, *chosen_on]) == list(range(ROWS)) and len(chosen_on) == ROWS // 2
            certainty = certainty_of(rows, view)
            right = np.array([line["label"] == line["prediction"] for line in rows])
            best = math.inf
            for threshold in threshold_grid(certainty[chosen_on], len(calibration), risk, delta):
                accepted = right[calibration][certainty[calibration] >= threshold]
                if binom.cdf(np.sum(~accepted), len(accepted), risk) > delta:
                    break
                best = threshold
            accepted = right[chosen_on][certainty[chosen_on] >= best]
            thresholds += [best] if best < math.inf else []
            coverages.append(len(accepted) / len(chosen_on))
            risks += [np.mean(~accepted)] if len(accepted) else []
        assert (row["splits"], int(row["certified"])) == ("3", len(thresholds))
        assert int(row["calibration_rows"]) == (ROWS + 1) // 2
        assert float(row["coverage"]) == pytest.approx(np.mean(coverages), abs=1e-15)
        assert float(row["threshold"] or "nan") == pytest.approx(mean_or_nan(thresholds), nan_ok=True)
        assert float(row["observed_risk"] or "nan") == pytest.approx(mean_or_nan(risks), nan_ok=True)
        assert int(row["broken"]) == np.sum(np.array(risks) > risk)
    assert stored[0]["threshold"] and not stored[2]["threshold"]
    assert [row["needed"] for row in stored] == ["29", "59", "299"]


def mean_or_nan(values) -> float:
    return float(np.mean(values)) if values else math.nan


@pytest.mark.parametrize("smoothed", ["false", "true"])
def test_online_columns_are_recomputed_from_region_tables(folder, smoothed):
    run = folder / "stream"
    rows = rows_of(run / "regions" / "stream" / f"online_smoothed={smoothed}.csv", "r1")
    p = column(rows, "p_smoothed")
    assert column(rows, "learnt").tolist() == list(range(20, 90))
    np.testing.assert_allclose(column(rows, "log10_mixture_martingale"), simple_mixture(p), atol=1e-9)
    np.testing.assert_allclose(column(rows, "log10_power_martingale"), power_martingale(p), atol=1e-9)
    metrics = {
        row["metric"]: float(row["value"])
        for row in read(run / "metrics.csv")
        if (row["params"], row["split"], row["level"]) == (f"smoothed={smoothed}", "r1", "")
    }
    assert metrics["ks_statistic"] == pytest.approx(kstest(p, "uniform").statistic, abs=1e-12)
    for metric in ("log10_mixture_martingale", "log10_power_martingale"):
        assert metrics[metric] == float(rows[-1][metric])
