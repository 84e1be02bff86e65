"""Captions and file names of figures."""

import re

from report.report_cases import figure, golden_run

from confml.report.figures import pictures


def test_figures_of_alike_names_have_different_files():
    figures = (figure("coverage-by-level", max_level=0.2), figure("coverage-by-level", max_level=0.25))
    paths = [picture.path for picture in pictures(golden_run(figures=figures))]
    assert len(set(paths)) == 4 and all(re.fullmatch("figures/[A-Za-z0-9_-]+", path) for path in paths)
