"""Studies of the Bayes error of a data set."""

import numpy as np
import pandas as pd

from confml.bayes_error.rates import bayes_errors
from confml.data import load


def test_scaling_and_estimates_come_from_the_training_part(tmp_path):
    X = np.random.default_rng(3).normal(size=(60, 2))
    frame = pd.DataFrame(X, columns=["u", "v"]).assign(y=np.repeat(["a", "b"], 30))
    frame[::2].to_csv(tmp_path / "train.csv", index=False)
    frame[1::2].to_csv(tmp_path / "test.csv", index=False)
    from confml.report.bayes_error.study import Request, study

    data = load({"csv": tmp_path / "train.csv", "label": "y", "test": tmp_path / "test.csv"})
    result = study(data, Request(part="train"), lambda text: None)
    part = data.X[data.train_rows]
    scaled = (part - part.min(axis=0)) / np.ptp(part, axis=0)
    expected = bayes_errors(scaled, data.y[data.train_rows]).pairwise.estimate
    np.testing.assert_allclose(result.errors.pairwise.estimate, expected)


def test_printed_numbers_are_those_of_the_tables(capsys):
    from confml.report.bayes_error import print_study
    from confml.report.bayes_error.study import Request, study
    from confml.report.bayes_error.tables import TABLES

    request = Request(intervals=0.9, select=2)
    result = study(load({"generate": "two-gaussians", "n": 80}), request, lambda text: None)
    print_study(result)
    printed = capsys.readouterr().out.splitlines()
    (pair,) = TABLES["pairs"](result)
    heading, _, line = printed[1:4]
    assert heading.split("  ")[0] == "class" and "90% interval" in heading
    shares = [f"{pair[key]:.3f}" for key in ("estimate", "interval_low", "interval_high")]
    per_cent = [f"{100 * pair[key]:.2f}" for key in ("bayes_error", "lower", "upper")]
    assert line.split() == ["1", "2", "40", "40", shares[0], "-".join(shares[1:]), *per_cent]
    selected = printed[printed.index("Forward selection by the mean estimate of the pairs") + 3 :]
    for row, line in zip(TABLES["selection"](result), selected, strict=False):
        assert line.split() == [str(row["step"]), row["attribute"], f"{row['criterion']:.3f}"]
