"""``confml status`` of a run with parts that are done and not started."""

import json

from runner.runs import command, run_serial

CONFIG = """
name: parts
datasets: [wine-sklearn]
methods: [naive-bayes]
protocol: {kind: holdout, repeats: 8}
baseline: false
figures: []
"""


def test_a_part_that_is_done_and_no_other(tmp_path):
    (tmp_path / "parts.yaml").write_text(CONFIG)
    run_serial(tmp_path / "parts.yaml", tmp_path / "out", "--shard", "1/2", "--quiet")
    document = json.loads(command("status", tmp_path / "out", "--json").stdout)
    left, batches = document["left"], len(list(tmp_path.glob("out/.run/batches/*.jsonl")))
    assert 0 < left < 8
    assert document["shards"] == [{"shard": "1/2", "done": 8 - left, "failed": 0, "left": 0}]
    counts = [document[name] for name in ("cells", "done", "failed", "failures", "batches")]
    assert counts == [8, 8 - left, 0, [], batches]
    first, *lines = command("status", tmp_path / "out").stdout.splitlines()
    assert first == f"parts: 8 fits, {8 - left} done, 0 failed, {left} left"
    assert {f"shard 1/2: {8 - left} done, 0 failed, 0 left", f"batches in the store: {batches}"} <= {*lines}
