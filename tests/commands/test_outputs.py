"""No command replaces an input, a config, or a file that confml did not make; ``--force`` allows the last."""

import os
import subprocess

import processes
import pytest
from command_line import command, refusal

TABLE = "x,z,y\n" + "".join(f"{i},{i * i % 7},{'ab'[i % 2]}\n" for i in range(40))
NEW = "x,z\n1,2\n3,4\n"
CONFIG = """name: small
datasets: [{name: t, csv: t.csv, label: y}]
methods: [{name: knn, k: 1}]
protocol: {kind: k-fold, folds: 2}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"t.csv": TABLE, "new.csv": NEW, "c.yaml": CONFIG}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "costs.yaml").write_text("abstain: 0.2\n")
    os.link(tmp_path / "t.csv", tmp_path / "other-name.csv")
    os.symlink("t.csv", tmp_path / "link.csv")
    return tmp_path


FIT = ("predict", "--train", "t.csv", "--label", "y", "new.csv", "-q")
INIT = ("init", "t.csv", "--label", "y")
# Commands with an option that writes, by what it would replace.
INPUTS = [
    (*FIT, "--out", "t.csv"),
    (*FIT, "--out", "new.csv"),
    (*FIT, "--out", "other-name.csv"),
    (*FIT, "--out", "link.csv"),
    (*FIT, "--save", "new.csv"),
    (*FIT, "--costs", "costs.yaml", "--out", "costs.yaml"),
    ("predict", "c.yaml", "new.csv", "-q", "--out", "c.yaml"),
    ("predict", "c.yaml", "--save", "t.csv", "-q"),
    (*INIT, "--out", "t.csv"),
]
FILES = [  # commands that write a file of this name
    ((*FIT, "--out", "mine/notes.txt"), "notes.txt"),
    ((*FIT, "--save", "mine/notes.txt"), "notes.txt"),
    ((*INIT, "--out", "mine/notes.txt"), "notes.txt"),
    (("compare", "run", "-q", "--out", "mine"), "models.csv"),
    (("bayes-error", "iris", "-q", "--out", "mine"), "bayes-error.json"),
]


@pytest.mark.parametrize("arguments", INPUTS, ids=lambda words: " ".join(words[-3:]).replace("/", "|"))
def test_inputs_are_never_replaced(folder, arguments):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert "this is an input of the command" in str(refusal(*arguments, "--force"))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(("arguments", "name"), FILES)
def test_files_that_confml_did_not_make_need_force(folder, arguments, name):
    if arguments[0] == "compare":
        methods = "methods=[{name: knn, sweep: {k: [1, 3]}}]"
        command("run", "c.yaml", "--out", "run", "-q", "--engine", "serial", "--set", methods)
    path = folder / "mine" / name
    path.parent.mkdir()
    path.write_text("my notes\n")
    assert "--force" in str(refusal(*arguments))
    assert path.read_text() == "my notes\n"
    command(*arguments, "--force")
    assert path.read_bytes() != b"my notes\n"
    if arguments[0] != "init":  # now it is a file of confml
        command(*arguments)


def test_a_table_is_not_replaced_by_its_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.csv").write_text(TABLE)
    study = ("bayes-error", "pairs.csv", "--label", "y", "--out", ".", "-q")
    assert "input" in str(refusal(*study, "--force"))
    assert (tmp_path / "pairs.csv").read_text() == TABLE


def test_a_run_does_not_replace_its_data(folder):
    (folder / "c.yaml").write_text(CONFIG.replace("csv: t.csv", "csv: out/metrics.csv"))
    (folder / "out").mkdir()
    (folder / "out" / "metrics.csv").write_text(TABLE)
    refusal("run", "c.yaml", "--out", "out", "-q", "--engine", "serial")
    assert "input" in str(refusal("run", "c.yaml", "--out", "out", "-q", "--engine", "serial", "--force"))
    assert (folder / "out" / "metrics.csv").read_text() == TABLE


def test_a_closed_pipe_is_no_error(tmp_path):
    rows = "x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(1500))
    (tmp_path / "t.csv").write_text(rows)
    (tmp_path / "confml").write_text(processes.program_text())
    (tmp_path / "confml").chmod(0o755)
    fit = "./confml predict --train t.csv --label y --param k=1 -q t.csv"
    for line in (fit, "./confml schema"):
        script = f"{line} | head -1; echo ${{PIPESTATUS[0]}}"
        ended = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
        assert ended.stdout.splitlines()[-1] == "0"
        assert all(line.startswith(("note: ", "warning: ")) for line in ended.stderr.splitlines())
