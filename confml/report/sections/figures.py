"""The figures that a config names: ``figures/``."""

from collections.abc import Iterator

from confml.report.figures import figure_numbers, pictures
from confml.report.items import Item
from confml.report.sections.base import Section


class Figures(Section):
    """The config's figures of every data set as SVG and PNG, and ``figures/index.md`` with captions.

    A note names each figure that cannot be drawn, with the reason.
    """

    name = "figures"
    place = 180
    needs = "figures: [...] in the config"
    setting = "figures"
    files = {"figures": "figures as SVG and in the figure-formats of the config; index.md has their captions"}

    def start(self) -> None:
        self.collectors = figure_numbers(self.results)

    def items(self) -> Iterator[Item]:
        found = list(pictures(self.results))
        for number, picture in enumerate(found, start=1):
            self.results.status(f"drawing {number} of {len(found)} figures")
            yield picture
