"""The values of a config: every key, defaults, and their form in a manifest."""

import json

import numpy as np
import pytest
from config.cases import FIGURES, TABLES, base, messages, write

from confml.config import load_config, make_config, restore_config


def test_everything_a_config_can_say(full):
    config = load_config(full, figures=FIGURES, tables=TABLES)
    folder = str(full.parent)
    assert (config.name, config.path, config.seed) == ("full", full, 12)
    assert config.about == "2024-05-01, at 10:30"
    wine, again, mine, made = (dataset.as_dict() for dataset in config.datasets)
    assert wine == {"name": "wine"}
    assert again == {"name": "again", "card": "iris"}
    assert mine == {
        "name": "mine",
        "csv": f"{folder}/small.csv",
        "test": f"{folder}/new.csv",
        "label": "y",
        "ignore": ["id"],
        "nominal": ["colour"],
        "groups": "site",
        "missing": "drop",
        "separator": "\t",
        "encoding": "latin-1",
    }
    assert made == {
        "name": "two-gaussians",
        "generate": "two-gaussians",
        "n": 250,
        "test_n": 10,
        "distance": 2,
        "seed": 12,
    }
    assert [(step.name, step.params) for step in config.steps] == [
        ("row-standardise", {}),
        ("standardise", {}),
        ("min-max", {}),
    ]
    assert config.noise.as_dict() == {"on": "train", "labels": 0.1, "attributes": 0, "irrelevant": 0}
    one, several, logistic = config.methods
    assert (one.params, one.label, one.variants(), one.tune_grid()) == ({"k": 1}, "1-NN", [{}], [{}])
    assert several.variants() == [{"k": k} for k in (3, 5, 6, 7, 8, 16, 32)]
    assert logistic.params == {"max_iter": 200}
    assert logistic.tune_grid() == [
        {"C": C, "fit_intercept": flag} for C in (0.25, 1, 4) for flag in (True, False)
    ]
    assert (one.select_by, logistic.select_by) == ("accuracy", "ari")
    assert config.protocol.kind == "k-fold"
    assert (config.protocol.folds, config.protocol.repeats, config.protocol.inner_folds) == (5, 2, 3)
    assert config.protocol.stratify is False
    assert config.levels == (0.01, 0.05) and config.thresholds == (0.9,)
    assert [(figure.name, figure.options) for figure in config.figures] == [
        ("error-against", {}),
        ("error-against", {"view": "p-value"}),
        ("error-against", {"view": "vote"}),
    ]
    assert config.paper.table == ("tcm-nn-table3",)


def test_defaults(tmp_path):
    path = write(
        tmp_path, "datasets: [wine]\nmethods: [knn]\nprotocol: holdout\nsteps:\nnoise:\n", "my run.yaml"
    )
    config = load_config(path)
    assert config.name == "my-run"
    assert config.steps == config.figures == () and config.noise is config.paper is None
    assert config.levels == (0.01, 0.05) and config.thresholds == (0.8, 0.95, 0.99) and config.seed == 1
    protocol = config.protocol
    assert (protocol.repeats, protocol.test_size, protocol.inner_folds, protocol.stratify) == (
        1,
        0.2,
        10,
        True,
    )


def test_as_dict_reads_back_as_itself(full, tmp_path):
    config = load_config(full)
    plain = config.as_dict()
    text = json.dumps(plain)
    assert "test_size" not in text and "inner-folds" in text
    for again in (
        restore_config(json.loads(text)),
        make_config(plain),
        load_config(write(tmp_path, text, "again.yaml")),
        restore_config(plain),
    ):
        assert json.dumps(again.as_dict()) == text
    # A manifest is read where neither data nor plug-ins are.
    (tmp_path / "small.csv").unlink()
    restore_config({**plain, "methods": [{"name": "of-another-package"}]})
    assert messages(restore_config, {**plain, "seed": -1}) == [
        "seed: expected a whole number at least 0, got -1"
    ]


@pytest.mark.parametrize("values", [np.arange(1, 4), list(np.arange(1, 4))])
def test_numbers_of_numpy_are_plain_numbers(values):
    methods = [{"name": "knn", "sweep": {"k": values}}, {"name": "tcm-nn", "k": np.int64(3)}]
    plain = [{"name": "knn", "sweep": {"k": [1, 2, 3]}}, {"name": "tcm-nn", "k": 3}]
    config = make_config(base(methods=methods, levels=np.array([0.1, 0.2]), seed=np.int64(7)))
    plain_config = make_config(base(methods=plain, levels=[0.1, 0.2], seed=7))
    assert json.dumps(config.as_dict()) == json.dumps(plain_config.as_dict())


def test_a_config_can_come_out_of_plain_values(tmp_path):
    write(tmp_path, "y\n1\n", "a.csv")
    config = make_config(
        base(datasets=[{"csv": "a.csv", "label": "y"}]), folder=tmp_path, overrides=["seed=7"]
    )
    assert config.datasets[0].as_dict() == {"name": "a", "csv": str(tmp_path / "a.csv"), "label": "y"}
    assert config.seed == 7
    assert messages(make_config, base(seed=-1, level=1), where="--method") == [
        "--method: seed: expected a whole number at least 0, got -1",
        "--method: unknown key 'level'; did you mean 'levels'?",
    ]
