"""`Drawing`: draws the figures of a report in this process and in forks of it."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn

from confml.report.figures.style import save, style
from confml.report.items import NotApplicable, Picture


class Drawing:
    """The figures of one section, the same bytes for any number of processes.

    processes: number of processes. More than one are used on Linux only, where libraries work in a forked
    process, and while this process has one thread. Figure i is drawn by process i modulo ``processes``, 0
    being this one. If another process cannot draw a figure, this one draws it again, so that its error is
    raised here.
    """

    def __init__(self, pictures: Sequence[Picture], processes: int = 1):
        self._pictures = list(pictures)
        self._places = {one.path: place for place, one in enumerate(self._pictures)}
        forks = sys.platform == "linux" and threading.active_count() == 1
        self._processes = max(1, min(processes, len(self._pictures))) if forks else 1
        self._answers: dict[int, BinaryIO] = {}  # pipe from each other process
        self._pids: list[int] = []

    def draw(self, picture: Picture, folder: Path) -> list[Path]:
        """Return the files of a figure below ``folder``; raise NotApplicable if there is nothing to show.

        The figures must be asked for in order.
        """
        if self._processes > 1 and not self._pids:
            self._start(folder)
        found = self._answer_for(self._places[picture.path])
        if isinstance(found, NotApplicable):
            raise found
        return draw_picture(picture, folder) if found is None else found

    def end(self) -> None:
        """Wait for the other processes."""
        for pipe in self._answers.values():
            pipe.close()
        self._answers = {}
        for pid in self._pids:
            os.waitpid(pid, 0)
        self._pids, self._processes = [], 1

    def _start(self, folder: Path) -> None:
        for number in range(1, self._processes):
            ours, theirs = os.pipe()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of threads: those of BLAS, which sees to forks
                pid = os.fork()
            if pid == 0:
                os.close(ours)
                self._be_process(number, folder, theirs)
            os.close(theirs)
            self._pids.append(pid)
            self._answers[number] = os.fdopen(ours, "rb")

    def _answer_for(self, place: int) -> list[Path] | NotApplicable | None:
        """Return what the process of a figure sends; None if this process has to draw it."""
        pipe = self._answers.get(place % self._processes)
        number, found = -1, None
        while pipe is not None and number < place:
            try:
                number, found = pickle.load(pipe)
            except (EOFError, OSError, pickle.UnpicklingError):  # the process was killed
                return None
        return found

    def _be_process(self, number: int, folder: Path, answers: int) -> NoReturn:
        try:
            with os.fdopen(answers, "wb") as pipe:
                for place in range(number, len(self._pictures), self._processes):
                    found: list[Path] | NotApplicable | None
                    try:
                        found = draw_picture(self._pictures[place], folder)
                    except NotApplicable as reason:
                        found = NotApplicable(str(reason))
                    except Exception:
                        found = None
                    pickle.dump((place, found), pipe)
                    pipe.flush()
        finally:
            os._exit(0)


def draw_picture(picture: Picture, folder: Path) -> list[Path]:
    """Draw a figure and write its files below ``folder``."""
    with style():
        return save(picture.draw(), folder / picture.path)
