"""Captions and file names of figures."""

import re

from report.report_cases import figure, golden_run

from confml.config.protocol import Protocol
from confml.report.captions import setting_text
from confml.report.figures import pictures


def test_captions_name_data_set_protocol_and_splits():
    protocol = Protocol.model_validate({"kind": "holdout", "repeats": 2})
    run = golden_run(figures=(figure("coverage-by-level"), figure("ranks")), protocol=protocol)
    captions = {picture.title: picture.caption for picture in pictures(run)}
    setting = "Protocol: 2 random holdouts, test part 0.2, stratified; 2 splits."
    assert captions["coverage-by-level of satimage"].endswith(f"Data set: satimage. {setting}")
    both = "Data sets: odd, data, satimage. "
    assert both + setting in captions["ranks of all data sets"]
    assert setting_text(run, "satimage") in captions["coverage-by-level of satimage"]


def test_figures_of_alike_names_have_different_files():
    figures = (figure("coverage-by-level", max_level=0.2), figure("coverage-by-level", max_level=0.25))
    paths = [picture.path for picture in pictures(golden_run(figures=figures))]
    assert len(set(paths)) == 4 and all(re.fullmatch("figures/[A-Za-z0-9_-]+", path) for path in paths)
