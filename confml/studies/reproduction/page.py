"""`write_page`: the Markdown page of all published numbers and claims, and its figures."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from confml.published import known_tables
from confml.report.files import write_csv, write_file
from confml.studies.reproduction.claims import Claim, explanations, read_claims
from confml.studies.reproduction.contradictions import contradictions
from confml.studies.reproduction.figures import draw_numbers, draw_outcomes
from confml.studies.reproduction.markdown import joined, markdown_table, write_stored_tables
from confml.studies.reproduction.matching import trials
from confml.studies.reproduction.numbers import Number, Outcome, Role, published_numbers
from confml.studies.reproduction.ranks import ranks_folder, write_ranks
from confml.studies.reproduction.reasons import Reasons, read_reasons
from confml.studies.reproduction.runs import provenance_text, read_provenance
from confml.studies.reproduction.sources import SOURCES, Source
from confml.studies.reproduction.summary import results, summary_pages


def write_page(folder: Path) -> list[Path]:
    """Write the pages, ``numbers.csv`` and ``figures/`` into ``results/reference``; return the files.

    ``README.md`` is the summary, ``counts.md`` has its counts, and ``<source>.md`` is the page of a source.
    The Markdown and LaTeX forms of stored tables are rendered from their CSV files.
    """
    reasons = read_reasons()
    numbers = _numbers(folder, reasons)
    paths = list(write_stored_tables(folder))
    paths.append(_write_numbers([one for each in numbers.values() for one in each], folder / "numbers.csv"))
    for source in SOURCES:
        for table in source.tables:
            own = [number for number in numbers[source.key] if number.table == table]
            path = draw_numbers(table, own, folder / "figures")
            if path is not None:
                paths.append(path)
        paths += write_ranks(source, folder)
    shown = {source.title: results(numbers[source.key]) for source in SOURCES if source.tables}
    paths.append(draw_outcomes(shown, folder / "figures" / "outcomes.svg"))
    return [
        *paths,
        *(write_file(folder / name, text) for name, text in _pages(folder, numbers, reasons).items()),
    ]


def pages(folder: Path) -> dict[str, str]:
    """Return the texts of ``README.md``, ``counts.md`` and a page of each source by their names.

    folder: ``results/reference`` with the stored tables and figures.
    """
    reasons = read_reasons()
    return _pages(folder, _numbers(folder, reasons), reasons)


def _numbers(folder: Path, reasons: Reasons) -> dict[str, list[Number]]:
    return {source.key: list(published_numbers(source, folder, reasons)) for source in SOURCES}


def _pages(folder: Path, numbers: dict[str, list[Number]], reasons: Reasons) -> dict[str, str]:
    claims = {source.key: read_claims(source.key) for source in SOURCES}
    texts = summary_pages(numbers, claims, folder)
    for source in SOURCES:
        parts = [f"# {source.title}"]
        parts.append(f"{source.citation}. Computed by `{source.target}`.")
        parts.append("[Summary](README.md), [terms](counts.md#terms)")
        for table in source.tables:
            own = [number for number in numbers[source.key] if number.table == table]
            parts += _table(table, own, reasons, folder)
            parts += _stored(source, table, folder)
        parts += _reasons(numbers[source.key], reasons)
        parts += _explanations(numbers[source.key], folder)
        parts += _trials(numbers[source.key], source, folder)
        parts += _contradictions(source)
        parts.append(_claims(claims[source.key]))
        parts += _figures(source, folder)
        parts += ["## Runs", *_runs(source, folder)]
        texts[f"{source.key}.md"] = joined(parts)
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


def _trials(numbers: Sequence[Number], source: Source, folder: Path) -> Iterator[str]:
    opened = [one for one in numbers if one.outcome is Outcome.OPEN and one.column == "sd_multiple"]
    if opened:
        rows = []
        for trial in trials(folder, source.folders):
            shares = [trial.shares.get((one.keys[0], one.keys[1])) for one in opened]
            if any(share is not None for share in shares):
                texts = ["" if share is None else f"{100 * share:.0f} %" for share in shares]
                link = _link(f"{trial.folder}/matching.csv")
                rows.append([trial.params.replace(";", ", ") or "standard", *texts, link])
        yield "## Trials"
        yield (
            "Splits on which the printed multiple matches the envelope, for the multiples that are not "
            "explained. The chain with `thin=70` and `samples=1000` has the paper's 70,000 steps. In "
            "`bayes-knn-tricube-quarter` the test parts of pima have 192 rows, as in the paper's proportions."
        )
        names = [f"[{', '.join(one.keys)}](#{one.name})" for one in opened]
        yield "\n".join(markdown_table(["setting", *names, "shown by"], rows, left=1))


def _contradictions(source: Source) -> Iterator[str]:
    found = [one for one in contradictions() if one.table in source.tables]
    if found:
        yield "## Contradictions"
        yield "Printed numbers that cannot all be right, by their sums, bounds, counts and rounding:"
        yield "\n".join(f"- {one.table}, {', '.join(one.row)}: {one.text}" for one in found)


def _target(name: str) -> str:
    """Return an anchor that other pages can link to."""
    return f'<a id="{name}"></a>'


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
    extra = [[text(number) for number in numbers] for text in (_error, _grid, _path, _original)]
    for heading, column in zip(("Monte Carlo error", "grid", "paths", "authors' code"), extra, strict=True):
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
    if number.outcome is Outcome.BOUND:
        return [*keys, column, number.paper, f"> {number.ours:g}", "", "", "", "", outcome]
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


def _original(number: Number) -> str:
    if number.original is None:
        return ""
    mean, sd = number.original
    return f"{mean:.{number.decimals}f}" + ("" if math.isnan(sd) else f" ± {sd:.{number.decimals}f}")


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
        *("role", "name", "authors_code"),
    )
    rows = [
        (
            *(number.table, ", ".join(number.keys), number.column, number.paper, number.ours, number.sd),
            *(number.splits, number.outcome.value, number.reason, number.folder),
            *(number.role.value, number.name, None if number.original is None else number.original[0]),
        )
        for number in numbers
    ]
    return write_csv(path, header, rows)
