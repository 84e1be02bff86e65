"""`Archives`: the tables of single cells of a run with many cells, in ZIP files.

A run of up to `MOST_FILES` cells has one file per cell and view, such as ``regions/usps/knn/r0.csv``. In a
larger run each of these folders is a ZIP file, ``regions.zip`` with the members ``usps/knn/r0.csv`` and so
on, in the order of the CSV files. The members have the same bytes as the files.
"""

import contextlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from confml._outputs import open_atomically
from confml.report.run.results import RunResults

MOST_FILES = 200
_TIME = (1980, 1, 1, 0, 0, 0)  # of every member, so that the bytes repeat


def has_archives(results: RunResults) -> bool:
    """Return whether the tables of single cells of a run are in ZIP files."""
    return len(results.cells) > MOST_FILES


class Archives:
    """Writes ZIP files into the folder of a run; they are there after `close`."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._stack = contextlib.ExitStack()
        self._open: dict[str, zipfile.ZipFile] = {}

    def write(self, path: str, text: str) -> None:
        """Add a file, whose ``path`` begins with the name of the archive."""
        name, _, member = path.partition("/")
        if name not in self._open:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = self._stack.enter_context(open_atomically(self._folder / f"{name}.zip", durable=False))
            self._open[name] = self._stack.enter_context(zipfile.ZipFile(file, "w"))
        info = zipfile.ZipInfo(member, _TIME)
        info.external_attr = 0o644 << 16
        self._open[name].writestr(info, text.encode("utf-8"), zipfile.ZIP_DEFLATED, compresslevel=1)

    def close(self) -> list[Path]:
        """Complete the archives and return their paths."""
        self._stack.close()
        return [self._folder / f"{name}.zip" for name in self._open]

    def __enter__(self) -> "Archives":
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)  # an archive is not renamed after an error


@contextlib.contextmanager
def open_table(folder: Path, path: str) -> Iterator[TextIO | None]:
    """Open a table of a cell for reading, in its file or its archive; None if there is none."""
    with contextlib.ExitStack() as stack:
        try:
            if (folder / path).exists():
                yield stack.enter_context((folder / path).open(encoding="utf-8", newline=""))
                return
            name, _, member = path.partition("/")
            archive = stack.enter_context(zipfile.ZipFile(folder / f"{name}.zip"))
            content = stack.enter_context(archive.open(member))
        except (OSError, KeyError, zipfile.BadZipFile):
            yield None
            return
        yield io.TextIOWrapper(content, encoding="utf-8", newline="")
