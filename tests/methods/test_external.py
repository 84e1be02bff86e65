"""Probabilities of a file: joined to the rows of a data set, with all of confml's measures."""

import csv
import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import confml
from confml.config import make_config
from confml.data import load
from confml.data.probability_table import read_probabilities
from confml.errors import ConfigError, DataError
from confml.predictions.training import Choice, fit_model
from confml.runner.plan import load_datasets, make_plan
from confml.runner.splits import outer_splits, split_rows

COLUMNS = ["who", "no", "yes"]
IDS = [f"c{number}" for number in range(60)]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def rows(tmp_path):
    """A data file of 60 rows with identifiers, and probabilities of two classes for them."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % 2)
    x = rng.normal(size=60) + y
    words = np.array(["no", "yes"])[y]
    write(tmp_path / "data.csv", ["who", "x", "y"], zip(IDS, x, words, strict=True))
    return tmp_path, rng.integers(1, 1000, 60) / 1000


def data_of(folder, **keys):
    return load({"name": "data", "csv": str(folder / "data.csv"), "label": "y", "id": ["who"], **keys})


def config(folder, method, protocol="holdout"):
    dataset = {"name": "data", "csv": "data.csv", "label": "y", "id": ["who"]}
    return make_config({"datasets": [dataset], "methods": [method], "protocol": protocol}, folder=folder)


EXTERNAL = {"name": "external", "probabilities": "p.csv"}


# ---- the join


def test_rows_are_joined_by_their_identifiers(rows):
    folder, p = rows
    order = np.random.default_rng(1).permutation(60)
    lines = [[IDS[row], f"{p[row]:.3f}", f"{1 - p[row]:.3f}"] for row in order]
    table = read_probabilities(write(folder / "p.csv", ["who", "yes", "no"], lines), data_of(folder))
    assert table.classes.tolist() == ["no", "yes"]
    numbers = table.at(0, None)
    assert np.array_equal(table.probabilities[numbers], np.column_stack([np.round(1 - p, 3), p]))
    assert numbers.tolist() == np.argsort(order).tolist()


def test_parts_of_two_files(rows):
    folder, p = rows
    (folder / "test.csv").write_text((folder / "data.csv").read_text().replace("c", "d"))
    data = data_of(folder, test=str(folder / "test.csv"))
    lines = [[at + 2, 1 - value, value] for at, value in enumerate(p)]
    path = write(folder / "p.csv", ["line", "no", "yes"], lines)
    table = read_probabilities(path, data, fixed_split=True)
    assert np.array_equal(table.probabilities[table.at(0, None)[60:]][:, 1], p)
    assert (table.at(0, None)[:60] == -1).all()
    with pytest.raises(DataError, match="line 2 is not unique in the data set 'data'; .*add the column part"):
        read_probabilities(path, data)
    both = [["train", *line] for line in lines] + [["test", at, b, a] for at, a, b in lines]
    table = read_probabilities(write(path, ["part", "line", "no", "yes"], both), data)
    train, test = np.split(table.probabilities[table.at(None, None)], 2)
    assert np.array_equal(train, test[:, ::-1]) and np.array_equal(train[:, 1], p)


def test_splits_have_probabilities_of_their_own(rows):
    folder, p = rows
    lines = []
    for repeat, fold in ((0, 0), (0, 1), (1, 0), (1, 1)):
        values = p if (repeat, fold) == (1, 0) else np.full(60, 0.5)
        lines += [[row, repeat, fold, value, 1 - value] for row, value in zip(IDS, values, strict=True)]
    path = write(folder / "p.csv", ["who", "repeat", "fold", "yes", "no"], lines)
    table = read_probabilities(path, data_of(folder))
    assert np.array_equal(table.probabilities[table.at(1, 0)][:, 1], p)
    assert (table.probabilities[table.at(0, 1)] == 0.5).all() and (table.at(2, 0) == -1).all()


GOOD = [[row, "0.25", "0.75"] for row in IDS]


@pytest.mark.parametrize(
    "header, change, message",
    [
        (["who", "no", "ys"], {}, "line 1: there is no column of class 'yes'; did you mean 'ys'?"),
        (["no", "yes", "part"], {}, "no column identifies the rows; add the id columns (who), or line (of"),
        (["part", "who", "no", "yes"], {}, "column 'who': the data set 'data' has no row with part c0 who"),
        (COLUMNS, {3: ["c99", 0.25, 0.75]}, "line 5, column 'who': the data set 'data' has no row with who"),
        (COLUMNS, {3: GOOD[1]}, "line 5, column 'who': who c1 is listed twice"),
        (
            COLUMNS,
            {3: ["c3", "nan", 1]},
            "column 'no': a probability must be a number from 0 to 1, got 'nan'",
        ),
        (COLUMNS, {3: ["c3", 0.2, 0.75]}, "line 5, columns 'no' to 'yes': the probabilities of 1 of 60 rows"),
    ],
)
def test_wrong_files(rows, header, change, message):
    folder, _ = rows
    lines = [line[:1] * (len(header) - 2) + line[1:] for line in GOOD]
    path = write(folder / "p.csv", header, [change.get(row, line) for row, line in enumerate(lines)])
    with pytest.raises(DataError, match=f"{re.escape(str(path))}.*{re.escape(message)}"):
        read_probabilities(path, data_of(folder))


# ---- configs and plans


def test_rows_that_are_missing(rows):
    folder, _ = rows
    path = write(folder / "p.csv", COLUMNS, GOOD[:55])
    settings = config(folder, EXTERNAL, {"kind": "k-fold", "folds": 3})
    with pytest.raises(DataError, match=rf"^{path}: .* of 20 test rows of 'data', split r0-f"):
        make_plan(settings, load_datasets(settings))
    write(path, ["who", "fold", "no", "yes"], [[row, 0, no, yes] for row, no, yes in GOOD])
    settings = config(folder, EXTERNAL)
    with pytest.raises(DataError, match="column 'fold': the protocol holdout has no folds"):
        make_plan(settings, load_datasets(settings))


def test_training_rows_are_needed_to_calibrate(rows):
    folder, _ = rows
    write(folder / "p.csv", COLUMNS, GOOD)
    settings = config(folder, EXTERNAL)
    data = load_datasets(settings)
    (split,) = outer_splits(settings.protocol, data["data"])
    _, test = split_rows(data["data"], settings.protocol, split, settings.seed)
    write(folder / "p.csv", COLUMNS, [GOOD[row] for row in test])
    assert len(make_plan(settings, data).cells) == 1
    settings = config(folder, {**EXTERNAL, "conformal": "split"})
    with pytest.raises(DataError, match="training rows of 'data', split r0, which conformal calibrates on,"):
        make_plan(settings, data)


def test_wrong_configs_and_new_rows(rows):
    folder, _ = rows
    write(folder / "p.csv", COLUMNS, GOOD)
    with pytest.raises(ConfigError, match="'external' needs the parameter 'probabilities'"):
        config(folder, "external")
    with pytest.raises(ConfigError, match="external is not fitted, so there are no folds"):
        config(folder, {**EXTERNAL, "conformal": "cross"})
    with pytest.raises(ConfigError, match="external has no predictions for new rows"):
        fit_model(config(folder, EXTERNAL), Choice())


# ---- runs on a real data set


def test_a_run_beside_other_methods(tmp_path, monkeypatch):
    """Out-of-fold probabilities of a logistic regression for the wines of scikit-learn."""
    monkeypatch.chdir(tmp_path)
    data = load({"name": "wine-sklearn"})
    model = make_pipeline(StandardScaler(), LogisticRegression())
    p = cross_val_predict(model, data.X, data.y, method="predict_proba", cv=5)
    columns = [f"prob[{label}]" for label in data.classes]
    write("p.csv", ["row", *columns], [[row, *values] for row, values in enumerate(p.tolist())])
    calibrated = {**EXTERNAL, "conformal": {"kind": "split", "mondrian": True}, "label": "calibrated"}
    values = {
        "datasets": ["wine-sklearn"],
        "steps": ["standardise"],
        "noise": {"attributes": 0.05, "on": "train"},
        "methods": [EXTERNAL, calibrated, "tcm-nn"],
        "protocol": {"kind": "k-fold", "folds": 3},
        "figures": [],
    }
    run = confml.run(values, out="out", engine="serial")
    assert len(run.failures) == 0
    manifest = run.manifest
    assert list(manifest["provenance"]["files"]) == [str(tmp_path / "p.csv")]
    regions = run.regions(method="external")
    plain = regions[regions["params"] == "probabilities=p.csv"]
    assert len(plain) == len(data)
    order = plain["row"].to_numpy()
    assert np.array_equal(plain[columns].to_numpy(), p[order])
    # Label-conditional p-values, from the training part of each split, by their definition.
    calibrated = regions[regions["params"] != "probabilities=p.csv"]
    for _, part in calibrated.groupby("split"):
        test = part["row"].to_numpy()
        train = np.setdiff1d(np.arange(len(data)), test)
        for label in (0, 1, 2):
            scores = 1 - p[train[data.y[train] == label], label]
            new = 1 - p[test, label]
            expected = (np.sum(scores[None] >= new[:, None] - 1e-12, axis=1) + 1) / (len(scores) + 1)
            assert np.array_equal(part[f"p[{label}]"].to_numpy(), expected)

    # Another content: the cells of the method are computed again.
    write("p.csv", ["row", 0, 1, 2], [[row, 0.2, 0.3, 0.5] for row in range(len(data))])
    again = confml.run(values, out="out", engine="serial").manifest
    both = {cell["key"] for cell in manifest["cells"]} & {cell["key"] for cell in again["cells"]}
    assert len(both) == 6  # those of tcm-nn and the majority class
