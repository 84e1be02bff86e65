"""Every code block of the documentation runs, and the outputs that it shows are the real ones."""

from __future__ import annotations

import difflib
import json
import re

import processes
import pytest
from documentation.blocks import (
    ROOT,
    VERSIONS,
    Block,
    as_shown,
    blocks_of,
    figures_of,
    labels_of,
    matches,
    pages,
    run_page,
    text_of,
    tidy,
    versions,
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
        lines = difflib.unified_diff(
            tidy(one.block.text).splitlines(),
            tidy(one.real).splitlines(),
            "shown",
            "real",
            lineterm="",
        )
        print(f"{path}, line {one.block.line}:", *lines, sep="\n")
    written = json.loads(VERSIONS.read_text(encoding="utf-8"))
    if (wrong or old) and versions() != written:
        pytest.skip(f"the blocks run; their outputs were written with {written}")
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


PAGE = """
```python title="one.py"
print("one")
```

```sh
python one.py
```

```text
one
```

<!-- no run: a reason -->
```sh
false
```

<!-- exit 2 -->
```sh
confml describe tcm-n
```

```text
confml: unknown name 'tcm-n'; ...
```

```python
import one
print(1 + 1)
```

```text
one
3
```
"""


def test_a_wrong_output_is_found(tmp_path):
    shown = run_page(PAGE, tmp_path)
    assert [one.agrees for one in shown] == [True, True, False]
    assert shown[-1].real == "one\n2\n"


def test_outputs_are_wrapped_and_without_progress():
    words = " ".join(["word"] * 40)
    assert as_shown(
        f"compiling kernels of tcm-nn, once\ncompiled in 65 s\na\n3/5 tasks, 4/9 cells, 3 s\n{words}\n"
    ).splitlines() == [
        "a",
        " ".join(["word"] * 23),
        " ".join(["word"] * 17),
    ]
    for row in (",".join(["0.123"] * 40), "  ".join(["0.123"] * 40)):
        assert as_shown(row + "\n") == row + "\n"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("```sh\nfalse\n```\n", "line 2: exit code 1, expected 0"),
        ("```sh\nconfml describe tcm-n\n```\n", "line 2: exit code 2, expected 0"),
        ("<!-- exit 2 -->\n```sh\nconfml --version\n```\n", "line 3: exit code 0, expected 2"),
        ("```text\none\n```\n", "line 2: no block before this output has run"),
        ("```sh\ntrue\n```\n\nText.\n\n```text\n\n```\n", "line 8: no block before this output has run"),
        ("```rust\n1\n```\n", "line 2: a block of 'rust' cannot be run"),
        ("```yaml\nlevels: [2]\n```\n", "line 2"),
    ],
)
def test_a_block_that_fails_is_an_error(page, message, tmp_path):
    with pytest.raises((AssertionError, ValueError), match=re.escape(message)):
        run_page(page, tmp_path)


def test_dots_stand_for_any_text():
    assert matches("a\n...\nz\n", "a\nb\nc\nz")
    assert matches("a ...\n", "a 12 s  \n\n")
    assert not matches("a\n...\nz\n", "a\nb\n")
    assert not matches("a", "ab")


def test_a_titled_block_is_a_file_or_is_compared_with_it(tmp_path):
    page = '```sh\nprintf "a\\n" > a.csv\n```\n\n```csv title="a.csv"\nb\n```\n'
    (shown,) = run_page(page, tmp_path)
    assert isinstance(shown.block, Block) and not shown.agrees and shown.real == "a\n"
