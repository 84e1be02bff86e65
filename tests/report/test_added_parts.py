"""A table and a figure added as documented are written, shown and described."""

import csv
import re
import sys
from pathlib import Path

import pytest
from report.report_cases import figure
from report.test_summary_tables import noisy_run

from confml.report import figures, tables
from confml.report.described import describe_all
from confml.report.tables import known
from confml.report.write import write_report

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "howto" / "extend.md"


@pytest.fixture
def added(monkeypatch, tmp_path):
    """Put the two modules of the page into the packages of tables and figures."""
    text = PAGE.read_text(encoding="utf-8")
    for package, name in ((tables, "largest_confidence"), (figures, "error_boxes")):
        (source,) = re.findall(rf'```python title="{name}.py"\n(.*?)```', text, flags=re.DOTALL)
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
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
    with (added / "tables/largest-confidence.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(run.cells)
    assert list(rows[0])[:6] == ["dataset", "method", "params", "view", "split", "confidence"]
    assert (added / "figures" / "error-boxes-d.svg").exists()
    assert (
        "Errors of the splits as boxes: quartiles and extremes."
        in (added / "figures" / "index.md").read_text()
    )
    page = (added / "report.html").read_text()
    assert 'href="tables/largest-confidence.csv"' in page and "figures/error-boxes-d.svg" in page
    assert describe_all("error-boxes")[0]["about"] == "errors of the splits as boxes"
    (table,) = describe_all("largest-confidence.csv")
    assert table["type"] == "table" and "of each split" in table["text"]
