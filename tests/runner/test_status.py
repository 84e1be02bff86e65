"""``confml status`` of a run with parts that are done and not started."""

import json

import pytest
from click.testing import CliRunner

from confml.commands.status import status
from confml.config import load_config
from confml.runner.run import Execution, run
from confml.runner.status import RunStatus
from confml.runner.store import Store

CONFIG = """
name: parts
datasets: [wine-sklearn]
methods: [{name: naive-bayes}]
protocol: {kind: holdout, repeats: 8}
figures: []
"""


@pytest.fixture()
def folder(tmp_path):
    """A run whose first part of two is done."""
    (tmp_path / "parts.yaml").write_text(CONFIG)
    config = load_config(tmp_path / "parts.yaml")
    run(config, tmp_path / "out", Execution(1, engine="serial", shard=(1, 2)))
    return tmp_path / "out"


def test_a_part_that_is_done_and_no_other(folder):
    left = len(RunStatus.of(Store(folder)).state.left)
    assert 0 < left < 8
    text = CliRunner().invoke(status, [str(folder)]).output
    assert text.startswith(f"parts: 8 fits, {8 - left} done, 0 failed, {left} left\n")
    document = json.loads(CliRunner().invoke(status, [str(folder), "--json"]).output)
    assert f"shard 1/2: {8 - left} done, 0 failed, 0 left" in text.splitlines()
    batches = len(list((folder / ".run/batches").glob("*.jsonl")))
    assert f"batches in the store: {batches}" in text.splitlines() and document["batches"] == batches
    assert document["shards"] == [{"shard": "1/2", "done": 8 - left, "failed": 0, "left": 0}]
    counts = [document[name] for name in ("cells", "done", "failed", "left", "failures")]
    assert counts == [8, 8 - left, 0, left, []]
