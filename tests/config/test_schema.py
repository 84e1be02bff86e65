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
    files = {"csv": f"{folder}/small.csv", "test": f"{folder}/new.csv", "encoding": "latin-1"}
    columns = {"label": "y", "ignore": ["id"], "nominal": ["colour"], "groups": "site"}
    assert mine == {"name": "mine", **files, **columns, "missing": "drop", "separator": "\t"}
    sizes = {"n": 250, "test_n": 10, "distance": 2, "seed": 12}
    assert made == {"name": "two-gaussians", "generate": "two-gaussians", **sizes}
    assert [step.name for step in config.steps] == ["row-standardise", "standardise", "min-max"]
    assert not any(step.params for step in config.steps)
    assert config.noise.as_dict() == {"on": "train", "labels": 0.1, "attributes": 0, "irrelevant": 0}
    first, several, logistic = config.methods
    assert (first.params, first.label, first.variants(), first.tune_grid()) == ({"k": 1}, "1-NN", [{}], [{}])
    assert several.variants() == [{"k": k} for k in (3, 5, 6, 7, 8, 16, 32)]
    assert logistic.params == {"max_iter": 200}
    assert logistic.tune_grid() == [
        {"C": C, "fit_intercept": flag} for C in (0.25, 1, 4) for flag in (True, False)
    ]
    assert (first.select_by, logistic.select_by) == ("accuracy", "ari")
    division = {"kind": "k-fold", "folds": 5, "repeats": 2, "inner-folds": 3, "stratify": False}
    assert division.items() <= config.protocol.as_dict().items()
    assert config.levels == (0.01, 0.05) and config.thresholds == (0.9,)
    assert {figure.name for figure in config.figures} == {"error-against"}
    assert [figure.options for figure in config.figures] == [{}, {"view": "p-value"}, {"view": "vote"}]
    assert config.paper.table == ("tcm-nn-table3",)


def test_defaults(tmp_path):
    text = "datasets: [wine]\nmethods: [knn]\nprotocol: holdout\nsteps:\nnoise:\n"
    config = load_config(write(tmp_path, text, "my run.yaml"))
    assert config.name == "my-run"
    assert config.steps == config.figures == () and config.noise is config.paper is None
    assert config.levels == (0.01, 0.05) and config.thresholds == (0.8, 0.95, 0.99) and config.seed == 1
    division = {"repeats": 1, "test-size": 0.2, "inner-folds": 10, "stratify": True}
    assert division.items() <= config.protocol.as_dict().items()


def test_as_dict_reads_back_as_itself(full, tmp_path):
    config = load_config(full)
    plain = config.as_dict()
    text = json.dumps(plain)
    assert "test_size" not in text and "inner-folds" in text
    loaded = load_config(write(tmp_path, text, "again.yaml"))
    for again in (loaded, make_config(plain), restore_config(json.loads(text)), restore_config(plain)):
        assert json.dumps(again.as_dict()) == text
    # A manifest is read where neither data nor plug-ins are.
    (tmp_path / "small.csv").unlink()
    restore_config({**plain, "methods": [{"name": "of-another-package"}]})
    assert messages(restore_config, {**plain, "seed": -1})[0].startswith("seed: expected")


@pytest.mark.parametrize("values", [np.arange(1, 4), list(np.arange(1, 4))])
def test_numbers_of_numpy_are_plain_numbers(values):
    methods = [{"name": "knn", "sweep": {"k": values}}, {"name": "tcm-nn", "k": np.int64(3)}]
    plain = [{"name": "knn", "sweep": {"k": [1, 2, 3]}}, {"name": "tcm-nn", "k": 3}]
    config = make_config(base(methods=methods, levels=np.array([0.1, 0.2]), seed=np.int64(7)))
    plain_config = make_config(base(methods=plain, levels=[0.1, 0.2], seed=7))
    assert json.dumps(config.as_dict()) == json.dumps(plain_config.as_dict())


def test_a_config_can_come_out_of_plain_values(tmp_path):
    write(tmp_path, "y\n1\n", "a.csv")
    values = base(datasets=[{"csv": "a.csv", "label": "y"}])
    config = make_config(values, folder=tmp_path, overrides=["seed=7"])
    assert config.datasets[0].as_dict() == {"name": "a", "csv": str(tmp_path / "a.csv"), "label": "y"}
    assert config.seed == 7
    assert messages(make_config, base(seed=-1, level=1), where="--method") == [
        "--method: seed: expected a whole number at least 0, got -1",
        "--method: unknown key 'level'; did you mean 'levels'?",
    ]
