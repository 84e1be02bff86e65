"""A report reads each stored cell once, and none if it is current."""

import ast
import inspect
from collections import Counter
from pathlib import Path

import pytest
from report.report_cases import PAPER, figure, golden_run

from confml.report.console import print_run
from confml.report.figures import known_figures
from confml.report.run.stored import open_run
from confml.report.sections.base import Section
from confml.report.write import update_report, write_report
from confml.runner.results import CellResult

CONFIG = {
    "name": "small",
    "datasets": [{"generate": "five-gaussians", "n": 60}],
    "methods": [{"name": "tcm-nn", "sweep": {"k": [1, 3]}}, "naive-bayes"],
    "protocol": {"kind": "holdout", "repeats": 3, "test-size": 0.4},
    "thresholds": [0.8],
    "levels": [0.05, 0.2],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import confml

    out = tmp_path_factory.mktemp("one") / "run"
    confml.run(CONFIG, out=out, engine="serial")
    return out


@pytest.fixture
def reads(monkeypatch):
    """Number of times that each cell is read."""
    found = Counter()
    original = CellResult.read.__func__

    def read(cls, store, cell):
        found[cell.key] += 1
        return original(cls, store, cell)

    monkeypatch.setattr(CellResult, "read", classmethod(read))
    return found


def test_a_report_reads_each_cell_once(folder, reads, tmp_path):
    results = open_run(folder)
    results.results._keep_last = 1  # as if the cells were too large to keep
    write_report(results, tmp_path)
    assert len(reads) == 9 and set(reads.values()) == {1}
    print_run(results, tmp_path, Path(tmp_path / "out").open("w"))
    assert set(reads.values()) == {1}


def test_figures_read_no_cell_again(folder, reads, tmp_path):
    results = open_run(folder)
    results.results._keep_last = 1
    names = [name for name, one in known_figures().items() if not one.refits]
    results.config = results.config.model_copy(update={"figures": tuple(map(figure, names))})
    paths = write_report(results, tmp_path)
    assert len({path.stem for path in paths if path.suffix == ".svg"}) == 5
    assert len(reads) == 9 and set(reads.values()) == {1}


def test_a_current_report_reads_no_cell(folder, reads, capsys):
    results = open_run(folder)
    write_report(results, folder)
    print_run(results, folder)
    before = capsys.readouterr().out
    reads.clear()
    again = open_run(folder)
    update_report(again, folder, tried=False)
    print_run(again, folder)
    assert capsys.readouterr().out == before
    assert repr(again.metrics) == repr(results.metrics)
    assert not reads


def test_no_section_iterates_over_the_cells():
    package = Path(inspect.getfile(Section)).parent
    callers = {
        path.name
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "finished"
    }
    assert not callers


def test_memory_of_variants_is_freed(tmp_path):
    """After a pass no section holds a prediction."""
    from confml.measures.prediction import Prediction
    from confml.report.sections.base import items_of, sections_of

    run = golden_run(paper=PAPER, figures=[figure("ranks")])
    sections = sections_of(run, tmp_path)
    for _ in items_of(run, [one for one in sections if one.place < 100 and one.name != "summary-tables"]):
        pass
    for section in sections:
        if section.place < 100:
            assert not _holds(vars(section), Prediction, set()), section.name


def _holds(value, kind, seen) -> bool:
    if id(value) in seen or type(value).__name__ == "RunResults":
        return False
    seen.add(id(value))
    if isinstance(value, kind):
        return True
    if isinstance(value, dict):
        return any(_holds(one, kind, seen) for one in value.values())
    if isinstance(value, list | tuple | set):
        return any(_holds(one, kind, seen) for one in value)
    return hasattr(value, "__dict__") and _holds(vars(value), kind, seen)
