"""Printed tables of a Bayes error study."""

import re
from collections.abc import Mapping
from typing import Any

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
SHARES = (
    "; share={estimate:.3f}; tie band={estimate_tie_low:.3f}-{estimate_tie_high:.3f}"
    "; interval={interval_low:.3f}-{interval_high:.3f}; error %={bayes_error:.2%}"
    "; lower={lower:.2%}; upper={upper:.2%}"
)
FORMS = {
    "pairs": "class={class_a}; other class={class_b}; rows={rows_a}; other rows={rows_b}" + SHARES,
    "one-vs-rest": "class={class}; rows={rows}" + SHARES,
    "overall": "estimator={estimator}; error %={estimate:.2%}; "
    "tie band %={estimate_tie_low:.2%}-{estimate_tie_high:.2%}; lower={lower:.2%}; upper={upper:.2%}; "
    "hold={bounds_hold}; definition={definition}",
    "selection": "step={step}; feature={attribute}; criterion={criterion:.3f}",
}
"""Columns of each printed table: the heading, and how a row of one of `TABLES` is shown."""
KEY_COLUMNS = {"pairs": 2, "one-vs-rest": 1, "overall": 1, "selection": 2}
MOST_ROWS = {"pairs": 20, "one-vs-rest": 40}
LEGEND = """\
hold: share of simulated data sets whose bounds contained the Bayes error (two Gaussians, 2 and 10
features, 1000 rows); it is smaller with more features
share: estimate / smaller prior, from 0 (separated) to 1 (indistinguishable); tie band: lowest and
highest share under other orders of equal distances (not a confidence interval; empty without
ties); error %: estimate; lower, upper: bounds of the Bayes error (not a confidence interval)
"""


def print_study(study: Study) -> None:
    """Print the results; long tables are cut, with a note."""
    for name, columns in FORMS.items():
        if rows := TABLES[name](study):
            shown = rows[: MOST_ROWS.get(name)]
            left = len(rows) - len(shown)
            note = [f"... and {left} more rows (--out writes them)"] if left else []
            title = TITLES[name].format(name=study.name, criterion=study.request.criterion)
            forms = dict(column.split("=", 1) for column in columns.split("; "))
            if study.intervals is None:
                forms.pop("interval", None)
            frame = pd.DataFrame([{key: text_of(form, row) for key, form in forms.items()} for row in shown])
            frame = frame.rename(columns={"interval": f"{100 * (study.request.intervals or 0):g}% interval"})
            print_shown(ShownTable(title, frame, note, keys=KEY_COLUMNS[name]))
    print(LEGEND, end="")
    if study.intervals is not None:
        blocks = f"by leaving out each of {study.intervals.blocks} blocks"
        print(f"intervals: for the expected share, {blocks}; they do not include the bias")
    if study.true_error is not None:
        print(f"true Bayes error of {study.name}: {100 * study.true_error:.2f} %")


def text_of(form: str, row: Mapping[str, Any]) -> str:
    """Return a row in the form of a column; "-" for NaN, and nothing for a range of one number."""
    text = form.format_map(row)
    if ":" not in form:  # no number
        return text
    text = text.replace("%", "").replace("nan", "-")
    return "" if re.fullmatch(r"(.+)-\1", text) else text
