"""Every code block of the documentation runs, and the outputs that it shows are the real ones."""

from __future__ import annotations

import difflib
import re

import processes
import pytest
from documentation.blocks import (
    ROOT,
    blocks_of,
    figures_of,
    labels_of,
    pages,
    run_page,
    text_of,
    tidy,
)


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_blocks_run_and_outputs_are_real(path, tmp_path, needs_data, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("documentation.blocks.CONFML", processes.program_text())
    text = text_of(path)
    needs_data(*re.findall(r"^(?:# )?confml data fetch (\w+)$", _to_run(text), re.MULTILINE))
    wrong = [one for one in run_page(text, tmp_path) if not one.agrees]
    old = [
        picture
        for source, picture in figures_of(text)
        if labels_of(tmp_path / source) != labels_of(path.parent / picture)
    ]
    for one in wrong:
        texts = (tidy(text).splitlines() for text in (one.block.text, one.real))
        lines = difflib.unified_diff(*texts, "shown", "real", lineterm="")
        print(f"{path}, line {one.block.line}:", *lines, sep="\n")
    assert not wrong and not old, f"{old} make docs-outputs writes the real outputs"


def _to_run(page: str) -> str:
    return "\n".join(block.text for block in blocks_of(page) if not block.is_left_out)


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_fence_escapes_the_blocks(path):
    """Each fence is a block that is run, an output, or marked with the reason why it is left out."""
    text = text_of(path)
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks_of(text))
    for block in blocks_of(text):
        assert block.mark == "" or re.fullmatch(r"no run: \w.{4,}|exit \d+", block.mark), block.line
