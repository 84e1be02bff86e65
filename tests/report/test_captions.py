"""Captions and file names of figures."""

import re

import pytest
from report.report_cases import figure, golden_run

from confml.config.protocol import Protocol
from confml.report.captions import figure_file_name, protocol_text, sentence, setting_text
from confml.report.figures import pictures


@pytest.mark.parametrize(
    ("protocol", "text"),
    [
        ({"kind": "fixed-split"}, "training and test part of the provider"),
        ({"kind": "holdout", "repeats": 5, "test-size": 0.3}, "5 random holdouts, test part 0.3, stratified"),
        ({"kind": "k-fold", "folds": 10, "repeats": 3}, "10-fold cross-validation, 3 repeats, stratified"),
        ({"kind": "k-fold", "stratify": False}, "10-fold cross-validation, not stratified"),
        ({"kind": "online"}, "online, examples in the given order"),
        ({"kind": "online", "order": "shuffled", "repeats": 2}, "online, 2 shuffled orders"),
        (
            {"kind": "fixed-split", "absent": [8, 9]},
            "training and test part of the provider; absent from training: 8, 9",
        ),
    ],
)
def test_protocol_as_text(protocol, text):
    assert protocol_text(Protocol.model_validate(protocol)) == text


def test_captions_name_data_set_protocol_and_splits():
    protocol = Protocol.model_validate({"kind": "holdout", "repeats": 2})
    run = golden_run(figures=(figure("coverage-by-level"), figure("ranks")), protocol=protocol)
    captions = {picture.title: picture.caption for picture in pictures(run)}
    setting = "Protocol: 2 random holdouts, test part 0.2, stratified; 2 splits."
    assert captions["coverage-by-level of satimage"].endswith(f"Data set: satimage. {setting}")
    both = "Data sets: odd, data, satimage. "
    assert both + setting in captions["ranks of all data sets"]
    assert setting_text(run, "satimage") in captions["coverage-by-level of satimage"]


def test_sentences_and_file_names():
    assert sentence("mean of x") == "Mean of x." and sentence("Mean.") == "Mean."
    assert figure_file_name("ranks_metric=ari_level=0.05") == "ranks_metric-ari_level-0-05"
    assert figure_file_name("...") == "figure"


def test_figures_of_alike_names_have_different_files():
    figures = (figure("coverage-by-level", max_level=0.2), figure("coverage-by-level", max_level=0.25))
    paths = [picture.path for picture in pictures(golden_run(figures=figures))]
    assert len(set(paths)) == 4 and all(re.fullmatch("figures/[A-Za-z0-9_-]+", path) for path in paths)
