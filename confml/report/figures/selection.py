"""Share of a batch that is selected, against the rate of errors among the selected rows."""

import numpy as np

from confml.measures.selected import ACCEPTED, CERTAIN
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import COLUMN, PAGE, PALETTE, Panels
from confml.report.sections.certified import is_certifiable
from confml.report.sections.selection import selections_of

RATES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
VIEWS = 8


def draw(subject: Subject):
    rates = sorted({*RATES, *map(float, getattr(subject.results.config, "selection", ()))})
    shown, title = subject.some_of(subject.variants, VIEWS)
    panels = Panels(2, height=2.4, widths=(COLUMN, PAGE), sharey=True)
    for number, (name, variant) in enumerate(shown.items()):
        found: dict[str, list[list[float]]] = {}
        for rate in rates:
            at: dict[str, list[float]] = {}
            for cell in variant.cells:
                result = subject.results.results[cell.key]
                if not is_certifiable(result.views[variant.view]):
                    continue
                for kind, one in selections_of(result, variant.view, rate):
                    at.setdefault(kind, []).append(one.selected)
                    if one.certified is not None:
                        at.setdefault("certified", []).append(one.certified)
            for kind, values in at.items():
                found.setdefault(kind, []).append([100 * rate, 100 * float(np.mean(values))])
        colour = PALETTE[number % len(PALETTE)]
        for place, kind, dash in ((0, CERTAIN, "-"), (1, ACCEPTED, "-"), (1, "certified", "--")):
            if kind in found:
                (line,) = panels.axes[place].plot(*np.array(found[kind]).T, dash, color=colour, linewidth=1)
                panels.handles.setdefault(name, line)
    if not panels.handles:
        raise NotApplicable("no view has predictions of one classifier")
    panels.axes[0].set_title("certain rows (false coverage rate)", loc="left", fontsize=7)
    panels.axes[1].set_title("accepted predictions (false discovery rate)", loc="left", fontsize=7)
    panels.label_x("bound on the errors among the selected (%)")
    return panels.finish(title, "share of the batch selected (%)")


FIGURE = Figure(
    name="selection",
    about="share of a batch that is certain or accepted, against the bound on the errors among these rows",
    draw=draw,
    caption="Mean share of the rows of a batch that are selected, against the bound on the expected share of "
    "errors among them. Left: certain rows of views with p-values; the batch is the test part. Right: "
    "accepted predictions of all views; the batch is one half of the test part, the other half has the "
    "labelled rows. Dashed: certified threshold for the same risk, whose bound holds with probability 95 %.",
)
