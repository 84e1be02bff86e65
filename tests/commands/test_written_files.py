"""Files that commands write: no command follows a link, and nobody can guess a temporary name."""

import contextlib
import os
import sys

import pytest
from command_line import command

CONFIG = """\
name: links
datasets: [{csv: data.csv, label: y}]
methods: [{name: tcm-nn, k: 1}, {name: knn, k: 1}]
protocol: {kind: holdout, test-size: 0.3, repeats: 1}
figures: [coverage-by-level]
"""
RUN = ["run", "config.yaml", "--engine", "serial", "--quiet"]
COMMANDS = {
    "run": [*RUN, "--out", "again"],
    "report": ["report", "run"],
    "compare": ["compare", "run", "--out", "made"],
    "init": ["init", "data.csv", "--label", "y", "--out", "made.yaml", "--force"],
    "predict": ["predict", "--train", "data.csv", "--label", "y", "--method", "knn", "new.csv"]
    + ["--out", "made.csv", "--save", "made.confml"],
    "bayes-error": ["bayes-error", "data.csv", "--label", "y", "--out", "made"],
}
_opened: list[str] | None = None  # paths that are opened for writing


def _note_opened(event, arguments):
    if event == "open" and _opened is not None and isinstance(arguments[0], str):
        if arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            _opened.append(os.path.abspath(arguments[0]))


sys.addaudithook(_note_opened)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Folder with data, a config and two runs of it."""
    folder = tmp_path_factory.mktemp("runs")
    rows = [f"{i % 7 + (i % 2)},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    (folder / "data.csv").write_text("\n".join(["u,v,y", *rows, ""]))
    (folder / "new.csv").write_text("\n".join(["u,v", *(row[:-2] for row in rows[:9]), ""]))
    (folder / "config.yaml").write_text(CONFIG)
    with contextlib.chdir(folder):
        command(*RUN, "--out", "run")
        command(*RUN, "--out", "second", "--set", "seed=5")
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_writes_through_a_link(runs, name, tmp_path, monkeypatch):
    """Links at the place of every file that the command left or had open are replaced or stay unused."""
    global _opened
    monkeypatch.chdir(runs)
    earlier = {path for path in runs.rglob("*") if path.is_file()}
    _opened = []
    command(*COMMANDS[name])
    opened, _opened = {path for path in _opened if path.startswith(str(runs))}, None
    assert opened, "nothing is written"
    written = opened | {str(path) for path in runs.rglob("*") if path.is_file() and path not in earlier}
    targets = {}
    for number, path in enumerate(sorted(written)):
        if os.path.isdir(os.path.dirname(path)):
            targets[path] = target = tmp_path / str(number)
            if os.path.exists(path):
                os.replace(path, target)
            else:
                target.write_text("of somebody else")
            os.utime(target, (1, 1))
            os.symlink(target, path)
    states = {path: (target.read_bytes(), target.stat()) for path, target in targets.items()}
    command(*COMMANDS[name])
    for path, target in targets.items():
        assert (target.read_bytes(), target.stat()) == states[path], path
    for path in targets:  # of no other test
        if os.path.islink(path):
            os.unlink(path)


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of POSIX")
def test_a_private_file_stays_private(runs, monkeypatch):
    monkeypatch.chdir(runs)
    command(*COMMANDS["predict"])
    os.chmod("made.csv", 0o600)
    command(*COMMANDS["predict"])
    assert os.stat("made.csv").st_mode & 0o777 == 0o600
