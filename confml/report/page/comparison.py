"""The page of several runs: ranks, paired differences, and the results that cannot be compared."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from confml.errors import ConfmlError
from confml.report.answers.answer import Answer
from confml.report.answers.datasets import first_means, ranking_of
from confml.report.answers.evidence import evidence_of
from confml.report.answers.standings import Standings
from confml.report.answers.text import listed
from confml.report.files import write_file
from confml.report.forms.page_table import PageTable
from confml.report.page.about_run import Citation, citations, manifest_of
from confml.report.page.headline import answer_of, answer_table, question
from confml.report.page.material import Material, ViewData
from confml.report.page.render import render
from confml.report.page.result_parts import interval_text, p_text
from confml.report.page.run_page import RankPart, dataset_parts, glossary, rank_part
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.run.stored import open_run
from confml.report.tables import certified, rejection_curves, timings, tuning
from confml.report.write import read_tables
from confml.runner.manifest import manifest_path

TABLES = (timings.TABLE, tuning.TABLE, rejection_curves.TABLE, certified.SPLITS, certified.TABLE)


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
    names = run_names(folders, [one.config.name for one in opened])
    material = [
        _material(one, folder, name) for one, folder, name in zip(opened, folders, names, strict=True)
    ]
    manifests = [manifest_of(folder) for folder in folders]
    standings = Standings([(one.run, one.results) for one in material])
    whole = answer_of(material, standings)
    found, sentences = whole.found, whole.sentences
    ranks, reasons = rank_runs(material)
    cited: dict[str, Citation] = {one.text: one for run in opened for one in citations(run)}
    content = {
        "summary": answer_table(found, whole.aim),
        "ranks": ranks,
        "pairs": same_methods(material, standings),
        "settings": settings_table(names, manifests),
        "parts": dataset_parts(material, standings, found),
        "runs": runs_table(names, manifests),
    }
    page = render(
        "comparison.html",
        name=f"Comparison of {listed(names)}",
        cells=f"{len(names)} runs: {listed(names, 12)}.",
        question=question(material, found),
        headline=sentences,
        banner=whole.banner,
        causes=whole.failures,
        incomparable=[*reasons, *incomparable(material, found)],
        citations=list(cited.values()),
        glossary=glossary(content),
        **content,
    )
    return page, sentences


def run_names(folders: Sequence[Path], names: Sequence[str]) -> list[str]:
    """Return a name for each run: that of its config, or of its folder where two have the same."""
    if len(set(names)) == len(names):
        return list(names)
    ends = [folder.resolve().name for folder in folders]
    if len(set(ends)) == len(ends):
        return ends
    return [f"{name} ({place})" for place, name in enumerate(names, start=1)]


def _material(results: RunResults, folder: Path, name: str) -> Material:
    report = Report(results, folder)
    read_tables(report, [table for table in TABLES if table.applies(results)], [evidence_of])
    return Material(report, name)


# ---- ranks


def rank_runs(material: Sequence[Material]) -> tuple[list[RankPart], list[str]]:
    """Return the ranks of the methods over the data sets of all runs, and why there are none.

    Methods of two runs on the same data set are ranked separately; otherwise a method has one rank over the
    data sets of all runs.
    """
    parts, reasons = [], []
    for metric in ("error", "augrc"):
        means = _means(material, metric)
        labels = list(dict.fromkeys(label for _, label in means))
        names = list(dict.fromkeys(dataset for dataset, _ in means))
        found = ranking_of(metric, means, (labels, names), False)
        if found is None:
            reasons.append(
                f"Ranks by {metric} need two methods with results on the same two data sets, each without "
                "results on at most a fifth of them."
            )
        else:
            parts.append(rank_part(found))
    return parts, reasons


def _means(material: Sequence[Material], metric: str) -> dict[tuple[str, str], float]:
    """Return the mean of a metric of each method's first view by data set and label."""
    found: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for one in material:
        for key, mean in first_means(one.results, metric).items():
            found.setdefault(key, []).append((one.run, mean))
    if all(len(values) == 1 for values in found.values()):
        return {key: values[0][1] for key, values in found.items()}
    return {
        (dataset, f"{label}, {run}"): mean
        for (dataset, label), values in found.items()
        for run, mean in values
    }


# ---- paired differences


def same_methods(material: Sequence[Material], standings: Standings) -> PageTable:
    """Return the differences of equal methods between two runs, on their common splits."""
    table = PageTable(
        "pairs",
        "Equal methods of two runs: difference of their errors on the same test examples.",
        ["data set", "method", "first run", "second run", "first (%)", "second (%)",
         "first - second (points)", "95 % interval", "p", "p (Holm)", "splits"],
        heads=2,
        note="t test of the rows over the common splits of all methods of a data set. Intervals are those of "
        "each pair; p (Holm) is corrected over all pairs of methods and views of the data set, of both runs.",
        file="the output of confml compare",
    )  # fmt: skip
    rows = []
    for place, first in enumerate(material):
        for second in material[place + 1 :]:
            for ours in first.views.values():
                theirs = second.views.get(ours.key)
                if theirs is not None and first.results is not second.results:
                    lines = first.line(ours), second.line(theirs)
                    found, family = standings.pair(*lines), standings.family(ours.dataset)
                    if found is not None and family is not None:
                        rows.append((ours, theirs, found, family.corrected(*lines)))
    for ours, theirs, found, corrected in rows:
        errors = [float(np.mean(list(view.errors.values()))) for view in (ours, theirs)]
        table.add(
            ours.dataset,
            _plain_label(ours),
            *(ours.run, theirs.run),
            *errors,
            found.difference,
            interval_text(found),
            p_text(found.p_value),
            p_text(corrected),
            found.splits,
        )
    return table


def _plain_label(view: ViewData) -> str:
    return view.label.removesuffix(f" ({view.run})").replace(f", {view.run})", ")")


# ---- results that cannot be compared


def incomparable(material: Sequence[Material], found: Sequence[Answer]) -> list[str]:
    """Return a sentence for each group of results that are not compared, with the reason."""
    sentences = []
    runs_of: dict[str, list[str]] = {}
    checksums: dict[str, set[str]] = {}
    for one in material:
        for name in one.datasets:
            runs_of.setdefault(name, []).append(one.run)
            info = one.results.datasets.get(name)
            if info is not None and info.checksum:
                checksums.setdefault(name, set()).add(info.checksum)
    for name, runs in runs_of.items():
        if len(runs) < len(material):
            sentences.append(
                f"{name} is in {listed(runs)} only, so nothing is compared there with other runs."
            )
        if len(checksums.get(name, ())) > 1:
            sentences.append(f"{name} has different contents in the runs (its checksums differ).")
    for answer in found:
        if answer.so_far:
            sentences.append(answer.so_far)
        elif answer.not_compared:
            sentences.append(
                f"{answer.dataset}: {answer.best} is not compared with {answer.not_compared}. Means over "
                "different test examples are shown side by side without a test."
            )
    return sentences


def settings_table(names: Sequence[str], manifests: Sequence[Mapping[str, Any]]) -> PageTable:
    """Return the settings of the configs in which the runs differ."""
    configs = [dict(one.get("config", {})) for one in manifests]
    keys = dict.fromkeys(key for config in configs for key in config if key not in ("name", "about"))
    table = PageTable("settings", "Settings in which the runs differ.", ["key", *names], sortable=False)
    for key in keys:
        texts = [json.dumps(config.get(key), ensure_ascii=False, sort_keys=True) for config in configs]
        if len(set(texts)) > 1:
            table.add(
                key, *(text if len(text) < 400 else text[:399] + "\N{HORIZONTAL ELLIPSIS}" for text in texts)
            )
    return table


def runs_table(names: Sequence[str], manifests: Sequence[Mapping[str, Any]]) -> PageTable:
    """Return version, commit, machine and times of each run."""
    table = PageTable("runs-table", "The runs.", ["run", "confml", "commit", "seed", "started", "processor"])
    for name, manifest in zip(names, manifests, strict=True):
        found = manifest.get("provenance", {})
        values = (found.get("confml"), (found.get("git") or "")[:12], manifest.get("seed"))
        table.add(name, *values, manifest.get("started"), found.get("machine", {}).get("processor"))
    return table
