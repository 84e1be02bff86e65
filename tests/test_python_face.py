"""The program that uses the public Python face in scripts, a notebook and threads."""

import pytest
from programs.python_face import WAYS, differences, results_of


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return results_of("script", tmp_path_factory.mktemp("script"))


@pytest.mark.parametrize("way", list(WAYS)[1:])
def test_every_way_has_the_results_of_a_script(way, first, tmp_path):
    assert differences({"script": first, way: results_of(way, tmp_path)}) == []


def test_another_result_and_a_program_that_fails_are_found(monkeypatch, tmp_path):
    results = {"script": {"metrics": "1"}, "notebook": {"metrics": "2"}, "threads": {}}
    assert len(differences(results)) == 2
    monkeypatch.setattr("programs.python_face.USE", "raise SystemExit(3)\n")
    with pytest.raises(AssertionError, match="ends with 3"):
        results_of("script", tmp_path)
