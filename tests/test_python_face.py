"""The program that uses the public Python face in scripts, a notebook and threads."""

import pytest
from programs.python_face import WAYS, results_of


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return results_of("script", tmp_path_factory.mktemp("script"))


@pytest.mark.parametrize("way", WAYS[1:])
def test_every_way_has_the_results_of_a_script(way, first, tmp_path):
    assert results_of(way, tmp_path) == first
