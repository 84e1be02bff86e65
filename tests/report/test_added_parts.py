"""A section, a file of results and a figure added as documented are written, shown and described."""

import csv
import io
import re
import sys
from pathlib import Path

import pytest
from report.report_cases import figure
from report.test_summary_tables import noisy_run

from confml.report import figures, sections
from confml.report.console import print_run
from confml.report.described import describe_all
from confml.report.sections.base import sections as registry
from confml.report.write import write_report

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "howto" / "extend.md"


def forget():
    """Forget which sections and figures there are."""
    figures.known_figures.cache_clear()
    vars(registry).pop("built_in", None)


@pytest.fixture
def added(monkeypatch, tmp_path):
    """Put the two modules of the page into the packages of sections and figures."""
    text = PAGE.read_text(encoding="utf-8")
    for package, name in ((sections, "largest_confidence"), (figures, "error_boxes")):
        (source,) = re.findall(rf'```python title="{name}.py"\n(.*?)```', text, flags=re.DOTALL)
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    monkeypatch.setitem(
        registry.locations,
        "largest-confidence",
        "confml.report.sections.largest_confidence:LargestConfidence",
    )
    forget()
    yield tmp_path / "run"
    monkeypatch.undo()
    forget()
    for name in ("sections.largest_confidence", "figures.error_boxes"):
        sys.modules.pop(f"confml.report.{name}", None)


def test_a_section_a_file_and_a_figure(added):
    run = noisy_run(datasets=("d",))
    run.config = run.config.model_copy(update={"figures": (figure("error-boxes"),)})
    write_report(run, added)
    with (added / "largest-confidence.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(run.cells) and list(rows[0]) == ["dataset", "view", "confidence"]
    assert (added / "figures" / "error-boxes-d.svg").exists()
    assert "Errors of the splits; boxes: quartiles." in (added / "figures" / "index.md").read_text()
    page = (added / "report.html").read_text()
    assert 'href="largest-confidence.csv"' in page and "figures/error-boxes-d.svg" in page
    stream = io.StringIO()
    print_run(run, added, stream, everything=True)
    assert "largest confidence of the test examples of a cell" in stream.getvalue()
    assert describe_all("error-boxes")[0]["about"] == "errors of the splits as boxes"
    assert "largest-confidence.csv" in describe_all("largest-confidence")[0]["files"]
