"""Words of other tools, and values in the wrong place, lead to those of confml."""

import pytest

from confml.config import load_config, make_config
from confml.errors import ConfmlError
from confml.report.figures import FIGURES


def error(changes):
    values = {"name": "a", "datasets": ["iris"], "methods": ["tcm-nn"], "protocol": "holdout"}
    with pytest.raises(ConfmlError) as caught:
        make_config(values | changes, where="here", figures=FIGURES)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"datasets": ["loans.csv"]}, "write {csv: loans.csv, label: COLUMN}"),
        ({"datasets": [{"csv": "a.csv", "target": "y"}]}, "did you mean 'label'?"),
        ({"protocol": "cv"}, "did you mean 'k-fold'?"),
        ({"methods": [{"name": "tcm-nn", "k": [1, 3]}]}, "write sweep: {k: [1, 3]}"),
        ({"figures": ["critical-difference"]}, "did you mean 'ranks'?"),
        ({"groups": "site"}, "a key of a data set: datasets: [{csv: FILE, label: COLUMN, groups: ...}]"),
        ({"missing": "mean"}, "it is a key of a data set"),
    ],
)
def test_hint(changes, words):
    assert words in error(changes)


def test_data_in_the_place_of_a_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loans.csv").write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(ConfmlError, match="confml init loans.csv --label COLUMN"):
        load_config("loans.csv")
    with pytest.raises(ConfmlError, match=r"'iris' is a data set.*datasets: \[iris\]"):
        load_config("iris")
