"""Overrides of a config by ``--set``."""

from pathlib import Path

import pytest
from config.cases import messages, write

from confml.config import load_config


@pytest.mark.parametrize(
    ("option", "read", "value"),
    [
        ("seed=5", lambda c: c.seed, 5),
        ("levels.1=0.2", lambda c: c.levels, (0.01, 0.2)),
        ("protocol.repeats=5", lambda c: c.protocol.repeats, 5),
        ("methods.0.k=11", lambda c: c.methods[0].params, {"k": 11}),
        ("methods.1-NN.k=11", lambda c: c.methods[0].params, {"k": 11}),
        ("methods.1.sweep.k=9..10", lambda c: c.methods[1].variants(), [{"k": 9}, {"k": 10}]),
        ("datasets.wine.card=iris", lambda c: c.datasets[0].as_dict(), {"name": "wine", "card": "iris"}),
        ("datasets.mine.test=small.csv", lambda c: Path(c.datasets[2].test).name, "small.csv"),
        ("noise.irrelevant=3", lambda c: (c.noise.irrelevant, c.noise.labels), (3, 0.1)),
        ("noise=", lambda c: c.noise, None),
    ],
)
def test_override(full, option, read, value):
    assert read(load_config(full, [option])) == value


def test_overrides_apply_in_order_and_make_what_is_missing(tmp_path):
    path = write(tmp_path, "datasets: [wine]\nmethods: [knn]\nprotocol: k-fold\n")
    options = ["protocol.folds=3", "protocol.folds=4", "noise.labels=0.2", "methods.knn.sweep.k=[1, 3]"]
    config = load_config(path, options)
    assert config.protocol.folds == 4 and config.noise.labels == 0.2
    assert config.methods[0].sweep == {"k": (1, 3)}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("protocol.repeats=x", "protocol.repeats: expected a whole number at least 1, got 'x'"),
        ("methods.knm.k=2", "methods has no entry 'knm'; did you mean 'knn'?"),
        ("methods.9.k=2", "methods has no entry '9'; it has 3 entries, from 0"),
        ("methods.knn.k=2", "'knn' is in methods more than once; write methods.0 or methods.1"),
        ("levels.0.x=3", "levels.0 is 0.01 and has no 'x'"),
        ("seed", "expected KEY=VALUE, such as protocol.repeats=5"),
        ("levels=[0.1", "the '[' that opens here is not closed by ']'"),
        ("levels=0.1", "levels: expected a list, got 0.1; write [0.1]"),
    ],
)
def test_override_that_is_wrong(full, option, message):
    lines = messages(load_config, full, [option])
    assert [line.replace(str(full.parent), "FOLDER") for line in lines] == [f"--set {option}: {message}"]


def test_a_wrong_cost_has_its_own_place(full):
    full.write_text(full.read_text() + "costs: {matrix: {a: {b: 1}}, abstain: -1}\n")
    assert messages(load_config, full)[0].startswith(f"{full}:25:39: costs: the cost (abstain)")
    assert messages(load_config, full, ["costs.abstain=x"])[0].startswith("--set costs.abstain=x: costs: ")


def test_the_hint_on_an_unknown_key_is_for_a_card_or_a_file(full):
    assert "a card has no other keys" in messages(load_config, full, ["datasets.1.zz=1"])[0]
    assert "there are name, card, openml, csv," in messages(load_config, full, ["datasets.2.zz=1"])[0]


def test_errors_of_the_file_come_first(full):
    full.write_text(full.read_text().replace("seed: 012", "seed: x"))
    assert messages(load_config, full, ["protocol.folds=1", "levels.0=2"]) == [
        f"{full}:23:7: seed: expected a whole number at least 0, got 'x'",
        "--set protocol.folds=1: protocol.folds: expected a whole number at least 2, got 1",
        "--set levels.0=2: levels.0: expected a number above 0 and below 1, got 2; write 0.02 for 2 %",
    ]
