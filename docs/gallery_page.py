"""The page of all kinds of figures, with pictures of real runs.

The pictures are those of ``make gallery`` (``results/gallery``), which are not part of the repository. For a
kind that has not been drawn, the page shows a figure of ``results/reference``, or names the command. The
sentences for papers are in ``docs/gallery.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

FIGURES = "gallery-figures"  # folder of the pictures in the site

CONFIGS = Path(__file__).parents[1] / "configs" / "gallery"
SENTENCES = Path(__file__).with_name("gallery.yaml")

_INTRO = """# Gallery

Every kind of figure of `figures:` in a config, from real runs: the meaning, the entry in a config, a sentence
for the text of a paper, and the figure with its caption. Each figure is written as SVG and PNG. The
[reference of figures](reference/figures.md) lists the options.
"""
_MISSING = """
Not all kinds have been drawn for this build, and stored figures have no caption here: `make gallery docs`
draws all kinds with their captions (some minutes, no download).
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


def gallery_page(results: Path, kinds: Mapping[str, str]) -> tuple[str, dict[str, Path]]:
    """Return the page as Markdown, and its pictures by their paths in the site.

    results: folder of results, with ``gallery`` and ``reference``. kinds: their meaning by name.
    """
    drawn: dict[str, list[Drawn]] = {}
    for one in _of_gallery(results / "gallery"):
        if one.kind in kinds:
            drawn.setdefault(one.kind, []).append(one)
    missing = [kind for kind in kinds if kind not in drawn]
    for kind, one in _of_reference(results / "reference", list(kinds)).items():
        drawn.setdefault(kind, [one])
    entries, sentences = _entries(), yaml.safe_load(SENTENCES.read_text(encoding="utf-8"))
    lines = [_INTRO, _MISSING if missing else "", *_thumbnails(sorted(kinds), drawn)]
    for kind in sorted(kinds):
        lines += [f"## {kind}", "", _sentence(kinds[kind]), ""]
        lines += [f"In a config: `figures: [{entries[kind]}]`.", ""] if kind in entries else []
        lines += [f"In a paper: {sentences[kind]}", ""] if kind in sentences else []
        if kind not in drawn:
            lines += ["Not drawn yet: `make gallery docs`.", ""]
        for one in drawn.get(kind, ()):
            lines += [f"![{kind}]({FIGURES}/{one.where})", "", one.caption, ""]
    shown = {f"{FIGURES}/{one.where}": one.path for several in drawn.values() for one in several}
    return "\n".join(lines), shown


def _thumbnails(names: list[str], drawn: Mapping[str, list[Drawn]]) -> Iterator[str]:
    """Iterate over the lines of a block with one small picture for each kind, linked to its section."""
    shown = [(kind, drawn[kind][0]) for kind in names if kind in drawn]
    if shown:
        yield '<div class="thumbnails" markdown>'
        yield from (f"[![{kind}]({FIGURES}/{one.where}) {kind}](#{kind})" for kind, one in shown)
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


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
