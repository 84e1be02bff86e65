"""Statements of ``confml predict`` (rare classes, selected parameters, batches, ``--risk``), and a band."""

from __future__ import annotations

import numpy as np
import pandas as pd
from _entries import ABOUT, AT_LEAST, Claim, Entry, grid, p_value_claims
from _examples import sample

from confml.config import restore_config
from confml.data.csv_table import load_tables
from confml.data.frame_table import frame_table
from confml.data.table_files import chunks_of
from confml.measures.recalibration import Event
from confml.predictions.batch import Output
from confml.predictions.default_config import config_values
from confml.predictions.summary import Summary
from confml.predictions.training import Choice, fit_model
from confml.report.figures.reliability import Diagram

ZIPF = 1 / np.arange(1, 41) / np.sum(1 / np.arange(1, 41))


def zipf_rows(rng, rows):
    """Draw X (rows, 2) and y of 40 classes with Zipf frequencies."""
    y = rng.choice(40, rows, p=ZIPF)
    return rng.normal(size=(rows, 2)) + 1.5 * np.column_stack([y % 7, y // 7]), y


def other_class(rng, rows):
    """s/m and (s + 1)/(m + 1) minus 1 if the next example is of another class, for s single examples."""
    _, y = zipf_rows(rng, rows + 1)
    single = np.sum(np.unique(y[:rows], return_counts=True)[1] == 1)
    unseen = y[rows] not in y[:rows]
    return [single / rows - unseen, (single + 1) / (rows + 1) - unseen]


def fitted(rng, X, y, method, tuned=None, **choice):
    """A model of `fit_model` with a random seed. tuned: grid of its parameters, if there is one."""
    values = config_values({"name": "train", "csv": "train", "label": "y"}, method, steps=[])
    values["methods"] = [{"name": method, "tune": tuned} if tuned else {"name": method}]
    values["seed"] = int(rng.integers(2**31))
    config = restore_config(values)
    data = load_tables(config.datasets[0].as_dict(), [frame_table(frame_of(X, y), "train")])
    return fit_model(config, Choice(**choice), data)


def frame_of(X, y):
    return pd.DataFrame(X, columns=["a", "b"]).assign(y=[f"c{label}" for label in y])


def summary_of(model, X, y, levels):
    """The `Summary` of predictions of new rows."""
    summary = Summary(model, Output(levels))
    list(summary.answers(chunks_of(frame_table(frame_of(X, y), "new")), lambda text: None))
    return summary


def tuned(rng, rows, part):
    """p-value of a test example's label, labels random, k from 1 to 12 selected by cross-validation."""
    X, y = rng.normal(size=(rows + 1, 2)), rng.integers(0, 2, rows + 1)
    model = fitted(rng, X[:rows], y[:rows], "tcm-nn", {"k": list(range(1, 13))}, selection_part=part)
    summary = summary_of(model, X[rows:], y[rows:], (0.05, 0.2))
    return [summary.labels > summary.check.covered[level] for level in (0.05, 0.2)]


def batch(rng, rows, new, method, conformal):
    """p-values of the tests of exchangeable new rows, as ``confml predict`` prints them."""
    X, y = sample(rng, rows + new, 3)
    model = fitted(rng, X[:rows], y[:rows], method, conformal=conformal)
    summary = summary_of(model, X[rows:], y[rows:], (0.1,))
    tests = summary.check.tests()
    limits = {"atypical": 0.05, "ranges": 0.01, "coverage": 0.01}
    return [tests[name].p <= limit for name, limit in limits.items()]


def risk(rng, rows, method, target, new):
    """A certified threshold whose accepted rows are wrong with a larger probability, counted in new rows."""
    X, y = sample(rng, rows + new, 2)
    model = fitted(rng, X[:rows], y[:rows], method, risk=target, confidence=0.9)
    if model.point.threshold is None:
        return [False]
    prediction = model.method.confident_predict(X[rows:])[model.view]
    accepted = prediction.certainty >= model.point.threshold
    wrong = prediction.labels != np.array([f"c{label}" for label in y[rows:]])
    return [bool(accepted.any() and np.mean(wrong[accepted]) > target)]


def diagram(rng, rows, ties):
    """Isotonic fit at the median probability outside the band of calibrated probabilities."""
    p = rng.beta(1.0, 0.5, rows)
    p = np.round(p, 1) if ties else p
    drawn = Diagram.of(Event(p, rng.random(rows) < p), draws=200, seed=int(rng.integers(2**31)))
    at = np.searchsorted(drawn.fit.values, np.sort(p)[rows // 2])
    return [not drawn.low[at] <= drawn.fit.fitted[at] <= drawn.high[at]]


def _batch_claims(setting):
    coverage = "at most" if setting["conformal"] == "split" else ABOUT
    return [
        Claim("atypical rows, p <= 0.05", 0.05),
        Claim("ranges, p <= 0.01", 0.01),
        Claim("coverage, p <= 0.01", 0.01, coverage),
    ]


ENTRIES = (
    Entry("zipf-other", "share of new rows of another class, 40 Zipf classes",
          "about s/m, at most (s + 1)/(m + 1) in expectation", grid(rows=(20, 60, 300)),
          lambda setting: [Claim("s/m minus the share", 0, AT_LEAST, True),
                           Claim("(s + 1)/(m + 1) minus the share", 0, AT_LEAST, True)], other_class),
    Entry("tuned", "region of tcm-nn with tune: {k: 1 to 12}, random labels",
          "the bound is approximate; it holds with --selection-part",
          grid(rows=39, part=(None, 0.3)),
          lambda setting: p_value_claims(ABOUT if setting["part"] is None else "at most")(setting), tuned,
          fraction=0.3),
    Entry("new-rows", "tests of the exchangeability of new rows",
          "each p-value of a test is at most e with probability at most e for exchangeable rows",
          [{"rows": 100, "new": new, **method} for new in (1, 100) for method in
           ({"method": "tcm-nn", "conformal": None}, {"method": "naive-bayes", "conformal": "split"})],
          _batch_claims, batch, fraction=0.1),
    Entry("predict-risk", "confml predict --risk",
          "with probability 90 % no threshold is certified, or an accepted row is wrong with probability at "
          "most RISK", [{"rows": rows, "method": method, "target": 0.1, "new": new} for rows, method, new in
                        ((200, "naive-bayes", 20_000), (600, "naive-bayes", 20_000), (200, "tcm-nn", 1_000))],
          lambda setting: [Claim("certified above the limit", 0.1)], risk, fraction=0.05),
    Entry("reliability-band", "90 % band, reliability figure",
          "5 % and 95 % quantiles at each probability by itself",
          [{"rows": rows, "ties": ties} for rows, ties in ((100, False), (1000, False), (1000, True))],
          lambda setting: [Claim("fit at the median probability outside the band", 0.1, ABOUT)],
          diagram, fraction=0.1),
)  # fmt: skip
