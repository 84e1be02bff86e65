"""The answer on a page: sentences at its top, and the table over the data sets."""

import math
from collections.abc import Sequence

from confml.methods import BASELINE
from confml.report.answers.advice import aim_of
from confml.report.answers.answer import Answer, RunAnswer, answer, run_answer
from confml.report.answers.standings import Standings
from confml.report.answers.text import listed, points
from confml.report.answers.thresholds import decided, observed_shares
from confml.report.forms.page_table import PageTable
from confml.report.page.material import Material
from confml.report.tables.certified_jointly import ALL

CURVES, JOINTLY = "rejection-curves.csv", "certified-jointly.csv"
DASH = "\N{EN DASH}"


def answer_of(material: Sequence[Material], standings: Standings) -> RunAnswer:
    """Return the answer of the runs, for the aim of the first one. standings: of all runs of the material."""
    aim, found = aim_of(standings.results.config), []
    for name in dict.fromkeys(name for one in material for name in one.datasets):
        labels = {view.key: view.label for one in material for view in one.of_dataset(name)}
        observed, joint = {}, []
        for one in material:
            own = {view.key: view.label for view in one.of_dataset(name)}
            shares = observed_shares(one.report.dicts(CURVES, dataset=name))
            observed.update({own[key]: share for key, share in shares.items() if key in own})
            # The best of several runs has no guarantee.
            if len(material) == 1 and not one.results.has_groups(name):
                joint += one.report.dicts(JOINTLY, dataset=name, scope=ALL)
        missing = [label for one in material for label in one.missing(name)]
        new = answer(standings, name, decided(observed, joint, labels), missing, aim)
        found += [] if new is None else [new]
    return run_answer(standings, found, [name for one in material for name in one.datasets], aim)


def best_first(material: Sequence[Material], dataset: str) -> list[str]:
    """Return the labels of all views of a data set by AUGRC, smallest first."""
    areas = {}
    for one in material:
        labels = {view.key: view.label for view in one.of_dataset(dataset)}
        for row in one.results.summary:
            key = (row.dataset, row.method, row.variant, row.view)
            if row.metric == "augrc" and key in labels and not math.isnan(row.mean):
                areas[labels[key]] = row.mean
    return sorted(areas, key=lambda label: areas[label])


def question(material: Sequence[Material], found: Sequence[Answer]) -> str:
    """Return the question that a run answers."""
    methods = {
        (one.run, cell.method, cell.variant)
        for one in material
        for cell in one.cells
        if cell.method != BASELINE
    }
    names = list(dict.fromkeys(name for one in material for name in one.datasets))
    where = names[0] if len(names) == 1 else f"{len(names)} data sets ({listed(names, 5)})"
    if len(methods) == 1:
        return (
            f"How many errors does one method make on {where}, and which of its predictions can be trusted?"
        )
    which = f"Which of {len(methods)} methods has the lowest error"
    return f"{which} on {where}, and which of their predictions can be trusted?"


def answer_table(found: Sequence[Answer], aim: str = "error") -> PageTable:
    """Return one row per data set: best method, those not shown to differ, and accepted predictions."""
    of_error = aim == "error"
    best = ["lowest error", "error (%)"] if of_error else ["advice", "value"]
    table = PageTable(
        "answer-table",
        "Method with the lowest mean error on each data set." if of_error else "Advice for each data set.",
        ["data set", *best, "not shown to differ", "fastest of these",
         "certified at 1 % risk (%)", "chosen on test rows (%)", "chosen method"],
        note="Tests: 5 %, Holm's correction over all pairs. Certified: best threshold of all methods, "
        "certified together, 0 for splits without one. Chosen on test rows: new rows have a higher risk.",
    )  # fmt: skip
    for one in found:
        if one.so_far:
            table.add(one.dataset, f"so far {one.progress.text}", *[""] * 6)
            continue
        certified, advice = one.decided.certified, one.advice
        table.add(
            one.dataset,
            one.lowest if of_error else advice.best or DASH,
            points(one.error) if of_error else advice.value or DASH,
            _alike(one) if of_error else listed(advice.alike, 3) or DASH,
            advice.fastest or DASH,
            DASH if certified is None else certified,
            one.decided.observed,
            one.decided.observed_label,
        )
    return table


def _alike(one: Answer) -> str:
    """Return the methods that are not shown to differ from the best one, or why none was compared."""
    if not one.compared:
        return f"not compared: {one.not_compared}" if one.not_compared else DASH
    return f"{len(one.alike)} of {len(one.compared)}" + (f": {listed(one.alike, 3)}" if one.alike else "")
