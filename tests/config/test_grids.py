"""Grids of parameters, written as ranges and powers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confml.config.grids import GridError, expand


@pytest.mark.parametrize(
    ("grid", "values"),
    [
        ([1, 3.0, "a", None, True], [1, 3.0, "a", None, True]),
        ("1..4", [1, 2, 3, 4]),
        (["-1..1", 7], [-1, 0, 1, 7]),
        ({"range": [3, 1, -1]}, [3, 2, 1]),
        ({"range": [0.1, 0.5, 0.1]}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"log2": [0, 4]}, [1, 2, 4, 8, 16]),
        ({"log10": [-3, 3, 3]}, [0.001, 1.0, 1000.0]),
        ([0, {"log10": [0, 2]}], [0, 1, 10, 100]),
        (["../x", "a..b"], ["../x", "a..b"]),
    ],
)
def test_grid(grid, values):
    points = expand(grid)
    assert points == values and [type(value) for value in points] == [type(value) for value in values]


@given(st.integers(-50, 50), st.integers(0, 60), st.integers(1, 7))
def test_ranges_include_their_ends_where_they_are_reached(first, length, step):
    assert expand({"range": [first, first + length, step]}) == list(range(first, first + length + 1, step))
    assert expand(f"{first}..{first + length}") == list(range(first, first + length + 1))


@pytest.mark.parametrize(
    "grid", [[1, 1.0], ["1..3", 2], {"range": [0, 1e9]}, {"range": [0, 1, 1e-300]}, "9" * 20 + "..3"]
)
def test_grids_that_are_refused(grid):
    with pytest.raises(GridError):
        expand(grid)
