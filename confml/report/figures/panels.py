"""`Panels`: a figure of several panels in rows, with one title and one legend."""

from __future__ import annotations

from collections.abc import Sequence

from confml.report.figures.style import COLUMN, PAGE, legend_below, new_figure, panel_columns


class Panels:
    """A figure with ``count`` panels in rows of at most three.

    widths: of the figure in inches for one, two and three columns; fewer widths allow fewer columns. height:
    of a row; top: of the title. share: ``sharex`` and ``sharey`` of matplotlib's ``subplots``.

    figure: matplotlib's figure. axes: of the panels, row by row. handles: of the legend by label.
    """

    def __init__(
        self,
        count: int,
        *,
        height: float,
        top: float = 0.3,
        widths: Sequence[float] = (COLUMN, PAGE * 0.75, PAGE),
        **share: bool,
    ):
        self.columns = min(panel_columns(count), len(widths))
        rows = -(-count // self.columns)
        self.figure = new_figure(widths[self.columns - 1], top + height * rows)
        grid = list(self.figure.subplots(rows, self.columns, squeeze=False, **share).flat)
        self.axes = grid[:count]
        for unused in grid[count:]:
            unused.set_visible(False)
        self.handles: dict[str, object] = {}

    def label_x(self, text: str) -> None:
        """Label the horizontal axis of the lowest panel of each column."""
        for axes in self.axes[-self.columns :]:
            axes.set_xlabel(text)
            axes.tick_params(labelbottom=True)

    def label_y(self, text: str) -> None:
        """Label the vertical axis of the first panel of each row."""
        for axes in self.axes[:: self.columns]:
            axes.set_ylabel(text)

    def finish(self, title: str, y_label: str | None = None, **legend):
        """Add the title, one vertical label for all panels, and the legend; return the figure.

        legend: options of matplotlib's legend.
        """
        self.figure.suptitle(title, x=0.01, ha="left", fontsize=8)
        if y_label is not None:
            self.figure.supylabel(y_label, fontsize=8)
        legend_below(self.figure, list(self.handles.values()), list(self.handles), **legend)
        return self.figure
