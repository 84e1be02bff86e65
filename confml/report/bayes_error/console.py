"""Printed tables of a Bayes error study."""

import sys
from typing import IO

import pandas as pd

from confml.report.bayes_error.study import Study
from confml.report.bayes_error.tables import TABLES
from confml.report.console import print_shown
from confml.report.shown_table import ShownTable

TITLES = {
    "pairs": "{name}: Bayes error of pairs of classes, hardest pair first",
    "one-vs-rest": "{name}: one-vs-rest Bayes error, hardest class first",
    "overall": "{name}: Bayes error of all classes",
    "selection": "Forward selection by the {criterion} estimate of the pairs",
}
KEYS = {
    "pairs": {"class": "class_a", "and": "class_b", "rows": "rows_a", "rows of and": "rows_b"},
    "one-vs-rest": {"class": "class", "rows": "rows"},
    "overall": {"estimator": "estimator"},
    "selection": {"step": "step", "feature": "attribute"},
}
KEY_COLUMNS = {"pairs": 2, "one-vs-rest": 1, "overall": 1, "selection": 2}
MOST_ROWS = {"pairs": 20, "one-vs-rest": 40}
LEGEND = """\
hold: share of simulated data sets whose bounds contained the Bayes error (two Gaussians, 2 and 10
features, 1000 rows); it is smaller with more features
share: estimate / smaller prior, from 0 (separated) to 1 (indistinguishable); tie band: lowest and
highest share under other orders of equal distances (not a confidence interval; empty without
ties); error %: estimate; lower, upper: bounds of the Bayes error (not a confidence interval)
"""


def print_study(
    study: Study, *, every: bool = False, pairs: bool = True, stream: IO[str] | None = None
) -> None:
    """Print the results; long tables are cut, with a note, unless ``every`` is True."""
    stream = stream or sys.stdout
    for name, rows_of in TABLES.items():
        rows = rows_of(study) if name in TITLES and (pairs or name != "pairs") else []
        if rows:
            shown = rows[: None if every else MOST_ROWS.get(name)]
            left = len(rows) - len(shown)
            note = [f"... and {left} more (--all prints them, --out writes them)"] if left else []
            title = TITLES[name].format(name=study.name, criterion=study.request.criterion)
            frame = shown_frame(name, pd.DataFrame(shown), study.request.intervals or 0.0)
            print_shown(ShownTable(title, frame, note, keys=KEY_COLUMNS[name]), stream)
    stream.write(LEGEND)
    if study.intervals is not None:
        blocks = f"by leaving out each of {study.intervals.blocks} blocks"
        stream.write(f"intervals: for the expected share, {blocks}; they do not include the bias\n")
    if study.true_error is not None:
        stream.write(f"true Bayes error of {study.name}: {100 * study.true_error:.2f} %\n")


def shown_frame(name: str, rows: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return rows of one of `TABLES` as texts. level: of the intervals."""
    texts = {heading: rows[key].astype(str) for heading, key in KEYS[name].items()}
    if name == "selection":
        return pd.DataFrame({**texts, "criterion": _decimals(rows["criterion"])})
    ties = rows["estimate_tie_low"], rows["estimate_tie_high"]
    if name == "overall":
        texts |= {"error %": _per_cent(rows["estimate"]), "tie band %": _band(*map(_per_cent, ties))}
    else:
        texts |= {"share": _decimals(rows["estimate"]), "tie band": _band(*map(_decimals, ties))}
        if "interval_low" in rows:
            ends = _decimals(rows["interval_low"]), _decimals(rows["interval_high"])
            texts[f"{100 * level:g}% interval"] = _band(*ends)
        texts["error %"] = _per_cent(rows["bayes_error"])
    texts |= {"lower": _per_cent(rows["lower"]), "upper": _per_cent(rows["upper"])}
    if name == "overall":
        texts |= {"hold": rows["bounds_hold"], "definition": rows["definition"]}
    return pd.DataFrame(texts)


def _decimals(values: pd.Series) -> pd.Series:
    return values.map("{:.3f}".format, na_action="ignore").fillna("-")


def _per_cent(values: pd.Series) -> pd.Series:
    return (100 * values).map("{:.2f}".format, na_action="ignore").fillna("-")


def _band(low: pd.Series, high: pd.Series) -> pd.Series:
    """Return the ends of ranges, empty for those of one number or none."""
    return (low + "-" + high).where((low != high) & (low != "-"), "")
