"""Coverage and mean size of regions, of arrays of bool and collections of any labels."""

import numpy as np
import pandas as pd
import pytest

from confml import Prediction, coverage, set_size
from confml.errors import ConfmlError


@pytest.mark.parametrize(
    "classes", [[2, 5, 9], ["a", "b", "ä"], [False, True, None], [1.5, "x", (1, 2)]], ids=str
)
def test_values_of_each_class_for_any_labels(classes):
    """The direct counts, of an array and of tuples."""
    rng = np.random.default_rng(0)
    codes, inside = rng.integers(0, 2, 200), rng.random((200, 3)) < 0.6  # the third class has no row
    y = np.empty(200, dtype=object)
    y[:] = [classes[code] for code in codes]
    tuples = [tuple(label for label, has in zip(classes, row, strict=True) if has) for row in inside]
    covered = inside[np.arange(200), codes]
    for regions, named in ((inside, classes), (tuples, None), (pd.Series(tuples), None)):
        assert coverage(y, regions, classes=named) == covered.mean()
        assert set_size(y, regions, classes=named) == pytest.approx(inside.sum() / 200)
        by_class = coverage(y, regions, classes=named, by_class=True)
        sizes = set_size(y, regions, classes=named, by_class=True)
        for code in (0, 1):
            assert by_class[classes[code]] == covered[codes == code].mean()
            assert sizes[classes[code]] == pytest.approx(inside[codes == code].sum(axis=1).mean())


def test_regions_of_a_prediction():
    scores = np.array([[0.9, 0.02], [0.5, 0.4], [0.01, 0.6]])
    view = Prediction(np.array(["no", "yes"]), scores, "p-value")
    for regions, classes in ((view.region(0.05), view.classes), (view.label_sets(0.05), None)):
        assert coverage(["no", "no", "no"], regions, classes=classes) == pytest.approx(2 / 3)
        assert coverage(["no", "new", "yes"], regions, classes=classes, by_class=True)["new"] == 0


@pytest.mark.parametrize(
    ("y", "regions", "classes", "message"),
    [
        ([1, 2], [(1,)], None, "one region for each of 2 labels, got 1"),
        (["1"], [(1,)], None, "no true label, such as '1', is a label of regions: 1"),
        ([1], np.array([[True, False]]), None, "needs classes"),
        ([1], np.array([[True, False]]), [1], "got bool of"),
        ([1], np.array([[0.3, 0.7]]), [1, 2], "must be bool of shape .* got float64"),
    ],
)
def test_regions_that_do_not_fit(y, regions, classes, message):
    with pytest.raises(ConfmlError, match=message):
        coverage(y, regions, classes=classes)
