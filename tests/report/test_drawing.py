"""Figures drawn in several processes: the same files and notes as in one."""

import os
import subprocess
import sys

import pytest

from confml.report.figures.drawing import Drawing
from confml.report.items import NotApplicable, Picture

PROGRAM = """
import sys
sys.path[:0] = {path!r}
import test_drawing
from pathlib import Path
for name, processes in (("one", 1), ("three", 3)):
    test_drawing.draw_all(Path({folder!r}) / name, processes)
"""


def line(number):
    from matplotlib.figure import Figure

    if number == 1:
        raise NotApplicable("figure 1 has no data")
    if number == 4 and os.getpid() != int(os.environ["PARENT"]):
        raise ValueError("fails in another process")
    if number == 5 and os.getpid() != int(os.environ["PARENT"]):
        os._exit(3)
    figure = Figure(figsize=(2, 2))
    figure.add_subplot().plot([0, number, 1])
    figure.axes[0].set_title(f"figure {number}")
    return figure


def draw_all(folder, processes):
    os.environ["PARENT"] = str(os.getpid())
    where = folder / "processes.txt"
    folder.mkdir(parents=True)

    def draw(number):
        with where.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return line(number)

    pictures = [Picture(f"figures/{n}", lambda n=n: draw(n), f"figure {n}") for n in range(7)]
    drawing = Drawing(pictures, processes)
    notes = []
    for picture in pictures:
        try:
            assert all(path.is_file() for path in drawing.draw(picture, folder))
        except NotApplicable as reason:
            notes.append(str(reason))
    drawing.end()
    assert notes == ["figure 1 has no data"]
    # This process draws the figures from that on which another one could not.
    assert len(set(where.read_text().split())) in ((1,) if processes == 1 else (processes, processes + 1))
    where.unlink()


@pytest.mark.skipif(sys.platform != "linux", reason="figures are drawn in several processes on Linux only")
def test_files_are_the_same_for_any_number_of_processes(tmp_path):
    program = PROGRAM.format(path=[os.path.dirname(__file__), *sys.path], folder=str(tmp_path))
    subprocess.run([sys.executable, "-c", program], check=True)
    one, three = (
        {path.name: path.read_bytes() for path in (tmp_path / name / "figures").iterdir()}
        for name in ("one", "three")
    )
    assert len(one) == 6 * 2 and one == three


def test_a_process_with_threads_draws_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("confml._forks.has_one_thread", lambda: False)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process with threads was forked"))
    monkeypatch.setenv("PARENT", str(os.getpid()))
    pictures = [Picture(f"figures/{n}", lambda n=n: line(n), f"figure {n}") for n in (2, 3)]
    drawing = Drawing(pictures, 2)
    assert len([path for one in pictures for path in drawing.draw(one, tmp_path)]) == 2 * 2
    drawing.end()
