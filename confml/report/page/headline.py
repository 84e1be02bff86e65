"""The answer on a page: sentences at its top, and the table over the data sets."""

from __future__ import annotations

import math
from collections.abc import Sequence

from confml.report.answers.answer import Answer, answer
from confml.report.answers.standings import Standings
from confml.report.answers.text import detectable_text, listed, percent, points
from confml.report.answers.thresholds import decided, observed_shares
from confml.report.numbers.joint_paths import ALL
from confml.report.page.material import Material
from confml.report.page.result_parts import interval_text
from confml.report.sections.certified import group_columns
from confml.report.sections.certified_jointly import JOINTLY
from confml.report.sections.rejection import CURVES
from confml.report.tables.page_table import PageTable, fixed


def answers(material: Sequence[Material], standings: Standings) -> list[Answer]:
    """Return the answer for every data set with results, in order. standings: of all runs of the material."""
    found = []
    for name in dict.fromkeys(name for one in material for name in one.datasets):
        labels = {view.key: view.label for one in material for view in one.of_dataset(name)}
        observed, joint = {}, []
        for one in material:
            own = {view.key: view.label for view in one.of_dataset(name)}
            shares = observed_shares(one.rows_of(CURVES, name))
            observed.update({own[key]: share for key, share in shares.items() if key in own})
            # The best of several runs has no guarantee.
            if len(material) == 1 and name not in group_columns(one.results):
                joint += [row for row in one.rows_of(JOINTLY, name) if row["scope"] == ALL]
        missing = [label for one in material for label in one.missing(name)]
        new = answer(standings, name, decided(observed, joint, labels), missing)
        found += [] if new is None else [new]
    return found


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


def sentences(one: Answer) -> list[str]:
    """Return the answer for one data set as sentences; only what is missing before all cells are done."""
    if one.so_far:
        return [one.so_far]
    advice = [one.advice.sentence] if one.compared and (one.alike or one.advice.best is None) else []
    return [one.sentence, *advice, one.decided.sentence]


def question(material: Sequence[Material], found: Sequence[Answer]) -> str:
    """Return the question that a run answers."""
    methods = {(one.run, cell.method, cell.variant) for one in material for cell in one.cells}
    names = list(dict.fromkeys(name for one in material for name in one.datasets))
    where = names[0] if len(names) == 1 else f"{len(names)} data sets ({listed(names, 5)})"
    if len(methods) == 1:
        return (
            f"How many errors does one method make on {where}, and which of its predictions can be trusted?"
        )
    which = f"Which of {len(methods)} methods has the lowest error"
    return f"{which} on {where}, and which of their predictions can be trusted?"


def headline(found: Sequence[Answer], planned: Sequence[str] = ()) -> list[str]:
    """Return the answer in two sentences; for several data sets a count over them.

    planned: names of all data sets; those without results are named first.
    """
    if not found:
        return ["No cell is done yet, so there is no answer."]
    empty = list(dict.fromkeys(name for name in planned if name not in {one.dataset for one in found}))
    first = [f"There are no results on {listed(empty)}."] if empty else []
    if len(found) == 1:
        return [*first, *sentences(found[0])]
    whole = [one for one in found if not one.so_far]
    if len(whole) < len(found):
        open_ones = listed([f"{one.dataset} ({one.progress.text})" for one in found if one.so_far])
        first.append(
            f"So far {len(whole)} of {len(found) + len(empty)} data sets are complete; no method is compared "
            f"on {open_ones}."
        )
    if not whole:
        return first
    return [*first, _lowest(whole), _accepted(whole)]


def _lowest(found: Sequence[Answer]) -> str:
    """Return where each method has the lowest error, and how often all others are shown to be worse."""
    wins: dict[str, list[str]] = {}
    for one in found:
        wins.setdefault(one.lowest, []).append(f"{one.dataset} ({points(one.error)} %)")
    order = sorted(wins, key=lambda label: -len(wins[label]))
    best = "; ".join(f"{label} on {listed(wins[label])}" for label in order[:4])
    rest = f"; {len(order) - 4} other methods on the other data sets" if len(order) > 4 else ""
    tested = [one for one in found if one.compared]
    if not tested:
        return f"Errors: {best}{rest}; nothing to compare with."
    clear = sum(not one.alike for one in tested)
    return (
        f"Lowest error: {best}{rest}. On {clear} of {len(tested)} data sets all other methods are shown to "
        f"be worse (5 %, Holm over all pairs); {detectable_text([one.detectable for one in tested])}."
    )


def _accepted(found: Sequence[Answer]) -> str:
    """Return the range of certified shares, or that of shares chosen on the test rows."""
    certified = [one.decided for one in found if one.decided.certified is not None]
    if certified and any(one.certified for one in certified):
        shares = sorted(one.certified or 0.0 for one in certified)
        return (
            f"Certified thresholds accept between {percent(shares[0], 0)} and {percent(shares[-1], 0)} of "
            "new predictions at a risk of at most 1 %, depending on the data set."
        )
    shares = sorted(one.decided.observed for one in found)
    none = "No threshold is certified for a risk of at most 1 %. " if certified else ""
    return (
        f"{none}Between {percent(shares[0], 0)} and {percent(shares[-1], 0)} of the test predictions of a "
        "method have an observed risk of at most 1 %; method and threshold were chosen on these rows, so "
        "expect a higher risk."
    )


def answer_table(found: Sequence[Answer]) -> PageTable:
    """Return one row per data set: best method, the next one, and the predictions that can be accepted."""
    table = PageTable(
        "answer-table",
        "Method with the lowest mean error on each data set.",
        ["data set", "lowest error", "error (%)", "next", "difference (points)", "95 % interval",
         "not shown to differ", "certified at 1 % risk (%)", "certified method", "chosen on test rows (%)",
         "chosen method"],
        note="Intervals are simultaneous for all pairs of a data set. Not shown to differ: methods whose "
        "error is not shown to be above the lowest (5 %, Holm over all pairs). Certified: mean coverage on "
        "new examples of the best threshold of all methods, certified together, 0 for splits without one. Chosen on test rows: "
        "largest coverage of a method with an observed risk of at most 1 %; new rows have a higher risk.",
    )  # fmt: skip
    for one in found:
        if one.so_far:
            table.add(one.dataset, f"so far {one.progress.text}", *[""] * 9)
            continue
        first = one.compared[0] if one.compared else None
        gap = first.difference if first else None
        certified = one.decided.certified
        table.add(
            one.dataset,
            one.lowest,
            points(one.error),
            first.label if first else "",
            fixed(gap.difference, 2, 100) if gap else "",
            interval_text(gap, one.pairs) if gap else "",
            _alike(one),
            "\N{EN DASH}" if certified is None else fixed(certified, 0, 100),
            one.decided.certified_label if certified else "",
            fixed(one.decided.observed, 0, 100),
            one.decided.observed_label,
        )
    return table


def _alike(one: Answer) -> str:
    """Return the methods that are not shown to differ from the best one, or why none was compared."""
    if not one.compared:
        return f"not compared: {one.not_compared}" if one.not_compared else "\N{EN DASH}"
    return f"{len(one.alike)} of {len(one.compared)}" + (f": {listed(one.alike, 3)}" if one.alike else "")
