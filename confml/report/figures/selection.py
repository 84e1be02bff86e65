"""Share of a batch that is selected, against the rate of errors among the selected rows."""

import numpy as np

from confml.measures.selected import ACCEPTED, CERTAIN
from confml.report.figures import Figure, NotApplicable, Subject
from confml.report.figures.style import BLACK, COLUMN, PAGE, Panels
from confml.report.numbers.selected_shares import CERTIFIED, SelectedShares

VIEWS = 8


def draw(subject: Subject):
    shown, title = subject.some_of(subject.numbers(SelectedShares), VIEWS)
    if not shown:
        raise NotApplicable("no view has predictions of one classifier")
    panels = Panels(2, height=2.4, widths=(COLUMN, PAGE), sharey=True)
    for name, one in shown.items():
        colour = subject.look(name)["color"]
        for place, kind, dash in ((0, CERTAIN, "-"), (1, ACCEPTED, "-"), (1, CERTIFIED, "--")):
            if kind in one.shares:
                shares = 100 * np.array(one.shares[kind])
                (line,) = panels.axes[place].plot(*shares.T, dash, color=colour, linewidth=1)
                panels.handles.setdefault(name, line)
    if any(CERTIFIED in one.shares for one in shown.values()):
        (panels.handles["certified threshold"],) = panels.axes[1].plot([], "--", color=BLACK, linewidth=1)
    panels.axes[0].set_title("certain rows (false coverage rate)", loc="left", fontsize=7)
    panels.axes[1].set_title("accepted predictions (false discovery rate)", loc="left", fontsize=7)
    panels.label_x("bound on the errors among the selected (%)")
    return panels.finish(title, "share of the batch selected (%)")


FIGURE = Figure(
    name="selection",
    about="share of a batch that is certain or accepted, against the bound on the errors among these rows",
    draw=draw,
    numbers=(SelectedShares,),
    caption="Mean share of the rows of a batch that are selected, against the bound on the expected share of "
    "errors among them. Left: certain rows of views with p-values; the batch is the test part. Right: "
    "accepted predictions of all views; the batch is one half of the test part, the other half has the "
    "labelled rows. Dashed: certified threshold for the same risk, whose bound holds with probability 95 %.",
)
