"""Code blocks of the documentation: read from Markdown, run in order, and compared with the outputs shown.

A page is run from top to bottom in an empty folder.

- ``sh`` blocks are run with bash; a block of plain ``confml`` commands is run in this process.
- ``python`` blocks are executed in one namespace per page.
- ``yaml`` blocks are checked as configs, a part of a config together with `REST_OF_CONFIG`.
- A block with ``title="FILE"`` is written to FILE, or compared with FILE if a command has written it.
- A ``text`` or ``csv`` block after a block that ran is its output, wrapped and without lines of progress;
  ``...`` stands for any text.
- ``<!-- figure: FILE -->`` before a picture names the file of the run that it shows.
- ``<!-- no run: REASON -->`` before a block leaves it out, ``<!-- exit 2 -->`` expects this exit code.
"""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
CONFML = f'#!/bin/sh\nexec {sys.executable} -m confml "$@"\n'  # the command confml in the blocks of a shell
FENCE = re.compile(
    r"(?:<!-- (?P<mark>.*?) -->\n\n?)?^```(?P<language>\w*)(?: +title=\"(?P<title>[^\"]+)\")?\n"
    r"(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
OUTPUTS = ("text", "csv")
FIGURE = re.compile(r"<!-- figure: (\S+) -->\n!\[[^\]]*\]\(([^)]+)\)")
# Lines that depend on the machine and on what has been compiled before.
PROGRESS = re.compile(r"^(?:\d+/\d+ tasks, .*|compil(?:ing|ed) .*)\n", re.MULTILINE)
WIDTH = 118
# Completes a part of a config, so that its keys and values can be checked.
REST_OF_CONFIG = {"name": "part", "datasets": ["iris"], "methods": ["tcm-nn"], "protocol": "holdout"}


@dataclass(frozen=True)
class Block:
    """A fenced block. start and end: place of its text in the page. line: of its first line, from 1."""

    language: str
    text: str
    title: str | None
    mark: str
    start: int
    end: int
    line: int
    follows: bool  # only blank lines are between the block before and this one

    @property
    def is_left_out(self) -> bool:
        return self.mark.startswith("no run: ")

    @property
    def exit_code(self) -> int:
        return int(self.mark.removeprefix("exit ")) if self.mark.startswith("exit ") else 0


def pages() -> list[Path]:
    """Return the README, the paper, and the written pages and notebooks of the site."""
    docs = ROOT / "docs"
    written = [*docs.glob("*.md"), *(docs / "pages").rglob("*.md"), *(docs / "pages").rglob("*.ipynb")]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(written)]


def text_of(path: Path) -> str:
    """Return the Markdown of a page or notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    return "\n\n".join(cell if kind == "markdown" else f"```python\n{cell}\n```" for kind, cell in cells)


def blocks_of(page: str) -> list[Block]:
    """Return all fenced blocks of a page."""
    blocks: list[Block] = []
    end = None
    for match in FENCE.finditer(page):
        follows = end is not None and not page[end : match.start()].strip()
        line = page.count("\n", 0, match.start("text")) + 1
        texts = match["language"], match["text"], match["title"], match["mark"] or ""
        blocks.append(Block(*texts, *match.span("text"), line, follows))
        end = match.end()
    return blocks


def figures_of(page: str) -> list[tuple[str, str]]:
    """Return the figures of a page: file of the run, and stored picture."""
    return FIGURE.findall(page)


def labels_of(figure: Path) -> list[str]:
    """Return the texts of an SVG figure."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", figure.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Shown:
    """An output that a page shows, and the real one."""

    block: Block
    real: str

    @property
    def agrees(self) -> bool:
        return matches(self.block.text, self.real)


def matches(shown: str, real: str) -> bool:
    """Return whether a real output is the one shown, in which ``...`` stands for any text."""
    parts = map(re.escape, tidy(shown).split("..."))
    return re.fullmatch(".*?".join(parts), tidy(real), re.DOTALL) is not None


def tidy(text: str) -> str:
    """Return a text without blanks at the ends of lines and without blank lines around it."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def run_page(page: str, folder: Path) -> list[Shown]:
    """Run the blocks of a page in a folder; return the outputs that it shows."""
    modules, path = set(sys.modules), list(sys.path)
    sys.path.insert(0, str(folder))  # as of a Python that is started there
    try:
        return list(_shown(page, folder))
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:  # a module of the next page may have the same name
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]


def _shown(page: str, folder: Path) -> Iterator[Shown]:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    output: str | None = None
    for block in blocks_of(page):
        if block.is_left_out:
            output = None
        elif block.title and (folder / block.title).exists():
            yield Shown(block, (folder / block.title).read_text())
        elif block.title:
            (folder / block.title).write_text(block.text)
        elif block.language in OUTPUTS:
            if output is None or not block.follows:
                raise ValueError(f"line {block.line}: no block before this output has run")
            yield Shown(block, output)
        elif block.language == "sh":
            output = run_shell(block, folder)
        elif block.language == "python":
            output = run_python(block, folder, namespace)
        elif block.language == "yaml":
            check_yaml(block, folder)
        else:
            raise ValueError(f"line {block.line}: a block of '{block.language}' cannot be run; mark it")


def run_shell(block: Block, folder: Path) -> str:
    """Return the output of a block of commands, stdout and stderr together."""
    lines = block.text.replace("\\\n", " ").splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    if not all(re.fullmatch(r"confml [^|<>$;&]*", line) for line in lines):
        return as_shown(_bash(block, folder))
    outputs = [_in_process(shlex.split(line, comments=True)[1:], block, folder) for line in lines]
    return as_shown("".join(outputs))


def as_shown(output: str) -> str:
    """Return an output without lines of progress, with long sentences wrapped as a terminal does."""
    return "\n".join(map(_wrapped, PROGRESS.sub("", output).splitlines())) + "\n"


def _wrapped(line: str) -> str:
    if len(line) <= WIDTH or "  " in line:  # a row of a table
        return line
    return textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)


def run_python(block: Block, folder: Path, namespace: dict[str, Any]) -> str:
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(block.text, f"line {block.line}", "exec"), namespace)
    return output.getvalue()


def check_yaml(block: Block, folder: Path) -> None:
    """Read a config, or a part of one."""
    from confml.config import make_config

    values = yaml.safe_load(block.text)
    make_config({**REST_OF_CONFIG, **values}, folder=folder, where=f"line {block.line}")


def _in_process(arguments: list[str], block: Block, folder: Path) -> str:
    from confml.cli import main

    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    if arguments[0] == "run":  # without worker processes, for the same bytes in less time
        arguments = [*arguments, "--engine", "serial"]
    code: Any = 0
    with contextlib.chdir(folder), contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            main(arguments)
        except SystemExit as ended:
            code = ended.code
    text = output.buffer.getvalue().decode()
    _check_code(code, block, text)
    return text


def _bash(block: Block, folder: Path) -> str:
    # The commands of this interpreter, whatever is installed elsewhere.
    command = folder / ".commands" / "confml"
    command.parent.mkdir(exist_ok=True)
    command.write_text(CONFML)
    command.chmod(0o755)
    path = os.pathsep.join([str(command.parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    packages = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", block.text],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": packages},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    _check_code(done.returncode, block, done.stdout)
    return done.stdout


def _check_code(code: Any, block: Block, output: str) -> None:
    if (code or 0) != block.exit_code:
        raise AssertionError(f"line {block.line}: exit code {code}, expected {block.exit_code}\n{output}")
