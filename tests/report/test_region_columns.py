"""Labels of regions, shared by equal rows, equal the labels of each row."""

import numpy as np
import pytest

from confml.report.region_columns import of_regions, region_fields


@pytest.mark.parametrize("rows, columns", [(0, 3), (1, 1), (200, 3), (200, 11)])
def test_labels_of_regions_are_those_of_each_row(rows, columns):
    region = np.random.default_rng(1).random((rows, columns)) < 0.5
    region[:1], region[-1:] = False, True  # an empty and a full region
    labels = [f"c{column}" for column in range(columns)]
    expected = [tuple(labels[column] for column in np.flatnonzero(row)) for row in region]
    assert of_regions(region, lambda found: tuple([labels[column] for column in found])) == expected
    assert region_fields(region, labels) == ["|".join(one) for one in expected]
