"""`summary_pages`: the summary of all sources, and the counts and terms behind it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean

from confml.report.files import read_csv
from confml.studies.reproduction.claims import Claim, Verdict
from confml.studies.reproduction.markdown import joined, markdown_table
from confml.studies.reproduction.numbers import REPRODUCED, Number, Outcome, Role
from confml.studies.reproduction.runs import origin_text, read_provenance
from confml.studies.reproduction.sources import SOURCES, Source

_INTRODUCTION = """\
# Published numbers and claims, and those of confml

Every number of the tables of five sources and every claim of their texts, compared with confml: one page per
source, and [counts and terms](counts.md). `make reproduction` writes these pages from the tables stored
in this folder, and computes nothing.
"""

_CITE = """\
## Cite

Each number has an anchor, the column `name` of [numbers.csv](numbers.csv): [{name}]({page}#{name})
is {row}. State it with the commit of its page and the citation of confml in
`CITATION.cff`.
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
- **stand-in**: another algorithm is computed instead of a quoted one. Its number is not judged.
- **time, same grid** and **time, other grid**: run times are not judged. Times over other grids cannot be
  compared.
- **time, lower bound**: the fits were stopped at a time limit.
- **not computed**: the stored tables do not have the number.
- **authors' code**: the number of the authors' published program on the splits of confml.

Claims **hold**, **hold in part**, **do not hold** or **cannot be checked**. Questions of the textbook are
**answered**. Arithmetic, such as a sum or an example that the text works out, is not counted.
"""

_MOST_REASONS = 4


def results(numbers: Sequence[Number]) -> list[Number]:
    """Return the numbers that the authors of a source computed, each once."""
    return [number for number in numbers if number.role is Role.RESULT]


def summary_pages(
    numbers: Mapping[str, Sequence[Number]], claims: Mapping[str, Sequence[Claim]], folder: Path
) -> dict[str, str]:
    """Return the texts of ``README.md`` and ``counts.md``.

    numbers, claims: those of the sources by their keys. folder: ``results/reference``.
    """
    parts = [_INTRODUCTION]
    for source in SOURCES:
        parts.append(f"## [{source.title}]({source.key}.md)")
        image = f'<img align="right" width="190" alt="{source.title}" src="{source.figure}">'
        lines = "\n".join(_lines(source, numbers[source.key], claims[source.key], folder))
        parts += [f'<a href="{source.key}.md">{image}</a>', lines]
    parts += ["## Other tables", "\n".join(_others(folder))]
    example = next(one for one in numbers[SOURCES[0].key] if one.table == SOURCES[0].tables[-1])
    row = f"the row {', '.join(example.keys)} of {example.table}"
    parts.append(_CITE.format(name=example.name, page=f"{SOURCES[0].key}.md", row=row))
    counts = [
        "# Counts and terms",
        "[Summary](README.md)",
        "![Results of four papers by outcome](figures/outcomes.svg)",
    ]
    return {"README.md": joined(parts), "counts.md": joined([*counts, _counts(numbers, claims), _TERMS])}


def _lines(source: Source, numbers: Sequence[Number], claims: Sequence[Claim], folder: Path) -> Iterator[str]:
    """Yield the lines of a source: what is reproduced, what is not, why, claims, and command and commit."""
    own = results(numbers)
    if own:
        found = Counter(number.outcome for number in own)
        parts = ", ".join(f"{found[one]} {one}" for one in REPRODUCED)
        yield f"- **{sum(found[one] for one in REPRODUCED)} of {len(own)} results reproduced** ({parts})."
        rest = [number for number in own if number.outcome not in REPRODUCED]
        yield f"- Others: {_listed(Counter(number.outcome.removeprefix('differs, ') for number in rest))}."
        reasons = Counter(number.reason for number in rest)
        most = reasons.most_common(_MOST_REASONS)
        named = [f"[{code}]({source.key}.md#{code}) {count}" for code, count in most]
        left = reasons.total() - sum(count for _, count in most)
        named += [f"[others]({source.key}.md#reasons) {left}"] if left else []
        yield f"- Reasons: {', '.join(named)}."
    verdicts = Counter(claim.verdict.value for claim in claims if claim.is_counted)
    yield f"- {verdicts.total()} claims: {_listed(verdicts)}."
    known = [content for part in source.folders if (content := read_provenance(folder / part))]
    content = next((one for one in known if one["command"] == source.target), known[0])
    yield f"- `{content['command']}`: {origin_text(content)}."


def _others(folder: Path) -> Iterator[str]:
    """Yield a line for each stored table that belongs to no source."""
    rows = [row for row in read_csv(folder / "leaderboard" / "leaderboard.csv") if row["column"] == "error"]
    if rows:
        first = min(rows, key=lambda row: float(row["mean_rank"]))
        methods, sets = len({row["method"] for row in rows}), max(int(row["datasets"]) for row in rows)
        yield (
            f"- [Leaderboard](leaderboard/leaderboard.csv), `make leaderboard`: {methods} methods on "
            f"{sets} data sets. {first['method']} has the smallest mean rank by error, "
            f"{float(first['mean_rank']):.1f}. [Leaderboard of confidences](confidences/leaderboard.csv), "
            "`make confidences`."
        )
    verdicts = Counter(row["verdict"] for row in read_csv(folder / "validity" / "validity.csv"))
    if verdicts:
        yield (
            f"- [Validity](validity/validity.md), `make validity`: {verdicts.total()} simulated rates of "
            f"p-values, probabilities and certificates: {_listed(verdicts)}."
        )
    sizes: dict[str, list[float]] = {}
    for row in read_csv(folder / "promises" / "costs.csv"):
        sizes.setdefault(row["form"], []).append(float(row["size"]))
    if sizes:
        means = ", ".join(f"{form} {mean(own):.2f}" for form, own in sizes.items() if "," not in form)
        yield (
            "- [Costs of guarantees](promises/promises.md), `make promises`: mean set size at level 0.1 on "
            f"{max(map(len, sizes.values()))} data sets, by the rows of the guarantee: {means}."
        )
    best = Counter(row["best"] for row in read_csv(folder / "bayes-error" / "best.csv"))
    if best:
        yield (
            "- [Bayes error estimators](bayes-error/best.csv), `make table-bayes-error`: smallest root mean "
            f"squared error in {best.total()} settings: {_listed(best)}."
        )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def _counts(numbers: Mapping[str, Sequence[Number]], claims: Mapping[str, Sequence[Claim]]) -> str:
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
    headings = ["times", "numbers", *grids, Outcome.MISSING, "of one split"]
    text += ["", *markdown_table(headings, [row], left=1)]
    rows = []
    for source in SOURCES:
        verdicts = Counter(claim.verdict for claim in claims[source.key] if claim.is_counted)
        arithmetic = sum(not claim.is_counted for claim in claims[source.key])
        rows.append([source.title, verdicts.total(), *(verdicts[one] for one in Verdict), arithmetic])
    return "\n".join(
        [*text, "", *markdown_table(["claims", "counted", *Verdict, "arithmetic"], rows, left=1)]
    )
