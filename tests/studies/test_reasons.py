"""Numbers in the reasons of the page of published numbers that no stored table has."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

WINE_RED = {4: 63, 5: 681, 6: 638, 7: 199, 8: 18}
WINE_WHITE = {3: 20, 4: 163, 5: 1457, 6: 2198, 7: 880, 8: 180}


@pytest.mark.parametrize(
    ("sizes", "true", "predicted", "loss"),
    [(WINE_RED, 5, 7, "0.0015"), (WINE_WHITE, 4, 7, "0.0002")],
)
def test_one_wrong_row_in_one_of_five_splits_lowers_the_mean_index_as_in_the_paper(
    sizes, true, predicted, loss
):
    labels = np.repeat(list(sizes), np.round(0.2 * np.array(list(sizes.values()))).astype(int))
    found = labels.copy()
    found[np.argmax(labels == true)] = predicted
    assert f"{(1 - adjusted_rand_score(labels, found)) / 5:.4f}" == loss


def test_two_of_the_eleven_classes_of_texture_merged_have_the_index_that_the_reason_states():
    labels = np.repeat(np.arange(11), 100)  # the test rows of a split: 100 of each class
    assert f"{adjusted_rand_score(labels, np.where(labels == 10, 9, labels)):.3f}" == "0.907"
