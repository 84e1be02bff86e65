"""`ShownTable`: a table for readers, and its forms for the console, Markdown, LaTeX and HTML."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import jinja2
import numpy as np
import pandas as pd
from tabulate import tabulate

from confml.terminal import folded

PAGE_ROWS = 45
"""Rows of a LaTeX table above which it is a longtable."""


@dataclass(frozen=True, eq=False)
class ShownTable:
    """A table of finished texts, with its title and notes.

    frame: texts; the columns are the headings. A mark of significance is part of a text, as in "3.2 *".
    notes: sentences below the table. keys: number of leading columns that name a row; they are aligned to the
    left, and cells that repeat those of the row above are shown empty. best: booleans of the shape of the
    frame, true for bold cells. about: definitions of headings, for the page. total: whether the last row
    is of all others together, such as mean ranks.
    """

    title: str
    frame: pd.DataFrame
    notes: Sequence[str] = ()
    keys: int = 1
    best: pd.DataFrame | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    total: bool = False

    @cached_property
    def headings(self) -> list[str]:
        return list(map(str, self.frame.columns))

    @cached_property
    def numeric(self) -> list[bool]:
        """Whether each column has numbers only, after the keys; they are aligned to the right."""
        texts = self.frame.to_numpy(dtype=object).T.tolist()
        return [
            index >= self.keys and all(map(_BEGINS_AS_NUMBER.match, column))
            for index, column in enumerate(texts)
        ]

    @property
    def named_once(self) -> pd.DataFrame:
        """The frame without keys that repeat those of the row above."""
        frame = self.frame.copy()
        keys = frame.iloc[:, : self.keys]
        same = (keys == keys.shift()).cummin(axis=1)
        frame.iloc[:, : self.keys] = keys.mask(same, "")
        return frame


_MARKS = (" *", " +")
_BEGINS_AS_NUMBER = re.compile(r"$|[-–]$|[-+−(<]*(\d|inf\b|nan\b)")


# ---- console


def to_console(table: ShownTable, width: int | None = None) -> str:
    """Return a table as plain text, followed by an empty line.

    width: largest number of characters per line, None for no limit. In a table that is wider, texts are
    broken at blanks, and if that is not enough, the columns are divided into blocks, each with the keys. The
    first of several keys has a line of its own then. A line is longer than ``width`` only if its words are.
    A "+" marks the best cells, because there is no bold.
    """
    if table.best is not None:
        best = pd.DataFrame(table.best).to_numpy(dtype=bool)
        notes = [re.sub("^Bold", "+", note) for note in table.notes]
        table = replace(table, frame=table.frame.where(~best, table.frame + " +"), notes=notes, best=None)
    title = folded(table.title, width) if table.title else []
    notes = [line for note in table.notes for line in folded(note, width)]
    text = _plain(table, list(range(table.frame.shape[1])), None)
    if width is not None and max(map(len, text.split("\n"))) > width:
        table = _grouped(table) if table.keys > 1 else table
        text = "\n\n".join(_blocks(table, width))
    return "\n".join([*title, text, *([""] if notes else []), *notes]) + "\n\n"


def _grouped(table: ShownTable) -> ShownTable:
    """Return a table with the first key on a line of its own, above its rows."""
    first, second = table.headings[:2]
    parts = []
    for name, rows in table.frame.groupby(first, sort=False):
        texts = rows.drop(columns=first)
        texts[second] = "  " + texts[second]
        head = pd.DataFrame([[name, *[""] * (texts.shape[1] - 1)]], columns=texts.columns)
        parts += [head, texts]
    return ShownTable(table.title, pd.concat(parts, ignore_index=True), table.notes, table.keys - 1)


def _plain(table: ShownTable, columns: list[int], width: int | None) -> str:
    limits = None if width is None else [_limit(table, column, width) for column in columns]
    frame = table.named_once
    for column in np.flatnonzero(table.numeric).tolist():
        texts = frame.iloc[:, column]
        marked = texts.str.endswith(_MARKS)
        if marked.any():  # digits stand below digits
            frame.isetitem(column, texts.where(marked, texts + "  ").tolist())
    return tabulate(
        frame.iloc[:, columns].to_numpy().tolist(),
        headers=[table.headings[column] for column in columns],
        tablefmt="simple",
        disable_numparse=True,
        colalign=["right" if table.numeric[column] else "left" for column in columns],
        maxcolwidths=limits,
        maxheadercolwidths=limits,
        break_long_words=False,
        break_on_hyphens=False,
        preserve_whitespace=True,
    )


def _limit(table: ShownTable, column: int, width: int) -> int:
    """Return the width of a column: that of its numbers, or its share of the line for a text."""
    if table.numeric[column]:
        return max(map(len, [*table.headings[column].split(), *table.frame.iloc[:, column]]))
    return width // 2 // table.keys if column < table.keys else width // 2


def _blocks(table: ShownTable, width: int) -> list[str]:
    """Return the texts of the blocks: each has the keys, and as many other columns as a line has room for."""
    keys = list(range(table.keys))
    columns: list[int] = []
    blocks: list[str] = []
    for column in range(table.keys, table.frame.shape[1]):
        text = _plain(table, [*keys, *columns, column], width)
        if columns and max(map(len, text.split("\n"))) <= width:
            blocks[-1] = text
        else:
            blocks.append(_plain(table, [*keys, column], width))
            columns.clear()
        columns.append(column)
    return blocks


# ---- Markdown


def to_markdown(table: ShownTable) -> str:
    """Return a table as GitHub Markdown with its title and, as a list, its notes."""
    frame = table.named_once.map(markdown_text).set_axis(
        [markdown_text(name) for name in table.headings], axis=1
    )
    if table.best is not None:
        frame = frame.where(~table.best.to_numpy(dtype=bool), "**" + frame + "**")
    alignment = ["right" if numeric else "left" for numeric in table.numeric]
    text = frame.to_markdown(index=False, disable_numparse=True, colalign=alignment)
    head = f"## {markdown_text(table.title)}\n\n" if table.title else ""
    notes = "\n".join(f"- {markdown_text(note)}" for note in table.notes)
    return head + text + (f"\n\n{notes}\n" if notes else "\n")


def markdown_text(text: str) -> str:
    """Return a text with the characters escaped that mean something in Markdown; code in backticks stays."""
    parts = re.split("(`[^`|]+`)", " ".join(text.split()))
    return "".join(
        part if index % 2 else re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", part)
        for index, part in enumerate(parts)
    )


# ---- LaTeX


def to_latex(table: ShownTable, label: str) -> str:
    """Return a table for LaTeX with booktabs; a longtable if it has more than `PAGE_ROWS` rows.

    Columns of numbers, such as "3.2", "3.2 ± 0.4" and "3.2 *", are columns of siunitx, aligned at the decimal
    mark.
    """
    frame, layout = table.named_once, ""
    for column, of_column in enumerate(table.numeric):
        texts = frame.iloc[:, column].tolist()
        in_siunitx = of_column and all(text in _MISSING or _NUMBER.fullmatch(text) for text in texts)
        layout += "S" if in_siunitx else "r" if of_column else "l"
        frame.isetitem(column, [_siunitx_number(text) if in_siunitx else latex_text(text) for text in texts])
    style = frame.set_axis([latex_text(name) for name in table.headings], axis=1).style.hide(axis="index")
    if table.best is not None:
        bold = np.where(table.best, "font-weight: bold", "")
        style = style.apply(lambda _: bold, axis=None)
    environment = "longtable" if len(frame) > PAGE_ROWS else None
    text = style.to_latex(
        column_format=layout,
        environment=environment,
        caption=(latex_text(" ".join([f"{table.title}.", *table.notes])), latex_text(table.title)),
        label=f"tab:{label}",
        position_float=None if environment == "longtable" else "centering",
        hrules=True,
        siunitx=True,
        convert_css=True,
    )
    return f"% needs \\usepackage{{booktabs,longtable,siunitx}}\n\\begingroup{_SETUP}\n{text}\\endgroup\n"


_SETUP = (
    "\\sisetup{separate-uncertainty, table-align-uncertainty, table-align-text-after = false, "
    "text-series-to-math, propagate-math-font}"
)  # of version 3: means ± sd, marks next to their numbers, bold numbers
_NUMBER = re.compile(r"([-−]?)(\d+)(?:\.(\d+))?(?: ± (\d+)(?:\.(\d+))?)?(?: ([*+]))?")
_MISSING = ("", "-", "–")


def _siunitx_number(text: str) -> str:
    if text in _MISSING:
        return "{--}" if text else ""
    return re.sub(r" ([*+])$", r" {$^{\1}$}", text).replace("±", "\\pm").replace("−", "-")


_TEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"},
        **{"±": "$\\pm$", "−": "$-$", "<": "$<$", ">": "$>$", "|": "$|$", '"': "\\textquotedbl{}"},
    }
)


def latex_text(text: str) -> str:
    """Return a text with the special characters of LaTeX escaped, on one line."""
    return " ".join(text.split()).translate(_TEX)


# ---- HTML


def to_html(table: ShownTable, identifier: str) -> str:
    """Return a table as HTML. Keys are headings of rows; numbers have the class ``n``."""
    best = np.zeros(table.frame.shape, bool) if table.best is None else table.best.to_numpy(dtype=bool)
    texts = table.frame.to_numpy(dtype=object).tolist()
    rows = [list(zip(row, bold, strict=True)) for row, bold in zip(texts, best.tolist(), strict=True)]
    return _HTML.render(table=table, identifier=identifier, rows=rows)


_HTML = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    """\
{% set numeric = table.numeric %}
<table id="{{ identifier }}">
<caption>{{ table.title }}</caption>
<thead><tr>
{% for heading in table.headings %}
<th scope="col"{% if numeric[loop.index0] %} class="n"{% endif %}
{% if heading in table.about %} title="{{ table.about[heading] }}"{% endif %}>{{ heading }}</th>
{% endfor %}
</tr></thead>
<tbody>
{% for row in rows %}
<tr{% if table.total and loop.last %} class="total"{% endif %}>
{% for text, bold in row %}
{% if loop.index0 < table.keys %}
<th scope="row">{{ text }}</th>
{% else %}
<td{% if numeric[loop.index0] %} class="n"{% endif %}>
{%- if bold %}<b>{{ text }}</b>{% else %}{{ text }}{% endif %}</td>
{% endif %}
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table>
{% for note in table.notes %}
<p class="note">{{ note }}</p>
{% endfor %}
"""
)
