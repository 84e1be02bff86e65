"""`write_page`: the Markdown page of all published numbers and claims, and its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from confml.published import known_tables
from confml.report.files import write_csv, write_file
from confml.studies.reproduction.claims import Claim, Verdict, read_claims
from confml.studies.reproduction.figures import draw_numbers
from confml.studies.reproduction.markdown import anchor, markdown_table
from confml.studies.reproduction.numbers import Number, Outcome, published_numbers
from confml.studies.reproduction.ranks import ranks_folder, write_ranks
from confml.studies.reproduction.reasons import Reasons, read_reasons
from confml.studies.reproduction.runs import provenance_text, read_provenance
from confml.studies.reproduction.sources import SOURCES, Source
from confml.studies.reproduction.stored_tables import write_stored_tables

_INTRODUCTION = """\
# Published numbers and claims, and those of confml

Every number of the tables of five sources, with the number of confml, and every claim of their texts with a
verdict. `make reproduction` writes this page in seconds from the tables stored in this folder; it computes no
result. The targets named in each section compute the tables.

- **as printed**: the number of confml, rounded to the digits of the source, equals the printed number.
- **within chance**: the difference is at most two standard errors of a difference between two means over
  random splits. The standard error is sd · sqrt(1/n + 1/m), where sd and n are those of confml and m is
  the number of splits of the source. It needs at least three splits of confml. With k-fold cross-validation
  a fold counts as a split. If the difference is large and a reason is known, it is named.
- **differs, with a reason**: the reason is stated below the table.
- **differs, not explained**: no reason is known. The text below the table says what was tried.
- **time on another machine**: a run time. Its difference is not judged.
- **Monte Carlo error**: the standard deviation by the random numbers of the method alone, over five runs
  on the same splits.
- **grid**: number of grid points behind a time of confml, and behind that of the source.
- **paths**: the same time for the whole grid of the source, by one path of warm fits for each two-class
  machine and by exact paths of Crammer-Singer and GenSVM.
- **not computed**: the stored tables do not have the number.

The verdicts on claims are **holds**, **holds in part**, **does not hold** and **cannot be checked**.
Assignments and questions of the textbook are **answered**.
"""


def write_page(folder: Path) -> list[Path]:
    """Write ``README.md``, ``numbers.csv`` and ``figures/`` into ``results/reference``; return the files.

    The Markdown and LaTeX forms of stored tables are rendered from their CSV files.
    """
    reasons = read_reasons()
    numbers = {source.key: list(published_numbers(source, folder, reasons)) for source in SOURCES}
    paths = list(write_stored_tables(folder))
    paths.append(_write_numbers([one for each in numbers.values() for one in each], folder / "numbers.csv"))
    for source in SOURCES:
        for table in source.tables:
            own = [number for number in numbers[source.key] if number.table == table]
            path = draw_numbers(table, own, folder / "figures")
            if path is not None:
                paths.append(path)
        paths += write_ranks(source, folder)
    return [*paths, write_file(folder / "README.md", page_text(folder))]


def page_text(folder: Path) -> str:
    """Return the page for the tables and figures stored in ``folder``."""
    reasons = read_reasons()
    parts = [_INTRODUCTION]
    numbers = {source.key: list(published_numbers(source, folder, reasons)) for source in SOURCES}
    claims = {source.key: read_claims(source.key) for source in SOURCES}
    parts.append(_counts(numbers, claims))
    for source in SOURCES:
        parts += [f"## {source.title}", f"{source.citation}. Computed by `{source.target}`."]
        parts += _runs(source, folder)
        for table in source.tables:
            own = [number for number in numbers[source.key] if number.table == table]
            parts += _table(table, own, reasons, folder)
            parts += _stored(source, table, folder)
        parts.append(_claims(claims[source.key]))
        parts += _figures(source, folder)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _counts(numbers: dict[str, list[Number]], claims: dict[str, list[Claim]]) -> str:
    rows = []
    for source in SOURCES:
        found = Counter(number.outcome for number in numbers[source.key])
        total = len(numbers[source.key])
        rows.append([f"[{source.title}](#{anchor(source.title)})", total, *(found[one] for one in Outcome)])
    rows.append(_totals(rows))
    text = ["## Counts", "", "Published numbers:", ""]
    text += markdown_table(["source", "numbers", *Outcome], rows, left=1)
    rows = []
    for source in SOURCES:
        verdicts = Counter(claim.verdict for claim in claims[source.key])
        rows.append([source.title, len(claims[source.key]), *(verdicts[one] for one in Verdict)])
    rows.append(_totals(rows))
    text += ["", "Claims of the texts:", ""]
    text += markdown_table(["source", "claims", *Verdict], rows, left=1)
    return "\n".join(text)


def _totals(rows: Sequence[Sequence]) -> list:
    return ["all", *(sum(row[place] for row in rows) for place in range(1, len(rows[0])))]


def _runs(source: Source, folder: Path) -> Iterator[str]:
    for part in source.folders:
        content = read_provenance(folder / part)
        if content is not None:
            yield f"Stored in `{part}`: {provenance_text(content)}"
        elif (folder / part).is_dir():
            yield f"Stored in `{part}`: versions and machine of this run were not recorded."


def _table(name: str, numbers: Sequence[Number], reasons: Reasons, folder: Path) -> Iterator[str]:
    published = known_tables()[name]
    yield f"### {published.title}"
    yield f"`{name}`, {published.unit}."
    first = published.rows()[0]
    headings = [text for key, text in published.keys.items() if key in first]
    headings += ["column", "paper", "confml", "± sd", "splits", "as printed", "difference", "outcome"]
    rows = [_row(number, published.columns.get(number.column, number.column)) for number in numbers]
    extra = [[_error(number) for number in numbers], [_grid(number) for number in numbers]]
    extra.append([_path(number) for number in numbers])
    for heading, column in zip(("Monte Carlo error", "grid", "paths"), extra, strict=True):
        if any(column):
            place = headings.index("splits") + (heading != "Monte Carlo error")
            headings.insert(place, heading)
            for text, row in zip(column, rows, strict=True):
                row.insert(place, text)
    yield "\n".join(markdown_table(headings, rows, left=headings.index("paper")))
    used = dict.fromkeys(number.reason for number in numbers if number.reason not in ("", "chance"))
    if used:
        yield "\n".join(f"- **{code}**: {reasons.codes[code].text}" for code in used)
    if (folder / "figures" / f"{name}.svg").is_file():
        yield f"![{published.title}](figures/{name}.svg)"


def _stored(source: Source, table: str, folder: Path) -> Iterator[str]:
    paths = [f"{part}/tables/{table}.csv" for part in source.folders]
    links = [f"[{path}]({path})" for path in paths if (folder / path).is_file()]
    if links:
        yield f"Stored tables, with all variants of confml: {', '.join(links)}."


def _row(number: Number, column: str) -> list[str]:
    whole = number.decimals == 0 and number.ours is not None and number.ours.is_integer()
    digits = 0 if whole else max(number.decimals, 2)
    outcome = number.outcome.value
    if number.reason not in ("", "chance"):
        outcome += f": {number.reason}"
    if number.ours is None or number.difference is None:
        return [*number.keys, column, number.paper, "", "", "", "", "", outcome]
    return [
        *number.keys,
        column,
        number.paper,
        f"{number.ours:.{digits}f}",
        "" if number.sd is None else f"{number.sd:.{digits}f}",
        str(number.splits or ""),
        f"{number.ours:.{number.decimals}f}",
        f"{number.difference:+.{digits}f}",
        outcome,
    ]


def _error(number: Number) -> str:
    return "" if number.monte_carlo_error is None else f"{number.monte_carlo_error:.2f}"


def _grid(number: Number) -> str:
    return "" if number.points is None else f"{number.points} of {number.grid}"


def _path(number: Number) -> str:
    return "" if number.path is None else f"{number.path:.{max(number.decimals, 2)}f}"


def _claims(claims: Sequence[Claim]) -> str:
    rows = [
        [claim.section, claim.sentence, f"**{claim.verdict}**", claim.ours, claim.shown] for claim in claims
    ]
    headings = ["section", "claim", "verdict", "confml", "shown by"]
    return "\n".join(["### Claims of the text", "", *markdown_table(headings, rows, left=5)])


def _figures(source: Source, folder: Path) -> Iterator[str]:
    captions = yaml.safe_load((Path(__file__).parent / "captions.yaml").read_text(encoding="utf-8"))
    parts = (*source.folders, *map(ranks_folder, source.ranked))
    for part in dict.fromkeys(parts):
        for path in sorted((folder / part / "figures").glob("*.svg")):
            caption = path.with_suffix(".txt")
            if caption.is_file():
                text = caption.read_text(encoding="utf-8").strip()
            else:
                text = captions.get(f"{part}/figures/{path.stem}", path.stem).strip()
            yield f"![{path.stem}]({part}/figures/{path.name})\n\n*{text}*"


def _write_numbers(numbers: Sequence[Number], path: Path) -> Path:
    header = ("table", "row", "column", "paper", "confml", "sd", "splits", "outcome", "reason", "folder")
    rows = [
        (
            *(number.table, ", ".join(number.keys), number.column, number.paper, number.ours, number.sd),
            *(number.splits, number.outcome.value, number.reason, number.folder),
        )
        for number in numbers
    ]
    return write_csv(path, header, rows)
