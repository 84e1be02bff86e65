"""One large cell cut into chunks of test examples, which workers share: the same bytes as in one piece."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from confml.cli import cli
from confml.methods.tcm_nn import tcm_nn

CONFIG = """
name: large
datasets: [{generate: two-gaussians, n: 1000}]
methods:
  - {name: tcm-nn, sweep: {k: [1, 3]}}
  - {name: tcm-nn, k: 2, mondrian: true}
protocol: {kind: holdout, test-size: 0.7}
"""


def files_of(folder):
    names = ["metrics.csv", "summary.csv", *sorted(folder.rglob("regions/**/*.csv"))]
    return {str(name).removeprefix(f"{folder}/"): (folder / name).read_bytes() for name in names}


@pytest.mark.parametrize("jobs", [1, 2])
def test_chunks_give_the_same_bytes(tmp_path, monkeypatch, jobs):
    from confml.runner import graph

    path = tmp_path / "large.yaml"
    path.write_text(CONFIG)
    made = []
    original = graph.make_tasks

    def noted(*arguments, **options):
        made.extend(original(*arguments, **options))
        return list(made)

    monkeypatch.setattr("confml.runner.run.make_tasks", noted)
    for name, pairs in (("whole", tcm_nn._BLOCK_PAIRS), ("cut", 300 * 250)):
        made.clear()
        monkeypatch.setattr(tcm_nn, "_BLOCK_PAIRS", pairs)
        given = ["run", str(path), "--out", str(tmp_path / name), "--jobs", str(jobs), "--quiet"]
        ran = CliRunner().invoke(cli, given)
        assert ran.exit_code == 0, ran.output
        kinds = [task.kind for task in made]
        chunks = [task.chunk for task in made if task.chunk]
        if name == "whole":
            assert "join" not in kinds and not chunks
        else:
            assert sorted({chunk[:2] for chunk in chunks}) == [(0, 250), (250, 500), (500, 700)]
            assert kinds.count("join") >= 2 and "prepare" in kinds
    whole, cut = files_of(tmp_path / "whole"), files_of(tmp_path / "cut")
    assert len(whole) == 5 and whole == cut
