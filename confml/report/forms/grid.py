"""Forms of a `Grid`: console, Markdown and LaTeX.

The tables of rich fit a terminal by folding or cutting words; on the console these are divided into blocks of
columns.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Mark(NamedTuple):
    """A cell with a mark. best: bold. sign: "*" or "+" after the text, or ""."""

    text: str
    best: bool = False
    sign: str = ""


@dataclass(frozen=True, eq=False)
class Grid:
    """A table with its title and notes, which the page shows and `confml.report.tables` writes.

    rows: texts and marked texts. keys: number of text columns on the left, which are aligned to the left.
    starts: for each row, whether a rule stands before it. source: a sentence below the title, with the notes
    below the table; without it the notes are part of the caption.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str | Mark]]
    keys: int = 1
    notes: Sequence[str] = ()
    starts: Sequence[bool] = ()
    source: str = ""

    def texts(self) -> list[list[str]]:
        """Return the cells without marks."""
        return [[cell.text if isinstance(cell, Mark) else cell for cell in row] for row in self.rows]


PAGE_ROWS = 45  # rows of a LaTeX page; longer tables are a longtable


def named_once(rows: Sequence[Sequence[Any]], keys: int) -> Iterator[list[Any]]:
    """Yield the rows with those of the first ``keys`` cells empty that continue the row above."""
    before: Sequence[Any] = ()
    for row in rows:
        same = [list(row[: place + 1]) == list(before[: place + 1]) for place in range(keys)]
        yield [*("" if equal else cell for cell, equal in zip(row, same, strict=False)), *row[keys:]]
        before = row


# ---- Markdown


def markdown(grid: Grid, aligned: bool = False) -> str:
    """Return a grid as GitHub Markdown, with its notes as a list. aligned: columns of equal width."""
    head = [f"## {grid.title if aligned else markdown_text(grid.title)}", ""]
    head += [grid.source, ""] if grid.source else []
    notes = [f"- {note if aligned else markdown_text(note)}" for note in grid.notes]
    return "\n".join([*head, *markdown_rows(grid, aligned), "", *notes]) + "\n"


def markdown_rows(grid: Grid, aligned: bool = False) -> list[str]:
    """Return the lines of a table in GitHub Markdown."""
    rows = [[_marked_markdown(cell) for cell in row] for row in grid.rows]
    headings = [markdown_text(heading) for heading in grid.headings]
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    places = range(len(headings))
    rules = ["---" if place < grid.keys else "---:" for place in places]
    if aligned:
        rules = [
            "-" * (widths[place] - (place >= grid.keys)) + ":" * (place >= grid.keys) for place in places
        ]
        headings, *rows = [
            [cell.ljust(width) if place < grid.keys else cell.rjust(width) for place, cell, width in
             zip(places, row, widths, strict=True)]
            for row in (headings, *rows)
        ]  # fmt: skip
    return ["| " + " | ".join(cells) + " |" for cells in (headings, rules, *rows)]


def _marked_markdown(cell: str | Mark) -> str:
    if not isinstance(cell, Mark):
        return markdown_text(cell)
    text = markdown_text(cell.text)
    return f"**{text}**" if cell.best else f"{text} {markdown_text(cell.sign)}" if cell.sign else text


def markdown_text(text: str) -> str:
    """Return a text with the characters escaped that mean something in Markdown; code in backticks stays."""
    parts = re.split("(`[^`|]+`)", " ".join(text.split()))
    return "".join(
        part if place % 2 else re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", part)
        for place, part in enumerate(parts)
    )


# ---- LaTeX


def latex(grid: Grid, label: str, sideways: bool = False) -> str:
    """Return a grid for LaTeX with booktabs and siunitx; a longtable if it has more than `PAGE_ROWS` rows.

    Columns of numbers are aligned at the decimal mark, with marks after the number. sideways: on a page that
    is turned, in tiny letters.
    """
    formats = [_table_format([row[place] for row in grid.rows]) for place in range(len(grid.headings))]
    formats[: grid.keys] = [""] * grid.keys
    layout = "".join(
        "l" if place < grid.keys else f"S[{one}]" if one else "r" for place, one in enumerate(formats)
    )
    caption = latex_text(
        f"{grid.title}. {grid.source}" if grid.source else " ".join([f"{grid.title}.", *grid.notes])
    )
    caption = f"\\caption{{{caption}}}" + "\n" * bool(grid.source) + f"\\label{{tab:{label}}}"
    names = zip(map(latex_text, grid.headings), formats, strict=True)
    head = " & ".join(f"{{{name}}}" if one else name for name, one in names) + " \\\\"
    body = []
    for number, row in enumerate(grid.rows):
        body += ["\\midrule"] if grid.starts and grid.starts[number] and (number or grid.source) else []
        cells = (_marked_latex(cell, bool(one)) for cell, one in zip(row, formats, strict=True))
        body.append(" & ".join(cells) + " \\\\")
    rule = [] if grid.source else ["\\midrule"]
    tabular = [
        f"\\begin{{tabular}}{{{layout}}}",
        "\\toprule",
        head,
        *rule,
        *body,
        "\\bottomrule",
        "\\end{tabular}",
    ]
    if sideways:
        begin = ["% needs the packages booktabs, rotating and siunitx", "\\begin{sidewaystable}\\tiny", SETUP]
        text = [*begin, caption, *tabular, "\\end{sidewaystable}"]
    elif len(grid.rows) > PAGE_ROWS and not grid.source:
        again = f"\\multicolumn{{{len(grid.headings)}}}{{r}}{{continued on the next page}} \\\\"
        text = [
            "% needs \\usepackage{booktabs,longtable,siunitx}",
            f"\\begingroup{SETUP}",
            f"\\begin{{longtable}}{{{layout}}}",
            f"{caption} \\\\",
            *("\\toprule", head, "\\midrule", "\\endfirsthead"),
            *("\\toprule", head, "\\midrule", "\\endhead"),
            *("\\midrule", again, "\\endfoot", "\\bottomrule", "\\endlastfoot"),
            *body,
            "\\end{longtable}",
            "\\endgroup",
        ]
    else:
        below = []
        if grid.source:
            below = ["", "\\medskip", "\\begin{minipage}{\\linewidth}\\footnotesize"]
            below += [*(f"{latex_text(note)}\\par" for note in grid.notes), "\\end{minipage}"]
        begin = ["% needs \\usepackage{booktabs,siunitx}", "\\begin{table}", "\\centering", SETUP]
        text = [*begin, caption, *tabular, *below, "\\end{table}"]
    return "\n".join(text) + "\n"


SETUP = (
    "\\sisetup{separate-uncertainty, table-align-uncertainty, table-align-text-after = false, "
    "text-series-to-math, propagate-math-font}"
)
"""Settings of siunitx, version 3: means ± sd, marks next to their numbers, bold numbers."""
_NUMBER = re.compile(r"([-\N{MINUS SIGN}]?)(\d+)(?:\.(\d+))?(?: ± (\d+)(?:\.(\d+))?)?")
MISSING = ("-", "\N{EN DASH}")


def _table_format(cells: Sequence[str | Mark]) -> str:
    """Return the options of the siunitx column of some cells; "" if one is no number, or all are empty."""
    texts = [cell.text if isinstance(cell, Mark) else cell for cell in cells]
    found = [_NUMBER.fullmatch(text) for text in texts if text and text not in MISSING]
    numbers = [one for one in found if one is not None]
    if not numbers or len(numbers) < len(found):
        return ""

    def longest(*groups: int) -> int:
        return max(sum(len(one[group] or "") for group in groups) for one in numbers)

    spread, decimals = longest(4, 5), longest(3)
    text = "-" * bool(longest(1)) + str(longest(2)) + (f".{decimals}" if decimals else ".0")
    text += f"({spread})" if spread else ""
    signs = [cell.sign for cell in cells if isinstance(cell, Mark) and cell.sign]
    after = f", table-space-text-post = {{$^{{{signs[0]}}}$}}" if signs else ""
    return f"table-format = {text}{after}"


def _marked_latex(cell: str | Mark, number: bool = False) -> str:
    """Return a cell with its marks. number: whether its column is one of siunitx."""
    one = cell if isinstance(cell, Mark) else Mark(cell)
    if number:
        if not one.text:
            return ""
        if one.text in MISSING:
            return "{--}"
        text = one.text.replace("±", "\\pm").replace("\N{MINUS SIGN}", "-")
        sign = f" {{$^{{{one.sign}}}$}}" if one.sign else ""
        return f"\\bfseries {text}{sign}" if one.best else f"{text}{sign}"
    text = re.sub("^-(?=[0-9])", "$-$", latex_text(one.text))
    return f"\\textbf{{{text}}}" if one.best else f"{text}$^{{{one.sign}}}$" if one.sign else text


_TEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"},
        **{"±": "$\\pm$", "<": "$<$", ">": "$>$", "|": "$|$", '"': "\\textquotedbl{}"},
    }
)


def latex_text(text: str) -> str:
    """Return a text with the special characters of LaTeX escaped, on one line."""
    return " ".join(text.split()).translate(_TEX)


# ---- console

GAP = "  "


def plain_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    numeric: Sequence[bool],
    title: str = "",
    width: int | None = None,
    keys: int | None = None,
) -> str:
    """Return a table as plain text, followed by an empty line.

    width: largest number of characters per line, None for no limit. In a table that is wider, texts and
    headings are broken at blanks, and if that is not enough, the columns are divided into blocks, each with
    the first ``keys`` columns, by default the text columns on the left. A line is longer than ``width`` only
    if its words are.
    """
    cells = [[str(value) for value in row] for row in rows]
    if width is None or text_width(headings, cells) <= width:
        return _lines_of([list(headings)], cells, numeric, title)
    if keys is None:
        keys = next((place for place, one in enumerate(numeric) if one), len(numeric))
    limits = _limits(headings, cells, keys, width)
    parts = []
    for number, columns in enumerate(_blocks(limits, keys, width)):
        own = [limits[place] for place in columns]
        head = _wrapped([headings[place] for place in columns], own)
        body = [line for row in cells for line in _wrapped([row[place] for place in columns], own)]
        parts.append(_lines_of(head, body, [numeric[place] for place in columns], "" if number else title))
    return "".join(parts)


def text_width(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table whose texts are not broken."""
    widest = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    return sum(widest) + len(GAP) * max(len(widest) - 1, 0)


def _limits(headings: Sequence[str], rows: Sequence[Sequence[str]], keys: int, width: int) -> list[int]:
    """Return the width of each column.

    Columns of numbers are as wide as their numbers and the longest word of the heading. Text columns have the
    rest, at least half of ``width`` if they need it; the widest is narrowed first, and none below its longest
    word.
    """
    numbers = [
        max([_longest_word(headings[place]), *(len(row[place]) for row in rows)])
        for place in range(keys, len(headings))
    ]
    table = [headings, *rows]
    full = [max(len(row[place]) for row in table) for place in range(keys)]
    least = [max(_longest_word(row[place]) + _indent(row[place]) for row in table) for place in range(keys)]
    room = width - sum(numbers) - len(GAP) * (len(headings) - 1)
    room = max(room, width // 2)
    while sum(full) > room and any(now > low for now, low in zip(full, least, strict=True)):
        widest = max((now, place) for place, now in enumerate(full) if now > least[place])[1]
        full[widest] -= 1
    return [*full, *numbers]


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _blocks(limits: Sequence[int], keys: int, width: int) -> list[list[int]]:
    """Return the columns of each block, the text columns on the left included."""
    names = list(range(keys))
    left = sum(limits[:keys]) + len(GAP) * max(keys - 1, 0)
    blocks: list[list[int]] = []
    used = 0
    for place in range(keys, len(limits)):
        need = len(GAP) + limits[place]
        if not blocks or used + need > width:
            blocks.append(list(names))
            used = left
        blocks[-1].append(place)
        used += need
    return blocks or [names]


def _wrapped(row: Sequence[str], limits: Sequence[int]) -> list[list[str]]:
    """Return the lines of one row, with texts broken at blanks."""
    parts = [_broken(cell, limit) for cell, limit in zip(row, limits, strict=True)]
    height = max(map(len, parts), default=1)
    return [[part[line] if line < len(part) else "" for part in parts] for line in range(height)]


def _broken(text: str, limit: int) -> list[str]:
    if len(text) <= limit:
        return [text]  # with the blanks in it
    indent = " " * _indent(text)
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= limit:
            lines[-1] += f" {word}"
        else:
            lines.append(f"{indent}{word}")
    return lines or [""]


def _lines_of(
    headings: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], numeric: Sequence[bool], title: str
) -> str:
    """Return title, lines of headings, a rule and rows as text."""
    widths = [max(map(len, column)) for column in zip(*headings, *rows, strict=True)]
    lines = [title] if title else []
    for cells in (*headings, ["-" * width for width in widths], *rows):
        padded = (
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(cells, widths, numeric, strict=True)
        )
        lines.append(GAP.join(padded).rstrip())
    return "\n".join(lines) + "\n\n"
