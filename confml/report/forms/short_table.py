"""The short table: error and regions of a run at one level, which ``confml run`` prints."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from confml.measures import metrics_in
from confml.measures.metric import LEVEL, SHORT
from confml.report.answers.advice import unpromised, usual_level
from confml.report.answers.answer import RunAnswer
from confml.report.answers.comparisons import Comparisons, Line, comparisons_of
from confml.report.answers.datasets import ranking
from confml.report.answers.differences import FEW_SPLITS
from confml.report.answers.text import RULE, SAME, STAR, caution, detectable_text
from confml.report.captions import setting_text
from confml.report.forms.matrix import run_matrix
from confml.report.forms.summary import KEYS, standing_text
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable, markdown_text, to_markdown

ROWS, BEST = 40, 3  # longer short tables have the best methods of each data set only
MOST = 5  # sentences of one kind in the legend


def short_table(results: RunResults, in_config_order: bool = True) -> ShownTable | None:
    """Return error and regions at one level, one row per view, in the order of config or CSV files.

    A run on several data sets with more than `ROWS` rows has the errors of each method by data set instead,
    and other long tables have the methods with the lowest errors. None without finished cells. "+" marks the
    lowest error of a data set, "*" errors that are shown to be worse.
    """
    comparisons = comparisons_of(results)
    if not comparisons.lines:
        return None
    level = usual_level(results.config.levels)
    plain = metrics_in(SHORT)
    columns = plain + (metrics_in(SHORT, LEVEL) if level is not None else [])
    lines = comparisons.in_config_order() if in_config_order else comparisons.lines
    shown = lines
    if len(lines) > ROWS:
        if (ranks := ranking(results, "error")) is not None:
            table = run_matrix(results, ranks)
            notes = [note.replace("Bold:", "+:") for note in table.notes]
            frame = table.frame.where(~pd.DataFrame(table.best), table.frame + " +")
            return ShownTable(table.title, frame, [*notes, *_legend(comparisons, [])])
        shown = _best_lines(comparisons, lines)
    rows = []
    for line in shown:
        cells = list(line)
        for column in columns:
            estimate = comparisons.estimate(line, column.key, level if column.per else None)
            text = standing_text(estimate, column, with_sd=not column.per)
            if column.key == "error" and estimate is not None:
                text += " +" if estimate.best else " *" if estimate.worse else ""
            cells.append(text)
        rows.append(cells)
    frame = pd.DataFrame(rows, columns=[*KEYS, *(column.heading for column in columns)])
    frame = frame.loc[:, [*KEYS, "error", *(name for name in frame.columns[4:] if frame[name].any())]]
    has_regions = bool(set(frame.columns[4:]) & {column.heading for column in columns if column.per})
    legend = _legend(comparisons, _explanations(comparisons, shown, level if has_regions else None))
    return ShownTable("", frame, [text for text in legend if text], keys=3)


def _best_lines(comparisons: Comparisons, lines: Sequence[Line]) -> list[Line]:
    """Return the lines with the lowest errors of each data set, `ROWS` lines at most."""
    kept: list[Line] = []
    datasets = list(dict.fromkeys(line.dataset for line in lines))[:ROWS]
    most = max(1, min(BEST, ROWS // len(datasets)))
    for dataset in datasets:
        own = [line for line in lines if line.dataset == dataset]
        errors = {line: one.mean for line in own if (one := comparisons.estimate(line, "error"))}
        best = sorted(errors, key=lambda line: (math.isnan(errors[line]), errors[line]))[:most]
        kept += [line for line in own if line in best]
    return kept


def _legend(comparisons: Comparisons, explanations: Sequence[str]) -> list[str]:
    """Return the state of the run, its setting, the explanations of the columns, and the tests."""
    datasets = list(dict.fromkeys(line.dataset for line in comparisons.lines))
    progress = comparisons.unfinished
    return [
        *(f"{name}: so far {done}; no comparison before all are computed" for name, done in progress.items()),
        setting_text(comparisons.results),
        *explanations,
        *_significance(comparisons, [name for name in datasets if name not in progress]),
        *_some([text for name in datasets if (text := comparisons.not_above_baseline(name))]),
    ]


def _explanations(comparisons: Comparisons, shown: Sequence[Line], level: float | None) -> list[str]:
    """Return what the columns have. level: of the regions, None without."""
    errors = [estimate for line in comparisons.lines if (estimate := comparisons.estimate(line, "error"))]
    sd = " ± sd over splits" if any(estimate.n > 1 for estimate in errors) else ""
    best = "; + lowest error of the data set" if any(estimate.best for estimate in errors) else ""
    lines = [f"error: mean in %{sd}{best}"]
    if level is not None:
        units: dict[str, list[str]] = {}
        for metric in metrics_in(SHORT, LEVEL):
            units.setdefault(metric.unit, []).append(metric.heading)
        texts = [f"{' and '.join(names)} in {unit}" for unit, names in units.items() if unit]
        lines.append(f"regions at significance level {level:g}: {', '.join(texts)}")
        lines += filter(None, [unpromised(comparisons, level)])
    if len(shown) < len(comparisons.lines):
        lines.append(
            f"{len(shown)} of {len(comparisons.lines)} rows, the lowest errors; --all prints the rest"
        )
    return lines


def _some(texts: Sequence[str]) -> list[str]:
    """Return at most `MOST` sentences, and the number of the others."""
    more = len(texts) - MOST
    return list(texts) if more <= 1 else [*texts[:MOST], f"{more} more such sentences: see the page"]


def summary_text(results: RunResults, answer: RunAnswer, notes: Sequence[str]) -> str:
    """Return the answer, failures by cause, the short table and the notes of a run as Markdown."""
    parts = [f"# {markdown_text(results.config.name)}", *([f"> {answer.state}"] if answer.state else [])]
    parts += ["## Answer", *map(markdown_text, answer.sentences)]
    for title, sentences in (("Failures", answer.failures), ("Notes", notes)):
        if sentences:
            parts += [f"## {title}", "\n".join(f"- {markdown_text(text)}" for text in sentences)]
    if (table := short_table(results, in_config_order=False)) is not None:
        parts.append(to_markdown(replace(table, title="Results")).rstrip())
    return "\n\n".join(parts) + "\n"


def _significance(comparisons: Comparisons, datasets: Sequence[str]) -> list[str]:
    """Return the lines on the tests: how many errors are shown to be worse, and what could be shown."""
    of_datasets = [one for name in datasets if (one := comparisons.comparison(name)) and len(one.lines) > 1]
    if not of_datasets:
        alone = datasets and all(
            sum(not comparisons.is_baseline(line) for line in comparisons.of_dataset(name)) == 1
            for name in datasets
        )
        return ["significance: nothing to compare with"] if alone else []
    tested = sum(len(one.lines) - 1 for one in of_datasets)
    worse = sum(one.worse(line) for one in of_datasets for line in one.lines)
    detectable = [one.detectable for one in of_datasets]
    error = max(float(one.means.min()) for one in of_datasets) if len(of_datasets) == 1 else math.inf
    rest = "; the others are not shown to differ" if worse < tested else ""
    lines = [
        f"significance: * {STAR} ({RULE}): {worse} of {tested}{rest}",
        f"power: {SAME if all(one.same for one in of_datasets) else detectable_text(detectable, error)}",
    ]
    left_out = [
        f"{line.dataset}: {comparisons.label(line)} is not compared ({reason})"
        for one in of_datasets
        for line, reason in one.left_out.items()
    ]
    counts = {len(one.splits) for one in of_datasets}
    care = caution(min(counts), FEW_SPLITS) if counts else ""
    return [*lines, *([care] if care else []), *_some(left_out)]
