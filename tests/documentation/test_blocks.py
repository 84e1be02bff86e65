"""Every code block of the documentation runs, and the outputs that it shows are the real ones."""

import difflib
import re

import processes
import pytest
from documentation.blocks import ROOT, blocks_of, figures_of, labels_of, pages, run_page, text_of, tidy


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_blocks_run_and_outputs_are_real(path, tmp_path, needs_data, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("documentation.blocks.CONFML", processes.program_text())
    text = text_of(path)
    commands = "\n".join(block.text for block in blocks_of(text) if not block.is_left_out)
    needs_data(*re.findall(r"^(?:# )?confml data fetch (\w+)$", commands, re.MULTILINE))
    wrong = [output for output in run_page(text, tmp_path) if not output.agrees]
    figures = [(tmp_path / source, path.parent / picture) for source, picture in figures_of(text)]
    old = [picture for source, picture in figures if labels_of(source) != labels_of(picture)]
    for output in wrong:
        texts = (tidy(text).splitlines() for text in (output.block.text, output.real))
        lines = difflib.unified_diff(*texts, "shown", "real", lineterm="")
        print(f"{path}, line {output.block.line}:", *lines, sep="\n")
    assert not wrong and not old, f"{old} make docs-outputs writes the real outputs"


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_fence_escapes_the_blocks(path):
    """Each fence is a block that is run, an output, or marked with the reason why it is left out."""
    text = text_of(path)
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks_of(text))
    for block in blocks_of(text):
        assert block.mark == "" or re.fullmatch(r"no run: \w.{4,}|exit \d+", block.mark), block.line
