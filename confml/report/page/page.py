"""``report.html``: the page of one run, or of several, without any other file."""

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from confml.errors import ConfmlError
from confml.published import known_tables
from confml.report.answers.advice import unpromised, usual_level
from confml.report.answers.answer import Answer, RunAnswer, answer_of
from confml.report.answers.comparisons import Comparisons, comparisons_of
from confml.report.answers.datasets import ranking
from confml.report.answers.losses import losses_of
from confml.report.answers.text import listed
from confml.report.captions import protocol_text, setting_text
from confml.report.files import safe_names, write_file
from confml.report.forms.matrix import matrix_of_runs, run_matrix
from confml.report.page.drawings import drawing_of
from confml.report.page.tables import pairs_table, results_table, settings_table
from confml.report.report import Report
from confml.report.run.cells import with_details
from confml.report.run.results import RunResults
from confml.report.run.stored import open_run, run_names
from confml.report.shown_table import ShownTable, to_html
from confml.report.tables import certified, rejection_curves
from confml.report.write import read_tables
from confml.runner.manifest import manifest_path

FIGURES, WITH_FIGURES = 3, 12
"""Figures of a data set on the page, and data sets with figures; the others are links."""
OF_RUNS = (rejection_curves.TABLE, certified.TABLE)
"""Tables that the page of several runs reads."""


def run_page(report: Report, answer: RunAnswer, files: Sequence[tuple[str, str]]) -> str:
    """Return the page of one run as HTML.

    files: paths and contents of the files that the page links to.
    """
    run, comparisons = report.run, comparisons_of(report.run)
    ranks, level = ranking(run, "error"), usual_level(run.config.levels)
    limits = [note.removeprefix("warning: ") for note in report.notes]
    if level is not None and comparisons.lines:
        limits = [*filter(None, [unpromised(comparisons, level)]), *limits]
    tables = [table for name, table in report.shown.items() if name in known_tables()]
    return page_of(
        {"": report},
        comparisons,
        answer,
        None if ranks is None else run_matrix(run, ranks),
        limits,
        name=run.config.name,
        about=" ".join((run.config.about or "").split()),
        cells=f"{run.done} of {len(run.cells)} fits finished, {len(run.failures)} failed. "
        f"Protocol: {protocol_text(run.config.protocol)}.",
        figures=[drawing_of(picture, report.folder) for picture in report.pictures if not picture.dataset],
        sections=[{"id": "published", "title": "Published numbers", "tables": tables}] if tables else [],
        files=files,
        origin=origin(manifest_of(report.folder)),
    )


def page_of(
    reports: Mapping[str, Report],
    comparisons: Comparisons,
    answer: RunAnswer,
    summary: ShownTable | None,
    limits: Sequence[str],
    **content: Any,
) -> str:
    """Return the page of one run, or of several; every text is escaped.

    summary: the first table. limits: sentences on the answer, besides its own. content: the other parts of
    the template.
    """
    headline, rest = _headline(answer)
    if summary is not None:  # without the notes that are sentences of the answer
        notes = [note for note in summary.notes if note not in " ".join(headline)]
        summary = replace(summary, notes=notes)
    return page_template().render(
        banner=answer.state,
        failures=answer.failures,
        headline=headline,
        summary=summary,
        limits=[*rest, *limits],
        datasets=dataset_parts(reports, comparisons, answer),
        **{"about": "", "figures": [], "files": [], **content},
    )


def _headline(answer: RunAnswer) -> tuple[list[str], list[str]]:
    """Return the advice with its power and guarantee, and the sentences that qualify it."""
    advice = answer.overall or (answer.answers[0].advice if len(answer.answers) == 1 else None)
    sentences = list(answer.sentences)
    if advice is None or advice.recommended is None:
        return sentences[:3], sentences[3:]
    headline = [text for text in (advice.head, advice.power, advice.guarantee) if text]
    return headline, [text for text in sentences if text not in (advice.head, advice.rest)]


def dataset_parts(
    reports: Mapping[str, Report], comparisons: Comparisons, answer: RunAnswer
) -> list[dict[str, Any]]:
    """Return name, facts, table and figures of each data set.

    reports: by the name of the run in the comparisons.
    """
    planned = dict.fromkeys(cell.dataset for report in reports.values() for cell in report.run.cells)
    answered = {of_dataset.dataset for of_dataset in answer.answers}
    datasets = [dataset for dataset in planned if dataset in answered]
    names, explained, parts = safe_names(datasets), set(), []
    first = next(iter(reports.values()))
    for index, dataset in enumerate(datasets):
        drawings = []
        pictures = [picture for picture in first.pictures if picture.dataset == dataset]
        for number, picture in enumerate(pictures):
            drawing = drawing_of(picture, first.folder, number < FIGURES and index < WITH_FIGURES)
            kind = picture.title.partition(" of ")[0]
            caption = "" if kind in explained else drawing.caption
            explained.add(kind)
            caption = caption.removesuffix(setting_text(first.run, dataset)).strip()
            drawings.append(drawing._replace(title=kind, caption=caption))
        parts.append(
            {
                "id": f"set-{names[dataset]}",
                "name": dataset,
                "facts": facts(first.run, dataset, " ".join(first.notes)),
                "table": results_table(reports, comparisons, dataset, failed_cells(reports, dataset)),
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
    text = f"{info.rows} rows, {info.attributes} features, {info.classes} classes{parts}."
    findings = [finding["sentence"] for finding in info.audit or () if finding["sentence"] not in notes]
    return f"{text} Audit: {'; '.join(findings)}." if findings else text


def failed_cells(reports: Mapping[str, Report], dataset: str) -> Mapping[str, int]:
    """Return the number of failed cells on a data set by the label of the method."""
    return Counter(
        with_details(report.run.label(failure.cell), name)
        for name, report in reports.items()
        for failure in report.run.failures
        if failure.cell.dataset == dataset
    )


def manifest_of(folder: Path) -> Mapping[str, Any]:
    """Return the manifest of a run; empty if its folder has none."""
    from confml.runner.manifest import read_manifest

    try:
        return read_manifest(folder)
    except ConfmlError:
        return {}


def origin(manifest: Mapping[str, Any], name: str = "") -> list[str]:
    """Return software, machine, seed, time and command of a run as sentences. name: of the run."""
    source = manifest.get("provenance")
    if not source:
        return []
    machine = source.get("machine", {})
    commit = f", commit {source['git'][:12]}" if source.get("git") else ""
    seconds = f"; {manifest['seconds']:.1f} s, {manifest.get('jobs')} jobs" if manifest.get("seconds") else ""
    command = f" Command: {' '.join(map(str, source['command']))}." if source.get("command") else ""
    return [
        f"{name}{': ' if name else ''}confml {source.get('confml')}{commit}, Python {source.get('python')}, "
        f"{machine.get('processor', 'unknown processor')}; seed {manifest.get('seed')}; "
        f"started {manifest.get('started')}{seconds}.{command}"
    ]


# ---- several runs


def write_comparison_page(runs: Sequence[Path | str], folder: Path | str) -> tuple[Path, list[str]]:
    """Write ``report.html`` of several runs into a folder; return its path and the answer as sentences.

    Raises ConfmlError if the folder holds a run, whose own page it would replace.
    """
    folder = Path(folder)
    if manifest_path(folder).exists():
        raise ConfmlError(
            "this is the folder of a run", where=str(folder), hint="name another one with --out"
        )
    text, sentences = comparison_page(runs)
    return write_file(folder / "report.html", text), sentences


def comparison_page(runs: Sequence[Path | str]) -> tuple[str, list[str]]:
    """Return the page of several runs as HTML, and its answer as sentences."""
    folders = [Path(run) for run in runs]
    opened = [open_run(folder) for folder in folders]
    names = run_names(folders, [run.config.name for run in opened])
    reports = {name: Report(run, folder) for name, run, folder in zip(names, opened, folders, strict=True)}
    for report in reports.values():
        read_tables(report, [table for table in OF_RUNS if table.applies(report.run)], [losses_of])
    manifests = [manifest_of(folder) for folder in folders]
    comparisons = Comparisons([(name, report.run) for name, report in reports.items()])
    answer = answer_of(reports, comparisons)
    configs = [dict(manifest.get("config", {})) for manifest in manifests]
    tables = [pairs_table(comparisons), settings_table(names, configs)]
    tables = [table for table in tables if len(table.frame)]
    summary, limits = matrix_of_runs(comparisons), incomparable(reports, answer.answers)
    if summary is None:
        limits.insert(0, "There are no mean ranks: they need two methods on the same two data sets.")
    page = page_of(
        reports,
        comparisons,
        answer,
        summary,
        limits,
        name=f"Comparison of {listed(names)}",
        cells=f"{len(names)} runs: {listed(names, 12)}.",
        sections=[{"id": "runs", "title": "Differences of the runs", "tables": tables}] if tables else [],
        origin=[
            text for name, manifest in zip(names, manifests, strict=True) for text in origin(manifest, name)
        ],
    )
    return page, answer.sentences


def incomparable(reports: Mapping[str, Report], answers: Sequence[Answer]) -> list[str]:
    """Return a sentence for each group of results that are not compared, with the reason."""
    sentences = []
    datasets = {name: {cell.dataset for cell in report.run.cells} for name, report in reports.items()}
    for dataset in dict.fromkeys(
        cell.dataset for report in reports.values() for cell in report.run.ordered_cells
    ):
        runs = [name for name, of_run in datasets.items() if dataset in of_run]
        infos = [reports[name].run.datasets.get(dataset) for name in runs]
        if len(runs) < len(reports):
            sentences.append(
                f"{dataset} is in {listed(runs)} only, so nothing is compared there with other runs."
            )
        if len({info.checksum for info in infos if info is not None and info.checksum}) > 1:
            sentences.append(f"{dataset} has different contents in the runs (its checksums differ).")
    for answer in answers:
        if answer.so_far:
            sentences.append(answer.so_far)
        elif answer.not_compared:
            sentences.append(
                f"{answer.dataset}: {answer.best} is not compared with {answer.not_compared}. Means over "
                "different test examples are shown side by side without a test."
            )
    return sentences


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
