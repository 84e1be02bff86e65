"""The arena of other packages: entries that must agree, readers of data, and the tests of coverage."""

import re
import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

ARENA = Path(__file__).parent / "programs" / "arena"


@pytest.fixture(autouse=True)
def programs(monkeypatch):
    monkeypatch.syspath_prepend(str(ARENA))
    monkeypatch.delenv("ARENA_PUNCC", raising=False)


def test_packages_with_the_same_definition_give_the_same_sets():
    for package in ("mapie", "crepes", "venn_abers"):
        pytest.importorskip(package)
    import arena_methods as arena

    X, y = load_iris(return_X_y=True)
    train, test = np.split(np.random.default_rng(0).permutation(len(y)), [100])
    model = arena.Arena("logistic").fit(X[train], y[train])
    # puncc is not installed here, out-of-bag is for forests, and a tenth of 25 rows is too few for RAPS.
    with pytest.warns(UserWarning) as refused:
        views = model.confident_predict(X[test])
    names = {str(warning.message).split(":")[0].removeprefix("logistic, ") for warning in refused}
    assert names == {
        *("MAPIE RAPS", "crepes out-of-bag", "confml out-of-bag"),
        *("puncc LAC", "puncc classwise LAC", "puncc APS", "puncc RAPS"),
    }
    for level in arena.LEVELS:
        plain = views["confml split"].region(level)
        assert 0 < plain.mean() < 1
        assert (views[f"MAPIE LAC at {level}"].region(level) == plain).all()
        assert (views["crepes unsmoothed"].region(level) == plain).all()
    assert model.fit_metrics_["calibration_rows"] == 25
    assert model.fit_metrics_["seconds MAPIE cross, mean"] > 0


def test_p_values_of_coverage_have_the_exact_law():
    from tables import p_value

    # One test row is missed with chance r / (n + 1), both of two with chance r (r + 1) / ((n + 1)(n + 2)).
    assert p_value(np.array([1]), 1, 39, 0.05, "split") == pytest.approx(2 * Fraction(2, 40))
    assert p_value(np.array([2]), 2, 39, 0.05, "split") == pytest.approx(float(2 * Fraction(2 * 3, 40 * 41)))
    assert p_value(np.array([1]), 1, 39, 0.05, "double") == pytest.approx(2 * Fraction(4, 40))


def test_valid_sets_are_rarely_called_broken():
    from tables import p_value

    rng, broken = np.random.default_rng(3), 0
    for _ in range(300):
        scores = rng.random(100)
        misses = []
        for _ in range(5):
            rows = rng.permutation(100)
            calibration, test = np.sort(scores[rows[:19]]), scores[rows[70:]]
            misses.append(np.sum((20 - np.searchsorted(calibration, test)) / 20 <= 0.1))
        broken += p_value(np.array(misses), 30, 19, 0.1, "split") < 0.05
    assert broken / 300 <= 0.05


def test_aps_of_a_classifier_that_is_always_certain_has_the_coverage_of_the_classifier(capsys):
    pytest.importorskip("mapie")
    runpy.run_path(str(ARENA / "broken" / "mapie_aps.py"))
    coverage, promised = map(float, re.findall(r"0\.\d+", capsys.readouterr().out))
    assert abs(coverage - 0.8) < 0.01 and promised == 0.9


def test_the_page_is_that_of_the_stored_tables(tmp_path):
    root = ARENA.parents[2]
    page = root / "docs" / "pages" / "results" / "arena.md"
    write_page = runpy.run_path(str(ARENA / "page.py"))["write_page"]
    write_page(root / "results" / "reference" / "arena", page.parent, tmp_path / page.name)
    assert (tmp_path / page.name).read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
    text = [line for line in page.read_text(encoding="utf-8").splitlines() if not line.startswith("|")]
    assert len(" ".join(text).split()) <= 1_200
