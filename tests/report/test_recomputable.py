"""Certified thresholds and online columns, recomputed from CSV files alone."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report.report_cases import entry, result_of, run_by_hand
from scipy.stats import binom, kstest

from confml.measures.certified import threshold_grid
from confml.measures.martingales import power_martingale, simple_mixture
from confml.measures.prediction import Prediction
from confml.methods.tcm_nn.online import OnlineTCMNN
from confml.report.tables.certified import halves
from confml.report.write import write_report

ROWS = 301


def exact(path) -> pd.DataFrame:
    """A CSV file with each number as it was written."""
    return pd.read_csv(path, float_precision="round_trip")


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
        counts = {0: 30, 1: 30}
        return result_of(cell, views, truth, rows=rows, train_rows=60, train_class_counts=counts)

    base = tmp_path_factory.mktemp("recomputable")
    methods = {"bayes": "bayes-knn", "stream": entry("online", sweep={"smoothed": [False, True]})}
    for name, method in methods.items():
        write_report(run_by_hand([method], predict, [name], splits=3), base / name)
    return base


def certainty_of(rows, view) -> np.ndarray:
    """What orders the rows of a region table, out of its columns."""
    if view != "posterior":
        return rows["confidence"].to_numpy()
    of_first = rows["prediction"] == 0
    mean = np.where(of_first, rows["prob[0]"], rows["prob[1]"])
    return (mean - 0.5) / np.where(of_first, rows["sd[0]"], rows["sd[1]"])


@pytest.mark.parametrize("view", ["reject", "posterior", "margin"])
def test_certified_thresholds_are_recomputed_from_region_tables(folder, view):
    run = folder / "bayes"
    table = exact(run / "regions" / "bayes" / f"bayes-knn.{view}.csv")
    stored = exact(run / "tables/certified.csv")
    stored = stored[stored["view"] == view]
    assert stored["risk"].tolist() == [0.1, 0.05, 0.01]
    for row in stored.itertuples():
        thresholds, coverages, risks = [], [], []
        for split, rows in table.groupby("split"):
            calibration, chosen_on = halves("bayes", split, ROWS)
            assert sorted([*calibration, *chosen_on]) == list(range(ROWS)) and len(chosen_on) == ROWS // 2
            certainty, right = certainty_of(rows, view), (rows["label"] == rows["prediction"]).to_numpy()
            best = math.inf
            for threshold in threshold_grid(certainty[chosen_on], len(calibration), row.risk, row.delta):
                accepted = right[calibration][certainty[calibration] >= threshold]
                if binom.cdf(np.sum(~accepted), len(accepted), row.risk) > row.delta:
                    break
                best = threshold
            accepted = right[chosen_on][certainty[chosen_on] >= best]
            thresholds.append(best if best < math.inf else math.nan)
            coverages.append(len(accepted) / len(chosen_on))
            risks.append(np.mean(~accepted) if len(accepted) else math.nan)
        assert (row.splits, row.certified) == (3, np.isfinite(thresholds).sum())
        assert row.calibration_rows == (ROWS + 1) // 2
        assert row.coverage == pytest.approx(np.mean(coverages), abs=1e-15)
        means = pd.Series(thresholds).mean(), pd.Series(risks).mean()
        assert (row.threshold, row.observed_risk) == pytest.approx(means, nan_ok=True)
        assert row.broken == np.sum(np.array(risks) > row.risk)
    assert stored["threshold"].notna().tolist()[::2] == [True, False]
    assert stored["needed"].tolist() == [29, 59, 299]


@pytest.mark.parametrize("smoothed", ["false", "true"])
def test_online_columns_are_recomputed_from_region_tables(folder, smoothed):
    run = folder / "stream"
    rows = exact(run / "regions" / "stream" / f"online_smoothed={smoothed}.csv")
    rows = rows[rows["split"] == "r1"]
    p = rows["p_smoothed"].to_numpy()
    assert rows["learnt"].tolist() == list(range(20, 90))
    np.testing.assert_allclose(rows["log10_mixture_martingale"], simple_mixture(p), atol=1e-9)
    np.testing.assert_allclose(rows["log10_power_martingale"], power_martingale(p), atol=1e-9)
    table = exact(run / "metrics.csv").set_index(["params", "split", "metric"])["value"]
    metrics = table.loc[f"smoothed={smoothed}", "r1"]
    assert metrics["ks_statistic"] == pytest.approx(kstest(p, "uniform").statistic, abs=1e-12)
    for metric in ("log10_mixture_martingale", "log10_power_martingale"):
        assert metrics[metric] == rows[metric].iloc[-1]
