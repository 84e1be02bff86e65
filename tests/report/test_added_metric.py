"""A metric added as the page on extensions says is in every table, in `describe` and in the documentation."""

from __future__ import annotations

import csv
import html
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from report.test_summary_tables import noisy_run

from confml import measures
from confml.measures import Prediction, evaluate
from confml.report.described import describe_all
from confml.report.write import write_report

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import reference_pages  # noqa: E402


@pytest.fixture
def added(monkeypatch):
    """Register the measure of the page on extensions."""
    text = (ROOT / "docs" / "pages" / "howto" / "extend.md").read_text(encoding="utf-8")
    (source,) = re.findall(r'```python title="score_gap.py"\n(.*?)```', text, flags=re.DOTALL)
    module: dict = {}
    exec(compile(source, "score_gap.py", "exec"), module)
    monkeypatch.setattr(measures, "MEASURES", (*measures.MEASURES, module["MEASURE"]))


@pytest.fixture
def report(added, tmp_path):
    run = noisy_run(datasets=("d",))
    write_report(run, tmp_path)
    return run, tmp_path


def test_numbers_by_hand(added):
    view = Prediction(np.arange(3), [[0.9, 0.05, 0.05], [0.5, 0.3, 0.2]], "probability")
    rows = evaluate(view, np.array([0, 1]), [0.2])
    assert rows[-2:] == [("score_gap", None, pytest.approx(0.525)), ("wide_gaps", 0.2, 0.5)]
    assert all(row.metric != "score_gap" for row in evaluate(view.take(slice(0)), np.arange(0)))


def test_the_summary_has_it(report):
    _, folder = report
    with (folder / "summary.csv").open() as file:
        found = [row for row in csv.DictReader(file) if row["metric"] in ("score_gap", "wide_gaps")]
    assert sorted(float(row["mean"]) for row in found) == [0.0] * 4 + [pytest.approx(0.9)] * 4
    assert '"score_gap"' in (folder / "summary.json").read_text()


def test_it_is_described(added):
    (entry,) = describe_all("wide_gaps")
    assert entry["type"] == "metric" and entry["heading"] == "wide gaps" and entry["unit"] == "%"
    assert entry["better"] == "higher" and entry["file"] == "metrics.csv" and entry["digits"] == 2


def test_the_reference_has_it(added):
    page = html.unescape(reference_pages.terms_page())
    assert "<code>wide_gaps</code> | wide gaps (%) | share of test examples" in page
