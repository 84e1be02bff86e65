"""A metric, a table and a figure added as the page on extensions says are written, shown and described."""

import html
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from report.report_cases import figure, read
from report.test_summary_tables import noisy_run

from confml import measures
from confml.measures import Prediction, evaluate
from confml.report import figures, tables
from confml.report.described import describe_all
from confml.report.tables import known
from confml.report.write import write_report

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import reference_pages  # noqa: E402


def source_of(name: str) -> str:
    """Return the module of this name on the page."""
    text = (DOCS / "pages" / "howto" / "extend.md").read_text(encoding="utf-8")
    (source,) = re.findall(rf'```python title="{name}.py"\n(.*?)```', text, flags=re.DOTALL)
    return source


def test_a_metric(monkeypatch, tmp_path):
    module: dict = {}
    exec(compile(source_of("score_gap"), "score_gap.py", "exec"), module)
    monkeypatch.setattr(measures, "MEASURES", (*measures.MEASURES, module["MEASURE"]))
    view = Prediction(np.arange(3), [[0.9, 0.05, 0.05], [0.5, 0.3, 0.2]], "probability")
    rows = evaluate(view, np.array([0, 1]), [0.2])
    assert rows[-2:] == [("score_gap", None, pytest.approx(0.525)), ("wide_gaps", 0.2, 0.5)]
    write_report(noisy_run(datasets=("d",)), tmp_path)
    summary = [row for row in read(tmp_path / "summary.csv") if row["metric"] in ("score_gap", "wide_gaps")]
    assert sorted(float(row["mean"]) for row in summary) == [0.0] * 4 + [pytest.approx(0.9)] * 4
    (entry,) = describe_all("wide_gaps")
    assert entry["type"] == "metric" and entry["heading"] == "wide gaps" and entry["unit"] == "%"
    page = html.unescape(reference_pages.terms_page())
    assert "<code>wide_gaps</code> | wide gaps (%) | share of test examples" in page


@pytest.fixture
def added(monkeypatch, tmp_path):
    """Put the two modules of the page into the packages of tables and figures."""
    for package, name in ((tables, "largest_confidence"), (figures, "error_boxes")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(source_of(name), encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    monkeypatch.setattr(known, "OUTPUTS", ("largest_confidence:TABLE", *known.OUTPUTS))
    from confml.report.figures import error_boxes

    monkeypatch.setitem(figures.FIGURES, "error-boxes", error_boxes.ERROR_BOXES)
    yield tmp_path / "run"
    monkeypatch.undo()
    for name in ("tables.largest_confidence", "figures.error_boxes"):
        sys.modules.pop(f"confml.report.{name}", None)


def test_a_table_and_a_figure(added):
    run = noisy_run(datasets=("d",))
    run.config = run.config.model_copy(update={"figures": (figure("error-boxes"),)})
    write_report(run, added)
    rows = read(added / "tables/largest-confidence.csv")
    assert len(rows) == len(run.cells)
    assert list(rows[0])[:6] == ["dataset", "method", "params", "view", "split", "confidence"]
    index = (added / "figures" / "index.md").read_text()
    assert "Errors of the splits as boxes: quartiles and extremes." in index
    page = (added / "report.html").read_text()
    assert 'href="tables/largest-confidence.csv"' in page and "figures/error-boxes-d.svg" in page
    assert describe_all("error-boxes")[0]["about"] == "Errors of the splits as boxes: quartiles and extremes."
    (table,) = describe_all("largest-confidence.csv")
    assert table["type"] == "table" and "of each split" in table["text"]
