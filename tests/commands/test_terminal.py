"""Command lines as a shell calls them: ASCII output, short options, and the list of commands."""

import os
import re

import processes
import pytest

from confml.cli import main

CONFIG = """name: tiny
datasets: [{generate: two-gaussians, n: 60, name: größe}]
methods: [{name: tcm-nn, params: {k: 1}}, {name: knn, params: {k: 3}}]
protocol: {kind: holdout, test-size: 0.5, repeats: 2}
levels: [0.1]
thresholds: [0.9]
seed: 1
"""


def in_ascii(*arguments, cwd):
    """Return what a command line wrote in a terminal of ASCII."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = processes.confml(*arguments, env=environment, cwd=cwd, text=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii() and done.stderr.isascii() and done.stdout
    return done


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "tiny.yaml").write_text(CONFIG, encoding="utf-8")
    done = in_ascii("run", "tiny.yaml", "--out", "run", "--engine", "serial", "--all", cwd=folder)
    assert b"\\xb1" in done.stdout and b"gr\\xf6\\xdfe" in done.stdout
    return folder


def test_every_command_writes_ascii(tiny):
    for line in (
        "run tiny.yaml --dry-run",
        "report run --json",
        "compare run",
        "describe bayes-knn",
        "bayes-error two-gaussians --sample 50",
    ):
        in_ascii(*line.split(), cwd=tiny)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_the_terminal(tiny, width, monkeypatch, capsys):
    """Errors begin with their place, which is one word."""
    for module in ("confml.terminal", "confml.report.console", "confml.commands.compare"):
        monkeypatch.setattr(f"{module}.width_of", lambda stream: width)
    folder = tiny / "a folder"
    folder.mkdir(exist_ok=True)
    (folder / "my.csv").write_text("height,weight,class\n" + "1,2,a\n1.5,2,b\n" * 8)
    data = "datasets: [{csv: my.csv, label: klass, ignore: [wieght]}]\n"
    (folder / "my config.yaml").write_text(f"{data}methods: [knn]\nprotocol: {{kind: k-fold}}\n")
    monkeypatch.chdir(tiny)
    printed = {}
    for arguments in (
        ("run", "--dry-run", "a folder/my config.yaml"),
        ("data", "check", "a folder/my.csv", "--label", "class"),
        ("compare", "run"),
        ("doctor",),
    ):
        with pytest.raises(SystemExit):
            main(list(arguments))
        out, err = capsys.readouterr()
        printed[arguments[0]] = out + err
        longest = max((out + err).splitlines(), key=len)
        assert len(longest) <= width or " " not in longest.strip(), longest  # a path is not broken
    assert "confml: a folder/my config.yaml:1:33: my.csv: there" in printed["run"]
    assert "\nconfml: a folder/my config.yaml:1:49: my.csv:" in printed["run"]
    assert re.search(r"^knn k=3 +\d", printed["compare"], re.MULTILINE)
