"""The short table: error and regions of a run at one level, which ``confml run`` prints."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from confml.measures import metrics_in
from confml.measures.metric import LEVEL, SHORT
from confml.methods import BASELINE
from confml.report.answers.advice import unpromised, usual_level
from confml.report.answers.answer import RunAnswer
from confml.report.answers.comparisons import Comparisons, comparisons_of
from confml.report.answers.datasets import ranking
from confml.report.answers.differences import FEW_SPLITS
from confml.report.answers.text import RULE, SAME, STAR, caution, detectable_text, some
from confml.report.captions import setting_text
from confml.report.forms.matrix import run_matrix
from confml.report.forms.summary import KEYS, estimate_text
from confml.report.run.results import RunResults
from confml.report.shown_table import ShownTable, markdown_text, to_markdown

ROWS = 40  # longer short tables have one column per method, or the lowest errors only


def short_table(results: RunResults, in_config_order: bool = True) -> ShownTable | None:
    """Return error and regions at one level, one row per view, in the order of config or CSV files.

    A run on several data sets with more than `ROWS` rows has the errors of each method by data set instead,
    and other long tables have the methods with the lowest errors. None without finished cells. "+" marks the
    lowest error of a data set, "*" errors that are shown to be worse.
    """
    comparisons = comparisons_of(results)
    lines = comparisons.in_config_order() if in_config_order else comparisons.lines
    if not lines:
        return None
    legend, rest = _legend(comparisons), ""
    if len(lines) > ROWS:
        if (ranks := ranking(results, "error")) is not None:
            table = run_matrix(results, ranks)
            return replace(table, notes=[*table.notes, *legend])
        errors = {line: error.mean for line in lines if (error := comparisons.estimate(line, "error"))}
        best = sorted(errors, key=lambda line: (math.isnan(errors[line]), errors[line]))[:ROWS]
        rest = f"{len(best)} of {len(lines)} rows, the lowest errors; --all prints the rest"
        lines = [line for line in lines if line in best]
    level = usual_level(results.config.levels)
    columns = metrics_in(SHORT) + (metrics_in(SHORT, LEVEL) if level is not None else [])
    texts: dict[str, list[str]] = {key: [line[index] for line in lines] for index, key in enumerate(KEYS)}
    for column in columns:
        estimates = [comparisons.estimate(line, column.key, level if column.per else None) for line in lines]
        cells = [estimate_text(estimate, column) for estimate in estimates]
        if column.key == "error":
            marks = [" +" * mean.best or " *" * mean.worse if mean else "" for mean in estimates]
            cells = [text + mark for text, mark in zip(cells, marks, strict=True)]
        if column.key == "coverage" and level is not None:
            low = [comparisons.low_coverage(line, level) is not None for line in lines]
            cells = [text + " low" * is_low for text, is_low in zip(cells, low, strict=True)]
        if column.key == "error" or any(cells):
            texts[column.heading] = cells
    shown = [column for column in columns if column.heading in texts]
    units = [f"{column.heading} in {column.unit}" for column in shown if column.per]
    with_sd = " ± sd over splits" * (" ± " in "".join(texts["error"]))
    about = [rest, f"error: mean in %{with_sd}, + the lowest"]
    if level is not None and units:
        about += [
            f"regions at significance level {level:g}: {', '.join(units)}",
            "low: coverage shown to be too low (1 %, Holm's correction over data sets)"
            * any(text.endswith(" low") for text in texts.get("coverage", ())),
            unpromised(comparisons, level),
        ]
    return ShownTable("", pd.DataFrame(texts), list(filter(None, [*about, *legend])), keys=3)


def _legend(comparisons: Comparisons) -> list[str]:
    """Return the state of the run, its setting, and the tests: how many errors are shown to be worse, and
    what could be shown."""
    unfinished = comparisons.unfinished.items()
    legend = [f"{name}: so far {done}; no comparison before all are computed" for name, done in unfinished]
    legend.append(setting_text(comparisons.results))
    datasets = list(dict.fromkeys(line.dataset for line in comparisons.lines))
    tests = [test for name in datasets if (test := comparisons.comparison(name)) and len(test.lines) > 1]
    if not tests:
        return legend if unfinished else [*legend, f"significance: * {STAR}; no second method to test"]
    tested = sum(len(test.lines) - 1 for test in tests)
    worse = sum(test.worse(line) for test in tests for line in test.lines)
    baseline = f" besides {BASELINE}" * any(map(comparisons.is_baseline, comparisons.lines))
    error = float(tests[0].means.min()) if len(tests) == 1 else math.inf
    power = detectable_text([test.detectable for test in tests], error)
    legend += [
        f"significance: * {STAR} ({RULE}): {worse} of {tested}{baseline}"
        f"{'; no significant difference from the others' * (worse < tested)}",
        f"power: {SAME if all(test.same for test in tests) else power}",
        caution(min(len(test.splits) for test in tests), FEW_SPLITS),
    ]
    left_out = [
        f"{line.dataset}: {comparisons.label(line)} is not compared ({reason})"
        for test in tests
        for line, reason in test.left_out.items()
    ]
    weak = list(filter(None, map(comparisons.not_above_baseline, datasets)))
    return [*filter(None, legend), *some(left_out, "methods"), *some(weak, "data sets")]


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
