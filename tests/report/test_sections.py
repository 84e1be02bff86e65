"""Every section of a report keeps the contract, and files, console and list of files agree."""

import ast
import inspect
from collections import Counter
from pathlib import Path

import pytest
from report.report_cases import golden_run

from confml.report.figures import known_figures
from confml.report.sections.base import Section, known_sections, sections_of
from confml.report.write import write_report


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sections")
    return golden_run(), folder, write_report(golden_run(), folder)


@pytest.mark.parametrize("section", known_sections().values(), ids=known_sections())
def test_a_section_says_what_it_is(section: type[Section]):
    assert inspect.getdoc(section) and section.needs
    assert all(about and not about.endswith(".") for about in section.files.values())


def test_places_decide_the_order():
    places = [section.place for section in known_sections().values()]
    assert places == sorted(set(places))


def test_every_file_belongs_to_a_section(report):
    _, folder, paths = report
    declared = {name.partition("/")[0] for one in known_sections().values() for name in one.files}
    names = {path.relative_to(folder).parts[0] for path in paths}
    assert names - {"summary.json"} <= declared


def test_a_report_takes_each_cell_once_and_in_order(report, monkeypatch):
    results, folder, _ = report
    taken: list[tuple[str, str]] = []

    def noted(cls):
        original = cls.add

        def add(self, result):
            taken.append((cls.name, result.cell.key))
            yield from original(self, result) or ()

        return add

    for cls in known_sections().values():
        monkeypatch.setattr(cls, "add", noted(cls))
    write_report(results, folder)
    order = [result.cell.key for result in results.finished()]
    for section in sections_of(results, folder):
        assert [key for name, key in taken if name == section.name] == order
    assert set(Counter(taken).values()) == {1}


def test_figures_that_fit_again_say_so():
    """A figure's module loads data or fits exactly where the figure declares it."""
    for figure in known_figures().values():
        source = Path(inspect.getfile(inspect.unwrap(figure.draw))).read_text(encoding="utf-8")
        imported = {node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
        assert figure.refits == ("confml.report.figures.refit" in imported), figure.name


def test_reading_a_damaged_cell_removes_nothing():
    """Modules of the report delete nothing but their own files of an earlier report."""
    package = Path(inspect.getfile(Section)).parent.parent
    callers = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and (
            node.func.attr in {"unlink", "rmdir", "rmtree"}
            or (node.func.attr == "remove" and "store" in ast.unparse(node.func.value).lower())
        )
    }
    assert callers <= {"write.py", "files.py"}
