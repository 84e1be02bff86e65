"""``report.html``: the page of a run, without any other file."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from confml.data.text_table import counted
from confml.errors import ConfmlError
from confml.published import known_tables
from confml.report.answers.advice import unpromised, usual_level
from confml.report.answers.answer import RunAnswer
from confml.report.answers.comparisons import Comparisons, comparisons_of
from confml.report.answers.datasets import ranking
from confml.report.captions import protocol_text, setting_text
from confml.report.files import safe_names
from confml.report.forms.matrix import run_matrix
from confml.report.page.drawings import drawing_of
from confml.report.page.tables import results_table
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.shown_table import to_html

FIGURES, WITH_FIGURES = 3, 12
"""Figures of a data set on the page, and data sets with figures; the others are links."""


def run_page(report: Report, answer: RunAnswer, files: Sequence[tuple[str, str]]) -> str:
    """Return the page of a run as HTML; every text is escaped.

    files: paths and contents of the files that the page links to.
    """
    run, comparisons = report.run, comparisons_of(report.run)
    ranks, level = ranking(run, "error"), usual_level(run.config.levels)
    headline, limits = _headline(answer)
    if level is not None and comparisons.lines:
        limits = [*limits, *filter(None, [unpromised(comparisons, level)])]
    tables = [table for name, table in report.shown.items() if name in known_tables()]
    summary = None if ranks is None else run_matrix(run, ranks)
    if summary is not None:  # without the notes that are sentences of the answer
        notes = [note for note in summary.notes if note not in " ".join(headline)]
        summary = replace(summary, notes=notes)
    return page_template().render(
        banner=answer.state,
        failures=answer.failures,
        headline=headline,
        summary=summary,
        limits=[*limits, *(note.removeprefix("warning: ") for note in report.notes)],
        name=run.config.name,
        about=" ".join((run.config.about or "").split()),
        cells=f"{run.done} of {len(run.cells)} fits finished, {len(run.failures)} failed. "
        f"Protocol: {protocol_text(run.config.protocol)}.",
        figures=[drawing_of(picture, report.folder) for picture in report.pictures if not picture.dataset],
        datasets=dataset_parts(report, comparisons, answer),
        sections=[{"id": "published", "title": "Published numbers", "tables": tables}] if tables else [],
        files=files,
        origin=origin(report.folder),
    )


def _headline(answer: RunAnswer) -> tuple[list[str], list[str]]:
    """Return the advice with its power and guarantee, and the sentences that qualify it."""
    advice = answer.overall or (answer.answers[0].advice if len(answer.answers) == 1 else None)
    sentences = list(answer.sentences)
    if advice is None or advice.recommended is None:
        return sentences[:3], sentences[3:]
    headline = [text for text in (advice.head, advice.power, advice.guarantee) if text]
    return headline, [text for text in sentences if text not in (advice.head, advice.rest)]


def dataset_parts(report: Report, comparisons: Comparisons, answer: RunAnswer) -> list[dict[str, Any]]:
    """Return name, facts, table and figures of each data set."""
    run, answered = report.run, {of_dataset.dataset for of_dataset in answer.answers}
    datasets = [
        dataset for dataset in dict.fromkeys(cell.dataset for cell in run.cells) if dataset in answered
    ]
    names, explained, parts = safe_names(datasets), set(), []
    for index, dataset in enumerate(datasets):
        drawings = []
        pictures = [picture for picture in report.pictures if picture.dataset == dataset]
        for number, picture in enumerate(pictures):
            drawing = drawing_of(picture, report.folder, number < FIGURES and index < WITH_FIGURES)
            kind = picture.title.partition(" of ")[0]
            caption = "" if kind in explained else drawing.caption
            explained.add(kind)
            caption = caption.removesuffix(setting_text(run, dataset)).strip()
            drawings.append(drawing._replace(title=kind, caption=caption))
        parts.append(
            {
                "id": f"set-{names[dataset]}",
                "name": dataset,
                "facts": facts(run, dataset, " ".join(report.notes)),
                "table": results_table(report, comparisons, dataset),
                "figures": drawings,
            }
        )
    return parts


def facts(run: RunResults, dataset: str, notes: str) -> str:
    """Return size and audit of a data set as sentences. notes: with findings that the page has elsewhere."""
    info = run.datasets.get(dataset)
    if info is None:
        return ""
    parts = "" if info.train_rows is None else f", parts of {info.train_rows} and {info.test_rows} rows"
    text = f"{info.rows} rows, {counted(info.attributes, 'feature')}, {info.classes} classes{parts}."
    findings = [finding["sentence"] for finding in info.audit if finding["sentence"] not in notes]
    return f"{text} Audit: {'; '.join(findings)}." if findings else text


def origin(folder: Path) -> list[str]:
    """Return software, machine, seed, time and command of a run as a sentence; none without a manifest."""
    from confml.runner.manifest import read_manifest

    try:
        manifest = read_manifest(folder)
    except ConfmlError:
        return []
    source = manifest.get("provenance")
    if not source:
        return []
    machine = source.get("machine", {})
    commit = f", commit {source['git'][:12]}" if source.get("git") else ""
    seconds = f"; {manifest['seconds']:.1f} s, {manifest.get('jobs')} jobs" if manifest.get("seconds") else ""
    command = f" Command: {' '.join(map(str, source['command']))}." if source.get("command") else ""
    return [
        f"confml {source.get('confml')}{commit}, Python {source.get('python')}, "
        f"{machine.get('processor', 'unknown processor')}; seed {manifest.get('seed')}; "
        f"started {manifest.get('started')}{seconds}.{command}"
    ]


# ---- the template


@functools.cache
def page_template():
    """Return the compiled template, with style and script inside of it."""
    from jinja2 import Environment, StrictUndefined

    def source(name: str) -> str:
        return resources.files("confml.report.page").joinpath(name).read_text(encoding="utf-8")

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {"style": Markup(source("page.css")), "script": Markup(source("page.js"))}
    environment.filters["text"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    environment.filters["html"] = lambda table, identifier: Markup(to_html(table, identifier))
    return environment.from_string(source("page.html"))
