"""The worked example of the README prints what the README shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from confml.data import load
from confml.errors import ConfmlError

README = Path(__file__).parents[2] / "README.md"


def blocks() -> list[tuple[str, str]]:
    """(language, text) of the code blocks of the section on new rows."""
    text = README.read_text(encoding="utf-8")
    section = text.partition("## Answers about new rows\n")[2].partition("\n## ")[0]
    return re.findall(r"^```(\w*)\n(.*?)\n```$", section, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The folder in which the commands ran, and the words of each block of commands."""
    try:
        load({"name": "fars"})
    except ConfmlError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("readme")
    programs = folder / "bin"
    programs.mkdir()
    for name, call in (("python", ""), ("confml", " -m confml")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{call} "$@"\n')
        program.chmod(0o755)
    paths = os.pathsep.join([str(README.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": paths}
    words = []
    for language, text in blocks():
        if language == "sh":
            done = subprocess.run(
                ["sh", "-e", "-c", text],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            words.append(" ".join(done.stderr.split()))
    return folder, words


def test_the_example_prints_what_the_readme_shows(outputs):
    folder, words = outputs
    shown = [text for language, text in blocks() if not language]
    assert len(shown) == 4 and len(words) == 2
    for (table, sentences), name, told in zip(
        (shown[:2], shown[2:]), ("regions.csv", "decisions.csv"), words, strict=True
    ):
        lines = (folder / name).read_text().splitlines()
        assert table.splitlines()[0] == lines[0] and set(table.splitlines()) <= set(lines)
        assert " ".join(sentences.split()) in told
