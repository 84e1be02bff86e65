"""`write_report`: every file of a run's report, made from stored results."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from confml.report.archives import Archives, has_archives
from confml.report.files import csv_lines, write_file, write_lines
from confml.report.items import CsvTable, Document, Grid, Item, NotApplicable, Note, Picture
from confml.report.numbers.parameter_columns import parameter_columns, with_parameters
from confml.report.report import Report
from confml.report.run.results import RunResults
from confml.report.tables.known import outputs_of, plugin_outputs
from confml.report.tables.table import CellFiles, Files, Output, Table

WRITTEN = ".report"  # lists the files of the report, so that the next report can remove stale ones


def write_report(run: RunResults, folder: Path | str) -> list[Path]:
    """Write every file of a run's report and return the paths; stale files of the last report are removed.

    The same results give the same bytes. Numbers are written first and figures last, so the files written
    before an error are complete.
    """
    outputs = outputs_of(run)
    report = Report(run, Path(folder), outputs)
    report.notes += [f"{error.message}; it is not written" for error in plugin_outputs()[1]]
    paths = _written_in_one_pass(report, outputs)
    for output in outputs:
        items = [] if isinstance(output, Files) else _table_items(report, output)
        paths += _written(output.items(report) if isinstance(output, Files) else items, report)
        report.notes += output.notes(report)
    if report.pictures:
        paths.append(write_file(report.folder / "figures" / "index.md", figures_index(report.pictures)))
    paths.append(write_file(report.folder / "notes.txt", "".join(f"{note}\n" for note in report.notes)))
    _remove_stale(report.folder, paths, _still_to_come(run))
    return paths


def write_items(items: Iterable[Item], folder: Path) -> tuple[list[Path], list[str]]:
    """Write items that belong to several runs, such as their tables; return the files and the notes."""
    report = Report(RunResults(None, (), {}), folder)  # type: ignore[arg-type]
    paths = _written(items, report)
    if report.pictures:
        paths.append(write_file(folder / "figures" / "index.md", figures_index(report.pictures)))
    return paths, report.notes


def read_tables(report: Report, tables: Sequence[Table], functions: Sequence[Callable] = ()) -> None:
    """Make the rows of some tables of a report without writing them. functions: of a variant, collected."""
    _written_in_one_pass(report, tables, functions)
    for table in tables:
        for _ in _table_items(report, table):
            pass


def _written_in_one_pass(
    report: Report, outputs: Sequence[Output], functions: Sequence[Callable] = ()
) -> list[Path]:
    """Read each cell once: collect what outputs need, make the rows of tables, write the files of cells."""
    run, paths = report.run, []
    functions = [
        *functions,
        *(
            function
            for output in outputs
            if not isinstance(output, CellFiles)
            for function in output.collects(run)
        ),
    ]
    tables = [output for output in outputs if isinstance(output, Table) and not output.of_run]
    folders = [output for output in outputs if isinstance(output, CellFiles)]
    for table in tables:
        report.rows[table.path] = []
    with Archives(report.folder) as archives:
        for variant in run.collect(*functions):
            for table in tables:
                report.rows[table.path] += table.rows(variant)
            for cell_files in folders:
                for name, lines in cell_files.files(variant):
                    path = f"{cell_files.path}/{name}"
                    report.paths.add(cell_files.path)
                    if has_archives(run):
                        archives.write(path, "\n".join(lines) + "\n")
                    else:
                        paths.append(write_lines(report.folder / path, lines))
        return paths + archives.close()


def _table_items(report: Report, output: Table | CellFiles) -> Iterator[Item]:
    """Yield the file of a table, unless it has no rows."""
    if isinstance(output, Table):
        rows = list(output.rows(report)) if output.of_run else report.rows[output.path]
        report.rows[output.path], report.columns[output.path] = rows, output.columns
        if rows or output.empty:
            yield CsvTable(output.path, output.columns, rows)


def _written(items: Iterable[Item], report: Report) -> list[Path]:
    """Write each item and return the paths of all files."""
    folder, paths = report.folder, []
    parameters = parameter_columns(report.run)
    for item in items:
        if isinstance(item, Note):
            report.notes.append(item.text)
            continue
        if isinstance(item, Grid):
            report.grids[item.title] = item
            continue
        if isinstance(item, CsvTable):
            report.rows.setdefault(item.path, list(item.rows))
            report.columns.setdefault(item.path, item.header)
            header, rows = with_parameters(item.header, item.rows, parameters)
            paths.append(write_lines(folder / item.path, csv_lines(header, rows)))
        elif isinstance(item, Document):
            paths.append(write_file(folder / item.path, item.text))
        else:
            drawn = _drawn(item, folder, report.notes)
            if not drawn:
                continue
            report.pictures.append(item)
            paths += drawn
        report.paths |= {item.path, item.path.partition("/")[0]}
    return paths


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
    paths = results.region_paths
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
