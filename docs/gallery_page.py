"""All kinds of figures, with pictures of real runs.

A kind is shown by a figure of ``results/reference``, or by those of ``make gallery`` (``results/gallery``) if
they have been drawn. The sentences for papers are in ``docs/gallery.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

FOLDER = "reference"  # of the page in the site
FIGURES = "figures"  # folder of the pictures, relative to the page

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
CONFIGS = ROOT / "configs" / "gallery"
SENTENCES = Path(__file__).with_name("gallery.yaml")

_INTRO = """# Figures

Every kind of figure of `figures:` in a config: the meaning, the options, a sentence for the text of a paper,
and figures of real runs. Each figure is written as SVG and PNG. `make gallery docs` draws all kinds, with
captions (some minutes, no download).
"""
_ENTRY = re.compile(
    r"^## (?P<kind>\S+) of (?P<data>.+)\n\n!\[[^\]]*\]\((?P<file>[^)]+)\)\n\n(?P<caption>.*)$", re.MULTILINE
)


class Drawn(NamedTuple):
    """A figure on disk. caption: its text, with the place that it is from. where: its path in the site."""

    kind: str
    path: Path
    caption: str
    where: str


def gallery_page(kinds: Mapping[str, list[str]]) -> str:
    """Return the figures as Markdown. kinds: lines on each kind of figure, by its name."""
    drawn = _drawn(kinds)
    entries, sentences = _entries(), yaml.safe_load(SENTENCES.read_text(encoding="utf-8"))
    lines = [_INTRO, *_thumbnails(sorted(kinds), drawn)]
    for kind in sorted(kinds):
        lines += [f"## {kind} {{#figure-{kind}}}", "", *kinds[kind]]
        lines += [f"In a config: `figures: [{entries[kind]}]`.", ""] if kind in entries else []
        lines += [f"In a paper: {sentences[kind]}", ""] if kind in sentences else []
        for figure in drawn.get(kind, ()):
            lines += [f"![{kind}]({FIGURES}/{figure.where})", "", figure.caption, ""]
    return "\n".join(lines)


def pictures(kinds: Iterable[str]) -> dict[str, Path]:
    """Return the pictures of the page by their paths in the site."""
    return {
        f"{FOLDER}/{FIGURES}/{figure.where}": figure.path
        for figures in _drawn(kinds).values()
        for figure in figures
    }


def _drawn(kinds: Iterable[str]) -> dict[str, list[Drawn]]:
    """Return the figures of each kind: those of the gallery, else a stored one."""
    stored = _of_reference(RESULTS / "reference", list(kinds))
    drawn: dict[str, list[Drawn]] = {}
    for figure in _of_gallery(RESULTS / "gallery"):
        drawn.setdefault(figure.kind, []).append(figure)
    return {kind: [figure] for kind, figure in stored.items()} | drawn


def _thumbnails(names: list[str], drawn: Mapping[str, list[Drawn]]) -> Iterator[str]:
    """Iterate over the lines of a block with one small picture for each kind, linked to its section."""
    yield '<div class="thumbnails" markdown>'
    for kind in filter(drawn.get, names):
        yield f"[![{kind}]({FIGURES}/{drawn[kind][0].where}) {kind}](#figure-{kind})"
    yield from ("</div>", "")


def _entries() -> dict[str, str]:
    """Return how the gallery's configs name each kind of figure, by kind."""
    found: dict[str, str] = {}
    for path in sorted(CONFIGS.glob("*.yaml")):
        for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["figures"]:
            kind = entry if isinstance(entry, str) else next(iter(entry))
            text = yaml.safe_dump(entry, default_flow_style=True, width=1000).partition("\n")[0]
            if kind not in found or found[kind] != kind:
                found[kind] = kind if isinstance(entry, str) else text
    return found


def _of_gallery(folder: Path) -> Iterator[Drawn]:
    """Iterate over the figures of ``make gallery``: for each kind and run, those of the first data set."""
    for index in sorted(folder.glob("*/figures/index.md")):
        run = index.parent.parent.name
        first: dict[str, str] = {}
        for entry in _ENTRY.finditer(index.read_text(encoding="utf-8")):
            if first.setdefault(entry["kind"], entry["data"]) == entry["data"]:
                path = index.parent / entry["file"]
                caption = f"{entry['caption']} From `configs/gallery/{run}.yaml`."
                yield Drawn(entry["kind"], path, caption, f"{run}/{path.name}")


def _of_reference(folder: Path, kinds: list[str]) -> dict[str, Drawn]:
    """Return the smallest stored figure of each kind; a file is named after its run, kind and data set."""
    found: dict[str, Drawn] = {}
    for path in sorted(folder.rglob("figures/*.svg"), key=lambda path: (path.stat().st_size, path.name)):
        name = f"-{path.stem.replace('_', '-')}-"
        kind = max((kind for kind in kinds if f"-{kind}-" in name), key=len, default=None)
        if kind is not None and kind not in found:
            place = path.relative_to(folder.parent.parent).as_posix()
            where = f"reference/{path.relative_to(folder).as_posix().replace('/', '-').replace('=', '-')}"
            found[kind] = Drawn(kind, path, f"From `{place}`.", where)
    return found
