"""`write_page`: the Markdown page of all published numbers and claims, and its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from confml.published import known_tables
from confml.report.files import write_csv, write_file
from confml.studies.reproduction.claims import Claim, Verdict, read_claims
from confml.studies.reproduction.contradictions import contradictions
from confml.studies.reproduction.explanations import explanations
from confml.studies.reproduction.figures import draw_numbers, draw_outcomes
from confml.studies.reproduction.markdown import markdown_table
from confml.studies.reproduction.numbers import REPRODUCED, Number, Outcome, Role, published_numbers
from confml.studies.reproduction.ranks import ranks_folder, write_ranks
from confml.studies.reproduction.reasons import Reasons, read_reasons
from confml.studies.reproduction.runs import origin_text, provenance_text, read_provenance
from confml.studies.reproduction.sources import SOURCES, Source
from confml.studies.reproduction.stored_tables import write_stored_tables

_INTRODUCTION = """\
# Published numbers and claims, and those of confml

Every number of the tables of five sources and every claim of their texts, compared with confml: one page per
source. `make reproduction` writes these pages from the tables stored in this folder, and computes nothing.
"""

_TERMS = """\
## Terms

- **result**: a number that the authors of the source computed. Sizes of data sets, numbers that a source
  quotes from others, and run times are counted apart. A number that is compared with two runs counts once.
- **as printed**: the number of confml, rounded to the digits of the source, equals the printed number.
- **within chance**: the difference is at most two standard errors of a difference between two means over
  random splits, sd · sqrt(1/n + 1/m) with sd and n of confml and the m splits of the source. It needs at
  least three splits of confml. Folds of a cross-validation count as splits, although they are dependent.
- **differs, proved**: the source contradicts itself, or its rounding or a count explains the difference.
- **differs, setting not stated**: a setting that the source does not state gives or explains the number. It
  was chosen after the number was seen.
- **differs, other data**: the data, or the sizes of the parts, are not those of the source.
- **differs, not explained**: no reason is known. The page says what was tried.
- **time, same grid** and **time, other grid**: run times are not judged. Times over other grids cannot be
  compared.
- **not computed**: the stored tables do not have the number.

Claims **hold**, **hold in part**, **do not hold** or **cannot be checked**. Questions of the textbook are
**answered**. Arithmetic, such as a sum that the text works out, is not counted.

## Cite

Each number has an anchor, the column `name` of [numbers.csv](numbers.csv): [{name}]({page}#{name})
is {row}. State it with the commit of its page and the citation of confml in
`CITATION.cff`.
"""


def write_page(folder: Path) -> list[Path]:
    """Write the pages, ``numbers.csv`` and ``figures/`` into ``results/reference``; return the files.

    ``README.md`` is the summary, ``<source>.md`` the page of a source. The Markdown and LaTeX forms of stored
    tables are rendered from their CSV files.
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
    results = {source.title: _results(numbers[source.key]) for source in SOURCES if source.tables}
    paths.append(draw_outcomes(results, folder / "figures" / "outcomes.svg"))
    return [*paths, *(write_file(folder / name, text) for name, text in pages(folder).items())]


def pages(folder: Path) -> dict[str, str]:
    """Return the texts of ``README.md`` and of the page of each source by the names of their files.

    folder: ``results/reference`` with the stored tables and figures.
    """
    reasons = read_reasons()
    numbers = {source.key: list(published_numbers(source, folder, reasons)) for source in SOURCES}
    claims = {source.key: read_claims(source.key) for source in SOURCES}
    texts = {"README.md": _summary(numbers, claims, folder)}
    for source in SOURCES:
        parts = [f"# {source.title}"]
        parts.append(f"{source.citation}. Computed by `{source.target}`. [Summary and terms](README.md)")
        for table in source.tables:
            own = [number for number in numbers[source.key] if number.table == table]
            parts += _table(table, own, reasons, folder)
            parts += _stored(source, table, folder)
        parts += _reasons(numbers[source.key], reasons)
        parts += _explanations(numbers[source.key], folder)
        parts += _contradictions(source)
        parts.append(_claims(claims[source.key]))
        parts += _figures(source, folder)
        parts += ["## Runs", *_runs(source, folder)]
        texts[f"{source.key}.md"] = _joined(parts)
    return texts


def _reasons(numbers: Sequence[Number], reasons: Reasons) -> Iterator[str]:
    used = dict.fromkeys(number.reason for number in numbers if number.reason not in ("", "chance"))
    if used:
        yield "## Reasons"
        yield "\n".join(f"- {_target(code)}**{code}**: {reasons.codes[code].text}" for code in used)


def _explanations(numbers: Sequence[Number], folder: Path) -> Iterator[str]:
    named = {number.name: number for number in numbers}
    rows = []
    for one in explanations(folder):
        if one.number in named:
            number, stored = named[one.number], one.stored
            digits = max(number.decimals, 2)
            rows.append(
                [
                    *(f"[{one.number}](#{one.number})", one.setting, number.paper),
                    *(f"{stored.mean:.{digits}f}", f"{stored.sd:.{digits}f}" if stored.sd else ""),
                    *(stored.splits, one.match(number.paper, number.paper_splits), _link(stored.folder)),
                ]
            )
    if rows:
        yield "## Settings that are not stated"
        yield "Each setting was chosen after the number was seen: a match shows that it is possible."
        headings = ["number", "setting", "paper", "confml", "± sd", "splits", "compared", "shown by"]
        yield "\n".join(markdown_table(headings, rows, left=2))


def _contradictions(source: Source) -> Iterator[str]:
    found = [one for one in contradictions() if one.table in source.tables]
    if found:
        yield "## Contradictions"
        yield "Printed numbers that cannot all be right, by their sums, bounds, counts and rounding:"
        yield "\n".join(f"- {one.table}, {', '.join(one.row)}: {one.text}" for one in found)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _target(name: str) -> str:
    """Return an anchor that other pages can link to."""
    return f'<a id="{name}"></a>'


def _results(numbers: Sequence[Number]) -> list[Number]:
    return [number for number in numbers if number.role is Role.RESULT]


def _summary(numbers: dict[str, list[Number]], claims: dict[str, list[Claim]], folder: Path) -> str:
    parts = [_INTRODUCTION, "![Results of four papers by outcome](figures/outcomes.svg)"]
    for source in SOURCES:
        parts += [f"## [{source.title}]({source.key}.md)", "\n".join(_lines(source, numbers, claims, folder))]
    example = next(one for one in numbers[SOURCES[0].key] if one.table == SOURCES[0].tables[-1])
    row = f"the row {', '.join(example.keys)} of {example.table}"
    parts += ["## Counts", _counts(numbers, claims)]
    parts.append(_TERMS.format(name=example.name, page=f"{SOURCES[0].key}.md", row=row))
    return _joined(parts)


def _lines(
    source: Source, numbers: dict[str, list[Number]], claims: dict[str, list[Claim]], folder: Path
) -> Iterator[str]:
    """Yield the lines of a source: what is reproduced, what is not, why, claims, and command and commit."""
    results = _results(numbers[source.key])
    if results:
        found = Counter(number.outcome for number in results)
        parts = ", ".join(f"{found[one]} {one}" for one in REPRODUCED)
        yield f"- **{sum(found[one] for one in REPRODUCED)} of {len(results)} results reproduced** ({parts})."
        rest = [number for number in results if number.outcome not in REPRODUCED]
        yield f"- Others: {_listed(Counter(number.outcome.removeprefix('differs, ') for number in rest))}."
        reasons = Counter(number.reason for number in rest)
        named = (f"[{code}]({source.key}.md#{code}) {count}" for code, count in reasons.most_common())
        yield f"- Reasons: {', '.join(named)}."
    verdicts = Counter(claim.verdict.value for claim in claims[source.key] if claim.is_counted)
    yield f"- {sum(verdicts.values())} claims: {_listed(verdicts)}."
    known = [content for part in source.folders if (content := read_provenance(folder / part))]
    content = next((one for one in known if one["command"] == source.target), known[0])
    yield f"- `{content['command']}`: {origin_text(content)}."


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def _counts(numbers: dict[str, list[Number]], claims: dict[str, list[Claim]]) -> str:
    judged = [one for one in Outcome if not one.startswith("time")]
    rows: list[list] = []
    for role, name in (
        (Role.RESULT, ""),
        (Role.SIZE, ": sizes of data sets"),
        (Role.QUOTED, ": quoted numbers"),
    ):
        for source in SOURCES:
            own = [number.outcome for number in numbers[source.key] if number.role is role]
            if own:
                found = Counter(own)
                rows.append([f"{source.title}{name}", len(own), *(found[one] for one in judged)])
    text = markdown_table(["results", "numbers", *judged], rows, left=1)
    times = [number for each in numbers.values() for number in each if number.role is Role.TIME]
    found = Counter(number.outcome for number in times)
    grids = [one for one in Outcome if one.startswith("time")]
    single = sum(number.splits == 1 for number in times)
    row = ["SmartSVM", len(times), *(found[one] for one in (*grids, Outcome.MISSING)), single]
    text += [
        "",
        *markdown_table(["times", "numbers", *grids, Outcome.MISSING, "of one split"], [row], left=1),
    ]
    rows = []
    for source in SOURCES:
        verdicts = Counter(claim.verdict for claim in claims[source.key] if claim.is_counted)
        arithmetic = sum(not claim.is_counted for claim in claims[source.key])
        rows.append([source.title, sum(verdicts.values()), *(verdicts[one] for one in Verdict), arithmetic])
    return "\n".join(
        [*text, "", *markdown_table(["claims", "counted", *Verdict, "arithmetic"], rows, left=1)]
    )


def _runs(source: Source, folder: Path) -> Iterator[str]:
    for part in source.folders:
        content = read_provenance(folder / part)
        if content is not None:
            yield f"Stored in `{part}`: {provenance_text(content)}"
        elif (folder / part).is_dir():
            yield f"Stored in `{part}`: versions and machine of this run were not recorded."


def _table(name: str, numbers: Sequence[Number], reasons: Reasons, folder: Path) -> Iterator[str]:
    published = known_tables()[name]
    yield f"## {published.title}"
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
    outcome = number.outcome.value + (f" ({number.role})" if number.role in (Role.QUOTED, Role.AGAIN) else "")
    if number.reason not in ("", "chance"):
        outcome += f": [{number.reason}](#{number.reason})"
    first, *rest = number.keys
    keys = [_target(number.name) + first, *rest]
    if number.ours is None or number.difference is None:
        return [*keys, column, number.paper, "", "", "", "", "", outcome]
    return [
        *keys,
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
        [
            claim.section,
            claim.sentence,
            f"**{claim.verdict}**" if claim.is_counted else f"{claim.verdict}",
            claim.ours,
            ", ".join(map(_link, claim.shown)),
        ]
        for claim in claims
    ]
    headings = ["section", "claim", "verdict", "confml", "shown by"]
    return "\n".join(["## Claims of the text", "", *markdown_table(headings, rows, left=5)])


def _link(shown: str) -> str:
    """Return a link to a file that shows a claim; a command or a test is text."""
    return shown if shown.startswith(("make ", "tests/", "configs/")) else f"[{shown}]({shown})"


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
    header = (
        *("table", "row", "column", "paper", "confml", "sd", "splits", "outcome", "reason", "folder"),
        *("role", "name"),
    )
    rows = [
        (
            *(number.table, ", ".join(number.keys), number.column, number.paper, number.ours, number.sd),
            *(number.splits, number.outcome.value, number.reason, number.folder),
            *(number.role.value, number.name),
        )
        for number in numbers
    ]
    return write_csv(path, header, rows)
