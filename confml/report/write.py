"""`write_report`: every file of a run's report, made from stored results."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from confml.report.archives import Archives, has_archives
from confml.report.files import csv_lines, write_file, write_lines
from confml.report.items import Document, Item, Lines, NotApplicable, Note, Picture, Table
from confml.report.numbers.parameter_columns import parameter_columns, with_parameters
from confml.report.run.results import RunResults
from confml.report.sections.base import Section, marked_items, overriding, sections_of
from confml.report.sections.regions import region_paths

WRITTEN = ".report"  # lists the files of the report, so that the next report can remove stale ones


def write_report(results: RunResults, folder: Path | str) -> list[Path]:
    """Write every file of a run's report and return the paths; stale files of the last report are removed.

    The same results give the same bytes. Numbers are written first and figures last, so the files written
    before an error are complete.
    """
    folder = Path(folder)
    notes: list[str] = []
    sections = sections_of(results, folder)
    with Archives(folder) as archives:
        items = _items(results, sections, archives if has_archives(results) else None)
        paths = list(_written(items, folder, notes, sections))
        paths += archives.close()
    paths.append(write_file(folder / "notes.txt", "".join(f"{note}\n" for note in notes)))
    _remove_stale(folder, paths, _still_to_come(results))
    return paths


def write_items(items: Iterable[Item], folder: Path) -> tuple[list[Path], list[str]]:
    """Write items that belong to several runs, such as their tables; return the files and the notes."""
    notes: list[str] = []
    return list(_written(items, folder, notes)), notes


def _items(results: RunResults, sections: Sequence[Section], archives: Archives | None) -> Iterator[Item]:
    """Yield the items of all sections: first those of each cell, then those of all cells together.

    Tables with packed parameters get a column for each parameter. Tables of one cell are written to the
    archives instead, if there are any.
    """
    columns = parameter_columns(results)
    seeing = overriding(sections, Section.see)
    for item, of_cell in marked_items(results, sections):
        if isinstance(item, Table):
            item = with_parameters(item, columns)
        if archives is not None and of_cell and isinstance(item, Table | Lines):
            archives.write(item.path, _csv_text(item))
            for section in seeing:
                section.see(replace(item, rows=()) if isinstance(item, Table) else item)
        else:
            yield item


def _csv_text(item: Table | Lines) -> str:
    lines = item.lines if isinstance(item, Lines) else csv_lines(item.header, item.rows)
    return "\n".join(lines) + "\n"


def _written(
    items: Iterable[Item], folder: Path, notes: list[str], sections: Sequence[Section] = ()
) -> Iterator[Path]:
    """Write each item and yield its paths; append the texts of notes to ``notes``.

    The captions of the figures that were drawn are written to ``figures/index.md``. Each section sees each
    item after it is written, and a note instead of a figure that is not drawn.
    """
    drawn, seeing = [], overriding(sections, Section.see)
    for item in items:
        known = len(notes)
        if isinstance(item, Table):
            if item.read:
                item = replace(item, rows=list(item.rows))  # sections read them again
            yield write_lines(folder / item.path, csv_lines(item.header, item.rows))
        elif isinstance(item, Lines):
            yield write_lines(folder / item.path, item.lines)
        elif isinstance(item, Document):
            yield write_file(folder / item.path, item.text)
        elif isinstance(item, Picture):
            paths = _drawn(item, folder, notes)
            drawn += [item] if paths else []
            yield from paths
        elif isinstance(item, Note):
            notes.append(item.text)
        new_notes = [Note(text) for text in notes[known:]]
        left_out = isinstance(item, Note) or (isinstance(item, Picture) and item not in drawn)
        for section in seeing:
            for one in new_notes if left_out else (item, *new_notes):
                section.see(one)
    if drawn:
        yield write_file(folder / "figures" / "index.md", figures_index(drawn))


def _drawn(picture: Picture, folder: Path, notes: list[str]) -> list[Path]:
    from confml.report.figures.style import save, style

    try:
        with style():
            return save(picture.draw(), folder / picture.path, picture.formats)
    except NotApplicable as reason:
        notes.append(f"figure {picture.title} is not drawn: {reason}")
        return []


def figures_index(pictures: Iterable[Picture]) -> str:
    """Return figures and captions as Markdown, for a file in the folder of the figures."""
    parts = ["# Figures\n"]
    for picture in pictures:
        file = f"{Path(picture.path).name}.svg"
        parts.append(f"## {picture.title}\n\n![{picture.title}]({file})\n\n{picture.caption}\n")
    return "\n".join(parts)


def _still_to_come(results: RunResults) -> set[str]:
    """Return paths, without endings, of the example tables of planned cells that are neither finished nor
    failed. Another process may have finished them and written their tables.
    """
    if has_archives(results):
        return set()
    paths = region_paths(results)
    return {
        f"{top}/{paths[cell.key]}" for cell in results.pending for top in ("regions", "p-values", "online")
    }


def _remove_stale(folder: Path, paths: Sequence[Path], to_come: set[str]) -> None:
    """Remove the files that the last report wrote and this one did not; store the list of this report."""
    names = sorted(path.relative_to(folder).as_posix() for path in paths)
    memory = folder / WRITTEN
    for name in sorted(_listed(memory) - set(names)):
        path = folder / name
        if any(name[: dot.start()] in to_come for dot in re.finditer(r"\.", name)):
            names.append(name)
            continue
        if path.resolve().is_relative_to(folder.resolve()) and path.is_file():
            path.unlink(missing_ok=True)
            _remove_empty(path.parent, folder)
    write_file(memory, "".join(f"{name}\n" for name in sorted(names)))


def _listed(memory: Path) -> set[str]:
    """Return the names in the list of the last report; none if the list is missing or damaged."""
    try:
        names = memory.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return set()
    return {name for name in names if name.isprintable()}


def _remove_empty(path: Path, folder: Path) -> None:
    while path != folder and path.is_dir() and not any(path.iterdir()):
        path.rmdir()
        path = path.parent
