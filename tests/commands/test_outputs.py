"""No command replaces an input, a config, or a file that confml did not make; ``--force`` allows the last."""

import contextlib
import os
import subprocess
from types import SimpleNamespace

import processes
import pytest
from command_line import invoke

from confml.errors import ConfmlError

TABLE = "x,z,y\n" + "".join(f"{i},{i * i % 7},{'ab'[i % 2]}\n" for i in range(40))
NEW = "x,z\n1,2\n3,4\n"
CONFIG = """name: small
datasets: [{name: t, csv: t.csv, label: y}]
methods: [{name: knn, k: 1}]
protocol: {kind: k-fold, folds: 2}
"""
CARD = """name: two
datasets: [{name: t, csv: t.csv, label: y}, {name: i, generate: five-gaussians, n: 60}]
methods: [{name: knn, sweep: {k: [1, 3]}}]
protocol: {kind: k-fold, folds: 2}
"""


def confml(*arguments, cwd):
    """Run a command line in a folder; return its exit code and what it said."""
    with contextlib.chdir(cwd):
        done = invoke(*arguments)
    assert done.exception is None or isinstance(done.exception, ConfmlError | SystemExit), done.exception
    code = getattr(done.exception, "exit_code", done.exit_code)
    return SimpleNamespace(returncode=code, stderr=f"{done.output} {done.exception or ''}")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with a finished run."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "t.csv").write_text(TABLE)
    (folder / "c.yaml").write_text(CARD)
    run = ("run", "c.yaml", "--out", "run", "-q", "--engine", "serial")
    assert confml(*run, cwd=folder).returncode == 0
    return folder


@pytest.fixture
def here(tmp_path):
    for name, text in {"t.csv": TABLE, "new.csv": NEW, "c.yaml": CONFIG, "mine.txt": "my notes\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "costs.yaml").write_text("abstain: 0.2\n")
    os.link(tmp_path / "t.csv", tmp_path / "other-name.csv")
    os.symlink("t.csv", tmp_path / "link.csv")
    return tmp_path


FIT = ("predict", "--train", "t.csv", "--label", "y", "new.csv", "-q")
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
    ("init", "t.csv", "--label", "y", "--out", "t.csv"),
]
FOREIGN = [
    (*FIT, "--out", "mine.txt"),
    (*FIT, "--save", "mine.txt"),
    ("init", "t.csv", "--label", "y", "--out", "mine.txt"),
]
FOLDERS = {  # commands that write into --out, and a file that they write there
    ("compare", "{run}", "-q"): "models.csv",
    ("bayes-error", "iris", "-q"): "bayes-error.json",
}


@pytest.mark.parametrize("arguments", INPUTS, ids=lambda words: " ".join(words[-3:]).replace("/", "|"))
def test_inputs_are_never_replaced(here, arguments):
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    done = confml(*arguments, "--force", cwd=here)
    assert done.returncode == 2 and "this is an input of the command" in done.stderr
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.parametrize("arguments", FOREIGN, ids=lambda words: f"{words[0]} {words[-2]}")
def test_other_files_need_force(here, arguments):
    refused = confml(*arguments, cwd=here)
    assert refused.returncode == 2 and "--force" in refused.stderr
    assert (here / "mine.txt").read_text() == "my notes\n"
    assert confml(*arguments, "--force", cwd=here).returncode == 0
    assert (here / "mine.txt").read_bytes() != b"my notes\n"
    if arguments[0] == "predict":  # now it is a file of confml
        assert confml(*arguments, cwd=here).returncode == 0


@pytest.mark.parametrize("arguments", FOLDERS, ids=lambda word: " ".join(word[:1] + word[3:5]))
def test_files_in_an_output_folder_need_force(results, tmp_path, arguments):
    command = [word.format(run=results / "run") for word in arguments]
    assert confml(*command, "--out", "new", cwd=tmp_path).returncode == 0
    assert confml(*command, "--out", "new", cwd=tmp_path).returncode == 0  # again
    written = FOLDERS[arguments]
    assert (tmp_path / "new" / written).exists()
    mine = tmp_path / "mine" / written
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    refused = confml(*command, "--out", "mine", cwd=tmp_path)
    assert refused.returncode == 2 and "--force" in refused.stderr
    assert mine.read_text() == "mine"
    assert confml(*command, "--out", "mine", "--force", cwd=tmp_path).returncode == 0
    assert mine.read_text() != "mine"


def test_a_table_is_not_replaced_by_its_own_study(tmp_path):
    (tmp_path / "pairs.csv").write_text(TABLE)
    command = ("bayes-error", "pairs.csv", "--label", "y", "--out", ".", "-q")
    refused = confml(*command, "--force", cwd=tmp_path)
    assert (tmp_path / "pairs.csv").read_text() == TABLE
    assert refused.returncode == 2 and "input" in refused.stderr


def test_a_run_does_not_replace_its_data(here):
    (here / "c.yaml").write_text(CONFIG.replace("csv: t.csv", "csv: out/metrics.csv"))
    (here / "out").mkdir()
    (here / "out" / "metrics.csv").write_text(TABLE)
    assert confml("run", "c.yaml", "--out", "out", "-q", cwd=here).returncode == 2
    refused = confml("run", "c.yaml", "--out", "out", "-q", "--force", cwd=here)
    assert refused.returncode == 2 and "input" in refused.stderr
    assert (here / "out" / "metrics.csv").read_text() == TABLE


def test_a_closed_pipe_is_no_error(tmp_path):
    rows = "x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(3000))
    (tmp_path / "t.csv").write_text(rows)
    (tmp_path / "confml").write_text(processes.program_text())
    (tmp_path / "confml").chmod(0o755)
    fit = "./confml predict --train t.csv --label y --param k=1 -q t.csv"
    for command in (f"{fit} | head -1", "./confml schema | head -1"):
        refused = subprocess.run(
            ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert refused.stdout.splitlines()[-1] == "0"
        assert all(line.startswith(("note: ", "warning: ")) for line in refused.stderr.splitlines())
