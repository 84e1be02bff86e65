"""The short table: error and regions of a run at one level, which ``confml run`` prints."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from confml.measures import metrics_in
from confml.measures.metric import LEVEL, SHORT
from confml.report.answers.advice import unpromised, usual_level
from confml.report.answers.answer import RunAnswer
from confml.report.answers.differences import FEW_SPLITS
from confml.report.answers.standings import Line, Standings, not_above_baseline, standings_of
from confml.report.answers.text import RULE, SAME, STAR, caution, detectable_text
from confml.report.captions import setting_text
from confml.report.forms.grid import Grid, markdown, markdown_text
from confml.report.forms.summary import mark_of, standing_text
from confml.report.run.results import RunResults

ROWS, BEST = 40, 3  # longer short tables have the best methods of each data set only
MOST = 5  # sentences of one kind in the legend


class ShortTable(NamedTuple):
    """Headings, rows of texts (data set, method, view, numbers), and the lines of the legend."""

    headings: list[str]
    rows: list[list[str]]
    legend: list[str]


def short_table(results: RunResults, in_config_order: bool = True) -> ShortTable:
    """Return error and regions at one level, one row per view, in the order of config or CSV files.

    With more than `ROWS` rows it has at most the `BEST` methods of each data set. Without finished cells it
    is empty.
    """
    standings = standings_of(results)
    if not standings.lines:
        return ShortTable([], [], [])
    level = usual_level(results.config.levels)
    plain = metrics_in(SHORT)
    columns = plain + (metrics_in(SHORT, LEVEL) if level is not None else [])
    lines = standings.in_config_order() if in_config_order else standings.lines
    shown = _best_lines(standings, lines) if len(lines) > ROWS else lines
    rows = []
    for line in shown:
        cells = []
        for column in columns:
            found = standings.of(line, column.key, level if column.per else None)
            text = standing_text(found, column, with_sd=not column.per)
            cells.append(f"{text} {mark_of(found) or ' '}" if column.key == "error" else text)
        rows.append([*line, *cells])
    kept = [place for place in range(len(columns) + 3) if place < 4 or any(row[place] for row in rows)]
    has_regions = any(place >= 3 + len(plain) for place in kept)
    headings = ["data set", "method", "view", *(column.heading for column in columns)]
    return ShortTable(
        [headings[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        _legend(standings, shown, level if has_regions else None),
    )


def _best_lines(standings: Standings, lines: Sequence[Line]) -> list[Line]:
    """Return the lines with the lowest errors of each data set, `ROWS` lines at most."""
    kept: list[Line] = []
    datasets = list(dict.fromkeys(line.dataset for line in lines))[:ROWS]
    most = max(1, min(BEST, ROWS // len(datasets)))
    for dataset in datasets:
        own = [line for line in lines if line.dataset == dataset]
        errors = {line: one.mean for line in own if (one := standings.of(line, "error"))}
        best = sorted(errors, key=lambda line: (math.isnan(errors[line]), errors[line]))[:most]
        kept += [line for line in own if line in best]
    return kept


def _legend(standings: Standings, shown: Sequence[Line], level: float | None) -> list[str]:
    found = [one for line in standings.lines if (one := standings.of(line, "error"))]
    sd = " ± sd over splits" if any(one.n > 1 for one in found) else ""
    datasets = list(dict.fromkeys(line.dataset for line in standings.lines))
    unfinished = standings.unfinished
    lines = [
        f"{name}: so far {text}; no comparison before all are computed" for name, text in unfinished.items()
    ]
    lines.append(setting_text(standings.results))
    best = "; + lowest error of the data set" if any(one.best for one in found) else ""
    lines.append(f"error: mean in %{sd}{best}")
    if level is not None:
        units: dict[str, list[str]] = {}
        for metric in metrics_in(SHORT, LEVEL):
            units.setdefault(metric.unit, []).append(metric.heading)
        texts = [f"{' and '.join(names)} in {unit}" for unit, names in units.items() if unit]
        lines.append(f"regions at significance level {level:g}: {', '.join(texts)}")
        lines += filter(None, [unpromised(standings, level)])
    lines += _significance(standings, [name for name in datasets if name not in unfinished])
    lines += _some([text for name in datasets if (text := not_above_baseline(standings, name))])
    if len(shown) < len(standings.lines):
        lines.append(f"{len(shown)} of {len(standings.lines)} rows, the lowest errors; --all prints the rest")
    return lines


def _some(texts: Sequence[str]) -> list[str]:
    """Return at most `MOST` sentences, and the number of the others."""
    more = len(texts) - MOST
    return list(texts) if more <= 1 else [*texts[:MOST], f"{more} more such sentences: see the page"]


def summary_text(results: RunResults, found: RunAnswer, notes: Sequence[str]) -> str:
    """Return the answer, failures by cause, the short table and the notes of a run as Markdown."""
    table = short_table(results, in_config_order=False)
    parts = [f"# {markdown_text(results.config.name)}", *([f"> {found.banner}"] if found.banner else [])]
    parts += ["## Answer", *map(markdown_text, found.sentences)]
    for title, own in (("Failures", found.failures), ("Notes", notes)):
        if own:
            parts += [f"## {title}", "\n".join(f"- {markdown_text(text)}" for text in own)]
    if table.rows:
        legend = [text for text in table.legend if text]
        keys = min(3, len(table.headings))
        parts.append(markdown(Grid("Results", table.headings, table.rows, keys, legend)).rstrip())
    return "\n\n".join(parts) + "\n"


def _significance(standings: Standings, datasets: Sequence[str]) -> list[str]:
    """Return the lines on the tests: how many errors are shown to be worse, and what could be shown."""
    families = [one for name in datasets if (one := standings.family(name)) and len(one.lines) > 1]
    if not families:
        alone = all(len(standings.compared(name)) == 1 for name in datasets) and datasets
        return ["significance: nothing to compare with"] if alone else []
    tested = sum(len(one.lines) - 1 for one in families)
    worse = sum(one.found.worse(place) for one in families for place in range(len(one.lines)))
    detectable = [one.found.detectable for one in families]
    error = max(float(one.found.means.min()) for one in families) if len(families) == 1 else math.inf
    rest = "; the others are not shown to differ" if worse < tested else ""
    lines = [
        f"significance: * {STAR} ({RULE}): {worse} of {tested}{rest}",
        f"power: {SAME if all(one.found.same for one in families) else detectable_text(detectable, error)}",
    ]
    left_out = [
        f"{line.dataset}: {standings.label(line)} is not compared ({reason})"
        for one in families
        for line, reason in one.left_out.items()
    ]
    counts = {len(one.splits) for one in families}
    care = caution(min(counts), FEW_SPLITS) if counts else ""
    return [*lines, *([care] if care else []), *_some(left_out)]
