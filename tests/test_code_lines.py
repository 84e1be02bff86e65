"""The package becomes smaller: code lines per folder, against the table of code_lines.csv.

A code line is neither blank nor a comment nor part of a docstring. The numbers of the table are lowered with
each change that removes code, and raised only with a reason in the commit. Lower them by
``python tests/test_code_lines.py``.
"""

import ast
from collections import Counter
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_name("code_lines.csv")


def code_lines(source: str) -> int:
    """Return the number of lines with code."""
    texts = source.splitlines()
    lines = {row for row, text in enumerate(texts, 1) if text.strip() and not text.lstrip().startswith("#")}
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno > node.lineno:
            lines.update(range(node.lineno, node.end_lineno + 1))  # a text may have blank lines
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                if isinstance(first.value.value, str):
                    docstrings.update(range(first.lineno, first.end_lineno + 1))
    return len(lines - docstrings)


def counts() -> dict[str, int]:
    """Return the code lines of each folder of the package, of its other modules, and of the tests."""
    lines: Counter[str] = Counter()
    for top in ("confml", "tests"):
        for path in (ROOT / top).rglob("*.py"):
            folder = top
            if top == "confml" and len(path.relative_to(ROOT / top).parts) > 1:
                folder = f"confml/{path.relative_to(ROOT / top).parts[0]}"
            lines[folder] += code_lines(path.read_text(encoding="utf-8"))
    return dict(sorted(lines.items()))


def stored() -> pd.Series:
    return pd.read_csv(TABLE, index_col="folder")["code_lines"]


def test_code_lines_of_a_source():
    source = '"""Docstring."""\n\n# comment\nx = 1  # comment\n\n\n'
    source += 'def f():\n    """Docstring\n\n    of lines."""\n'
    source += '    return """text\n    of two lines"""\n'
    assert code_lines(source) == 4


def test_no_folder_grows():
    table, now = stored(), pd.Series(counts())
    missing = now.index.difference(table.index)
    assert missing.empty, f"folders without a line in {TABLE.name}: {missing.tolist()}"
    larger = now[now > table[now.index]]
    assert larger.empty, f"more code lines than {TABLE.name} has: {larger.to_dict()}"


def lower() -> None:
    """Write the smaller of the stored number and the present one for each folder that is there."""
    now = pd.Series(counts(), name="code_lines").rename_axis("folder")
    now.clip(upper=stored().reindex(now.index)).astype(int).to_csv(TABLE)


if __name__ == "__main__":
    lower()
