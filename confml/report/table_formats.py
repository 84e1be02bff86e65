"""Summary tables as Markdown, LaTeX (booktabs, longtable), CSV rows and plain data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from confml.report.answers.standings import Standing
from confml.report.summary_tables import SummaryTable, standing_text

PAGE_ROWS = 45  # rows of a LaTeX page; longer tables are a longtable
CSV_HEADER = (
    *("dataset", "method", "view", "metric", "level", "mean", "sd", "splits", "best", "p_value", "worse"),
)


def csv_rows(table: SummaryTable) -> Iterator[tuple]:
    """Yield one row per number: line, metric, level, mean, sd, splits, best, p_value, worse.

    p_value: of the comparison with the best mean, corrected by Holm over all pairs. worse: whether the mean
    is shown to be worse.
    """
    for line, level, found in table.rows:
        by_level = {column.key: bool(column.per) for column in table.columns}
        for metric, one in found.items():
            p_value = None if math.isnan(one.p_value) else one.p_value
            own = level if by_level[metric] else None
            yield (*line, metric, own, one.mean, one.sd, one.n, one.best, p_value, one.worse)


def document(table: SummaryTable) -> dict[str, Any]:
    """Return the table as plain data for JSON; numbers that are not finite are null."""
    rows = [dict(zip(CSV_HEADER, row, strict=True)) for row in dict.fromkeys(csv_rows(table))]
    for row in rows:
        row |= {
            key: None for key, value in row.items() if isinstance(value, float) and not math.isfinite(value)
        }
    return {"title": table.title, "notes": list(table.notes), "rows": rows}


def markdown(table: SummaryTable) -> str:
    """Return the table as GitHub Markdown: the best in bold, "*" after means that are shown to be worse."""
    headings, rows, left = _layout(table, _markdown_cell, _markdown_text)
    text = [f"## {table.title}", ""]
    text.append("| " + " | ".join(headings) + " |")
    text.append("| " + " | ".join("---" if place < left else "---:" for place in range(len(headings))) + " |")
    text += ["| " + " | ".join(cells) + " |" for _, cells in rows]
    return "\n".join([*text, "", *(f"- {_markdown_text(note)}" for note in table.notes)]) + "\n"


def latex(table: SummaryTable, label: str) -> str:
    """Return the table for LaTeX with booktabs; a longtable if it has more than `PAGE_ROWS` rows."""
    headings, rows, left = _layout(table, _latex_cell, latex_text)
    layout = "l" * left + "r" * (len(headings) - left)
    caption = f"\\caption{{{latex_text(' '.join([f'{table.title}.', *table.notes]))}}}\\label{{tab:{label}}}"
    head = " & ".join(headings) + " \\\\"
    body = []
    for number, (starts, cells) in enumerate(rows):
        body += ["\\midrule"] if starts and number else []
        body.append(" & ".join(cells) + " \\\\")
    if len(rows) > PAGE_ROWS:
        again = f"\\multicolumn{{{len(headings)}}}{{r}}{{continued on the next page}} \\\\"
        text = [
            "% needs \\usepackage{booktabs,longtable}",
            f"\\begin{{longtable}}{{{layout}}}",
            f"{caption} \\\\",
            *("\\toprule", head, "\\midrule", "\\endfirsthead"),
            *("\\toprule", head, "\\midrule", "\\endhead"),
            *("\\midrule", again, "\\endfoot", "\\bottomrule", "\\endlastfoot"),
            *body,
            "\\end{longtable}",
        ]
    else:
        text = [
            "% needs \\usepackage{booktabs}",
            *("\\begin{table}", "\\centering", caption, f"\\begin{{tabular}}{{{layout}}}", "\\toprule"),
            *(head, "\\midrule", *body, "\\bottomrule", "\\end{tabular}", "\\end{table}"),
        ]
    return "\n".join(text) + "\n"


def _layout(table: SummaryTable, cell, text) -> tuple[list[str], list[tuple[bool, list[str]]], int]:
    """Return headings, rows (whether a data set starts, cells) and the number of text columns.

    Keys that repeat those of the row above are empty.
    """
    keys = ["data set", "method", "view", *([table.level_name] if table.has_levels else [])]
    headings = [text(key) for key in keys]
    headings += [text(column.label) for column in table.columns]
    rows: list[tuple[bool, list[str]]] = []
    before: tuple[str, ...] = ("",) * 3
    for line, level, found in table.rows:
        shown = ["" if line[: place + 1] == before[: place + 1] else text(line[place]) for place in range(3)]
        starts, same_line, before = line[0] != before[0], line == before, tuple(line)
        if table.has_levels:
            shown.append("" if level is None else f"{level!r}")
        for column in table.columns:
            repeated = same_line and not column.per
            shown.append("" if repeated else cell(found.get(column.key), column))
        rows.append((starts, shown))
    return headings, rows, len(keys)


def _markdown_cell(standing: Standing | None, column) -> str:
    text = standing_text(standing, column, with_sd=not column.per)
    if standing is None:
        return text
    return f"**{text}**" if standing.best else f"{text} \\*" if standing.worse else text


def _latex_cell(standing: Standing | None, column) -> str:
    text = standing_text(standing, column, with_sd=not column.per)
    text = re.sub("^-(?=[0-9])", "$-$", latex_text(text))
    if standing is None:
        return text
    return f"\\textbf{{{text}}}" if standing.best else f"{text}$^{{*}}$" if standing.worse else text


def _markdown_text(text: str) -> str:
    """Return a text with the characters escaped that mean something in Markdown tables."""
    text = re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", text)
    return " ".join(text.split())


_TEX: Mapping[int, str] = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"},
        **{"±": "$\\pm$", "<": "$<$", ">": "$>$", "|": "$|$", '"': "\\textquotedbl{}"},
    }
)


def latex_text(text: str) -> str:
    """Return a text with the special characters of LaTeX escaped, on one line."""
    return " ".join(text.split()).translate(_TEX)
