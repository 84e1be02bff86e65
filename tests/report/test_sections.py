"""Every section of a report keeps the contract, and files, console and list of files agree."""

import inspect

import pytest
from report.report_cases import golden_run

from confml.report.sections.base import Section, known_sections
from confml.report.write import write_report


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sections")
    return golden_run(), folder, write_report(golden_run(), folder)


@pytest.mark.parametrize("section", known_sections().values(), ids=known_sections())
def test_a_section_says_what_it_is(section: type[Section]):
    assert inspect.getdoc(section) and section.needs
    assert all(about and not about.endswith(".") for about in section.files.values())


def test_every_file_belongs_to_a_section(report):
    _, folder, paths = report
    declared = {name.partition("/")[0] for one in known_sections().values() for name in one.files}
    names = {path.relative_to(folder).parts[0] for path in paths}
    assert names - {"summary.json"} <= declared
