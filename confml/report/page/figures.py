"""`page_figure`: a figure that the run has drawn, as SVG inside of the page."""

import re
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup, escape

from confml.report.report import Picture

MOST_BYTES = 500_000  # of one figure; larger ones are links
PIXELS = 1.5  # per point: the texts of 7 and 8 points have 10 to 12 pixels


class PageFigure(NamedTuple):
    """A figure of the page. svg: the drawing, or None for a link to the file alone."""

    path: str
    title: str
    caption: str
    svg: Markup | None


def page_figure(picture: Picture, folder: Path, inline: bool = True) -> PageFigure:
    """Return a figure of a run. folder: of the run. inline: whether the page shows the drawing itself."""
    path = f"{picture.path}.svg"
    text = (folder / path).read_text(encoding="utf-8") if inline else ""
    shown = inline and len(text) <= MOST_BYTES
    prefix = Path(picture.path).name
    svg = inline_svg(text, prefix, picture.title) if shown else None
    return PageFigure(path, picture.title, picture.caption, svg)


def inline_svg(text: str, prefix: str, title: str) -> Markup:
    """Return matplotlib's SVG as an element of a page.

    Its identifiers get a prefix, so that those of two figures differ. XML head, metadata and style sheet are
    left out; the style of lines, which holds for the whole figure, is an attribute.
    """
    text = re.sub(r"<metadata>.*?</metadata>\s*|<style[^>]*>.*?</style>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{prefix}.', text)
    text = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}.", text)
    width, height = (float(value) for value in re.findall(r'(?:width|height)="([0-9.]+)pt"', text)[:2])
    body = text[text.index(">", text.index("<svg")) + 1 :]
    return Markup(
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}" '
        f'style="width:{PIXELS * width:.0f}px;stroke-linejoin:round;stroke-linecap:butt">{body}'
    )
