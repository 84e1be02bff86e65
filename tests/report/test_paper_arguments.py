"""What Proedrou et al. argue around their tables: PAC bounds, wrong priors, classes that are absent."""

import math

import pytest
from command_line import command, refusal
from report.report_cases import read

from confml.measures.bounds import sparse_svm_bound


def test_the_pac_bound_of_usps():
    bound = sparse_svm_bound(7291, 274)
    without_delta = bound - math.log(7291) / (7291 - 274)
    assert without_delta == pytest.approx(0.17, abs=0.005), "the paper's number, for one of ten machines"
    assert sparse_svm_bound(7291, 274, 0.05) > bound > without_delta
    assert 10 * without_delta > 1, "over the ten machines it says nothing"
    assert sparse_svm_bound(10, 10) == math.inf and sparse_svm_bound(10, 0) == math.log(10) / 10
    for wrong in [(10, 11), (0, 0), (10, -1), (10, 2, 0.0)]:
        with pytest.raises(ValueError, match="expected 0 <= d <= l"):
            sparse_svm_bound(*wrong)


def test_absent_classes_from_a_config(tmp_path):
    """The same as an experiment that a user runs: the metrics, the figure, and a class there is not."""
    text = """
name: absent
datasets: [digits]
methods: [{name: tcm-nn, k: 1}, {name: knn, k: 15}]
protocol: {kind: holdout, test-size: 0.4, absent: [9, "7"]}
levels: [0.05]
figures: [absent-classes]
"""
    (tmp_path / "absent.yaml").write_text(text)
    command("run", tmp_path / "absent.yaml", "--out", tmp_path / "out", "--engine", "serial")
    values = {}
    for row in read(tmp_path / "out" / "metrics.csv"):
        values[row["method"], row["metric"]] = float(row["value"] or "nan")
    assert values["tcm-nn", "unseen_no_class"] > 0.6 > 0.12 > values["tcm-nn", "known_no_class"]
    assert values["tcm-nn", "unseen_separation"] > max(0.9, values["knn", "unseen_separation"])
    assert values["tcm-nn", "error"] > 0.15, "whoever is of an absent class is misclassified"
    assert (tmp_path / "out" / "figures" / "absent-classes-digits.svg").is_file()
    regions = (tmp_path / "out" / "regions" / "digits" / "tcm-nn_k=1.csv").read_text()
    header = regions.partition("\n")[0]
    assert "p[8]" in header and "p[9]" not in header and "p[7]" not in header
    wrong = refusal("run", "--dry-run", tmp_path / "absent.yaml", "--set", "protocol.absent=[11]")
    assert "no class '11' that could be absent" in str(wrong)
