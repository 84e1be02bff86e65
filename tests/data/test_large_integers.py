"""Whole numbers above 2^53 in columns of features: categories or identifiers, never rounded."""

import numpy as np
import pandas as pd
import pytest

import confml
from confml.data import load
from confml.data.csv_table import load_tables
from confml.data.frame_table import frame_table
from confml.data.new_rows import RowCoder

FIRST, SECOND = 9007199254740992, 9007199254740993  # equal as float64
FRAME = pd.DataFrame({"card": [FIRST, SECOND] * 20, "x": np.arange(40) % 7 / 2, "y": ["a", "b"] * 20})


def data_of(kind: str, frame: pd.DataFrame, path):
    if kind == "frame":
        return load_tables({"csv": "train", "label": "y"}, [frame_table(frame, "train")])
    file = path / f"mine.{kind}"
    frame.to_csv(file, index=False) if kind == "csv" else frame.to_parquet(file)
    return load({"csv": file, "label": "y"})


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_integers_that_a_float_rounds_are_categories_or_identifiers(tmp_path, kind):
    data = data_of(kind, FRAME.assign(card=FIRST + np.arange(40)), tmp_path)
    assert data.ids[:, 0].tolist() == [str(FIRST + row) for row in range(40)]
    data = data_of(kind, FRAME, tmp_path)
    assert data.attributes == (f"card={FIRST}", f"card={SECOND}", "x")
    assert np.array_equal(data.X[:, 1], data.y == "b")
    assert any("above 2^53" in note and "'card'" in note for note in data.notes)


def test_a_new_category_is_not_the_training_category_of_equal_float():
    frame = FRAME.assign(card=[FIRST, FIRST + 2] * 20, other=[FIRST + 1, FIRST + 5] * 20)
    spec = {"csv": "train", "label": "y", "nominal": "card"}
    coder = RowCoder(load_tables(spec, [frame_table(frame, "train")]))
    new = frame_table(pd.DataFrame({"card": [FIRST, SECOND], "x": 0.5, "other": FIRST + 1}), "new")
    assert coder.code(new).table[:, 0].tolist() == [0, -1]


def test_new_rows_with_such_numbers_in_a_column_of_numbers_are_named(tmp_path):
    """Both new values are read as 2^53: the note names the one that is rounded."""
    train, new = tmp_path / "train.csv", tmp_path / "new.csv"
    FRAME.assign(card=[FIRST, FIRST + 2] * 20).to_csv(train, index=False)
    pd.DataFrame({"card": [FIRST, SECOND], "x": 0.5}).to_csv(new, index=False)
    warnings = confml.predict(train, new, label="y", method="knn").warnings
    (note,) = [warning for warning in warnings if "2^53" in warning]
    assert "column 'card'" in note and f"'{SECOND}'" in note and "(1 row, the first on line 3)" in note


ROUNDED = np.array([[FIRST, 1], [SECOND, 2], [FIRST, 3], [SECOND, 4]])
LABELS = ["a", "b", "a", "b"]
USES = {
    "fit": lambda X: confml.TCMNN().fit(X, LABELS),
    "predict": lambda X: confml.TCMNN().fit(np.zeros(np.shape(X)), LABELS).predict(X),
    "conformal": lambda X: confml.Conformal(confml.KNN(k=1), kind="cross", folds=2).fit(X, LABELS),
    "online": lambda X: confml.OnlineTCMNN(["a", "b"]).learn(X, LABELS),
    "step": lambda X: confml.StepTransformer().fit(X),
    "bayes-errors": lambda X: confml.bayes_errors(X, LABELS),
}


@pytest.mark.parametrize(
    ("use", "kind"), [*((use, np.int64) for use in USES), ("fit", np.uint64), ("fit", object), ("fit", list)]
)
def test_arrays_with_integers_that_a_float_rounds_are_warned_of(use, kind):
    X = ROUNDED.tolist() if kind is list else ROUNDED.astype(kind)
    with pytest.warns(UserWarning, match=f"column 0: .* rounded to float64, such as {SECOND} to {FIRST};"):
        USES[use](X)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.int64, np.uint64, object])
def test_integers_that_floats_hold_are_not_warned_of(kind):
    confml.TCMNN().fit(np.array([[2**53, 1], [2**60, 2], [0, 3], [7, 4]]).astype(kind), LABELS)


@pytest.mark.parametrize("frame", [False, True])
def test_integers_that_a_float_rounds_are_different_groups(frame):
    """Without it, both stores are one group, whose calibration rows are those of both."""
    rng = np.random.default_rng(1)
    store = np.repeat([FIRST, SECOND], [80, 40])
    X = pd.DataFrame({"x": rng.normal(size=120).round(2), "store": store})
    if not frame:
        X = np.column_stack([(100 * X["x"]).astype(np.int64), store])
    y = rng.integers(0, 2, 120)
    with pytest.warns(UserWarning, match="above 2"):
        model = confml.Conformal(confml.KNN(), by="store" if frame else 1, random_state=1).fit(X, y)
        views = model.confident_predict(X)["p-value"]
    assert np.array_equal(views.extra["group"][:, 0], store - FIRST)
