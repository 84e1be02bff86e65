"""`Drawing`: draws the figures of a report in this process or in several."""

import contextlib
import functools
import gc
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from confml._processes import each, forks
from confml.report.figures.style import save, style
from confml.report.items import NotApplicable, Picture


class Drawing:
    """The figures of one section, the same bytes for any number of processes.

    processes: number of processes. More than one are used only where they are forks of this process, which
    have the results of the run. A figure that another process cannot draw is drawn again by this one, so that
    its error is raised here. status: called with the number of the figure that is drawn.
    """

    def __init__(
        self,
        pictures: Sequence[Picture],
        processes: int = 1,
        status: Callable[[str], None] = lambda text: None,
    ):
        self._pictures, self._status, self._number = list(pictures), status, 0
        self._processes = processes if forks() else 1
        self._answers: Generator | None = None

    def draw(self, picture: Picture, folder: Path) -> list[Path]:
        """Return the files of a figure below ``folder``; raise NotApplicable if there is nothing to show.

        The figures must be asked for in order.
        """
        if self._number == 0:
            gc.freeze()  # objects of the report, which outlive the figures
        self._number += 1
        self._status(f"drawing {self._number} of {len(self._pictures)} figures")
        found = self._answer_for(picture, folder) if self._processes > 1 else None
        if isinstance(found, NotApplicable):
            raise found
        return draw_picture(picture, folder) if found is None else found

    def _answer_for(self, picture: Picture, folder: Path) -> list[Path] | NotApplicable | None:
        """Return the answer of another process; None if this process has to draw the figure."""
        if self._answers is None:
            self._answers = each(functools.partial(_answer, folder), self._pictures, self._processes)
        with contextlib.suppress(Exception):  # a process was killed
            for path, found in self._answers:
                if path == picture.path:
                    return found
        return None

    def end(self) -> None:
        """End the other processes."""
        gc.unfreeze()
        if self._answers is not None:
            self._answers.close()
            self._answers, self._processes = None, 1


def _answer(folder: Path, picture: Picture) -> tuple[str, list[Path] | NotApplicable | None]:
    """Return the path of a figure and its files, the reason why there are none, or None for an error."""
    gc.set_threshold(20_000, 10, 10)  # as in the command; figures have much garbage
    try:
        return picture.path, draw_picture(picture, folder)
    except NotApplicable as reason:
        return picture.path, NotApplicable(str(reason))
    except Exception:
        return picture.path, None


def draw_picture(picture: Picture, folder: Path) -> list[Path]:
    """Draw a figure and write its files below ``folder``."""
    with style():
        return save(picture.draw(), folder / picture.path, picture.formats)
