"""Accuracy-rejection curves, matched views and chains in reports, on runs made by hand."""

import numpy as np
import pandas as pd
import pytest
from report.report_cases import entry, figure, result_of, run_by_hand

from confml.measures.chains import ChainDiagnostics
from confml.measures.prediction import Prediction
from confml.methods.details import FitDetails
from confml.report.tables.published_tables import report_numbers
from confml.report.write import write_report

CLASSES = np.array([0, 1])


def prediction_of(seed: int, model: str) -> tuple[dict[str, Prediction], np.ndarray]:
    rng = np.random.default_rng([seed, *model.encode()])
    mean = np.clip(rng.normal(0.6, 0.2, 40), 0.02, 0.98)
    truth = (np.random.default_rng(seed).random(40) > 0.6).astype(int)  # the same for every model
    scores = np.column_stack([mean, 1 - mean])
    share = np.clip(np.round(2 * mean - 0.5, 1), 0, 1)
    return {
        "reject": Prediction(CLASSES, scores, "probability"),
        "envelope": Prediction(CLASSES, np.column_stack([share, 1 - share]), "envelope"),
        "posterior": Prediction(CLASSES, scores, "posterior", extra={"sd": np.full(scores.shape, 0.1)}),
    }, truth


def bad_chains() -> dict:
    rng = np.random.default_rng(0)
    k = rng.normal(size=(3, 60)) + 5 * np.arange(3)[:, None]
    return ChainDiagnostics({"k": k, "beta": rng.normal(size=(3, 60))}, {}).summary(("k", "beta"), 20)


def run_of(splits, **config):
    def predict(cell):
        model = cell.params["model"]
        views, truth = prediction_of(int(cell.split[1:]), model)
        details = FitDetails.from_dict({"chains": bad_chains()} if model == "adaptive" else {})
        return result_of(cell, views, truth, train_rows=80, fit_details=details)

    methods = [entry("bayes-knn", {"model": model}, label=model) for model in ("standard", "adaptive")]
    config = {"levels": (), "thresholds": (0.8, 0.95)} | config
    return run_by_hand(methods, predict, splits=splits, rows=120, **config)


def test_matched_views_have_the_envelopes_proportions(tmp_path):
    """All metrics of matched views whose groups can have the proportion of the envelope."""
    write_report(run_of(1), tmp_path)
    table = pd.read_csv(tmp_path / "tables/matched.csv").set_index("params").loc["model=standard"]
    rows = table.set_index(["view", "metric", "level"])["value"]
    views, truth = prediction_of(0, "standard")
    right = views["envelope"].labels == truth
    for level in (0.8, 0.95):
        sure = views["envelope"].accepted(level)
        for view, metric, of_envelope in (
            ("reject", "matched_sure_incorrect", sure & ~right),
            ("posterior", "matched_sure_correct", sure & right),
        ):
            if rows[view, "matched_exactly", level] == 1:
                assert rows[view, metric, level] == pytest.approx(of_envelope.mean())
    means = report_numbers(tmp_path)
    assert {row.n for row in means if row.metric == "matched_unsure"} == {1}


def test_figures_are_drawn(tmp_path):
    specs = (
        figure("accuracy-rejection"),
        figure("accuracy-rejection", form="risk"),
        figure("accuracy-rejection", together=True, views=["envelope"]),
        figure("chain-traces"),
    )
    write_report(run_of(2, figures=specs), tmp_path)
    assert len(list((tmp_path / "figures").glob("*.svg"))) == len(specs)
    assert "not drawn" not in (tmp_path / ".run/notes.txt").read_text()
