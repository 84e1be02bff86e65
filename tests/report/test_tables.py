"""Every table and group of files of a report keeps the contract; files and list of files agree."""

import pytest
from report.report_cases import golden_run

from confml.report.tables.known import known_outputs
from confml.report.write import write_report


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    return folder, write_report(golden_run(), folder)


@pytest.mark.parametrize("output", known_outputs(), ids=lambda output: output.name)
def test_an_output_says_what_it_is(output):
    assert output.text and output.needs
    assert all(about and not about.endswith(".") for about in output.paths.values())


def test_every_file_belongs_to_an_output(report):
    folder, paths = report
    declared = {name.partition("/")[0] for output in known_outputs() for name in output.paths}
    assert {path.relative_to(folder).parts[0] for path in paths} <= declared
