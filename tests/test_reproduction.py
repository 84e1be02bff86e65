"""The program of published numbers: complete pages, reasons of all differences, and valid targets."""

import csv
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from confml import published
from confml.cli import cli
from confml.config import load_config
from confml.plugins.imports import allow_imports
from confml.published import known_tables

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "programs" / "reproduction"
REFERENCE = ROOT / "results" / "reference"
sys.path.insert(0, str(PROGRAM))

import _keep  # noqa: E402
import _numbers  # noqa: E402
import _pages  # noqa: E402
from _numbers import SOURCES, is_as_printed, is_chance  # noqa: E402

sys.path.remove(str(PROGRAM))

TARGETS = re.findall(r"^([a-z][a-z0-9-]*):", (PROGRAM / "targets.mk").read_text(), re.MULTILINE)
SCALES = [
    *(("table-smartsvm", scale) for scale in ("laptop", "cold", "full")),
    *(("table-bayes-knn", scale) for scale in ("long", "full")),
]
# Columns of the CSV files of published tables that name a row.
KEYS = {"dataset", "algorithm", "level_percent", "envelope_level", "what", "run"}


@pytest.fixture(scope="module")
def numbers():
    return {source.key: list(_numbers.published_numbers(source, REFERENCE)) for source in SOURCES}


def test_the_pages_are_those_of_the_stored_tables(numbers):
    texts = _pages.pages(REFERENCE, numbers)
    assert set(texts) == {path.name for path in REFERENCE.glob("*.md")}
    for name, text in texts.items():
        assert (REFERENCE / name).read_text(encoding="utf-8") == text, "make reproduction"


@pytest.mark.parametrize("name", sorted(known_tables()))
def test_every_published_number_has_a_row_on_the_page(name):
    """Read from the CSV files themselves, without the code that makes the page."""
    wanted = Counter()
    with (Path(published.__file__).parent / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            keys = tuple(text for key, text in row.items() if key in KEYS)
            wanted.update((*keys, text) for key, text in row.items() if key not in KEYS and text != "")
    key = next(source.key for source in SOURCES if name in source.tables)
    text = re.sub(r"<a id=[^>]*></a>", "", (REFERENCE / f"{key}.md").read_text(encoding="utf-8"))
    part = text[text.index(f"`{name}`, ") :]
    lines = part[: part.index("\n\n", part.index("| --- |"))].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    headings, _, *rows = cells
    paper = headings.index("paper")
    assert wanted == Counter((*row[: headings.index("column")], row[paper]) for row in rows)


def test_every_difference_has_a_reason_and_every_reason_a_number(numbers):
    codes = _numbers.REASONS["codes"]
    used = {number.reason for own in numbers.values() for number in own}
    for own in numbers.values():
        for number in own:
            assert number.reason in codes or number.outcome in _numbers.REPRODUCED
            if number.outcome in ("differs, proved", "differs, setting not stated", "differs, other data"):
                assert _numbers.REASONS["outcomes"][codes[number.reason]["kind"]] == number.outcome
            if number.outcome == "stand-in" or number.role == "time":  # never judged
                assert number.outcome not in _numbers.REPRODUCED
    assert set(codes) - used <= {"open", "not-stored"}
    assert {rule["reason"] for rule in _numbers.REASONS["rules"]} <= set(codes)


CLAIMS = [
    (source.key, claim) for source in SOURCES for claim in _numbers.read_yaml(f"claims/{source.key}.yaml")
]


@pytest.mark.parametrize(("key", "claim"), CLAIMS)
def test_every_claim_names_what_shows_it(key, claim):
    """Files below results/reference, tests, configs, or targets of the Makefile: all that it mentions."""
    assert claim["verdict"] in _pages.VERDICTS and claim["section"] and claim["claim"]
    shown = claim["shown"] if isinstance(claim["shown"], list) else [claim["shown"]]
    for name in shown:
        if name.startswith("make "):
            makefile = (ROOT / "Makefile").read_text()
            assert name[5:] in TARGETS or re.search(rf"^{name[5:]}:", makefile, re.MULTILINE)
        else:
            assert (ROOT / name if name.startswith(("tests/", "configs/")) else REFERENCE / name).is_file()
    assert set(re.findall(r"[\w./-]+\.(?:csv|md|svg|py|yaml)\b", claim["ours"])) <= set(shown)


def test_links_and_captions():
    for path in REFERENCE.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^#)][^)#]*)", text):
            assert (REFERENCE / target).is_file(), target
        for stem, caption in re.findall(r"^!\[(.*)\]\(\S+/figures/\S+\)\n\n\*(.+)\*$", text, re.MULTILINE):
            assert " " in caption and stem not in caption
    for name in _numbers.read_yaml("captions.yaml"):
        assert (REFERENCE / f"{name}.svg").is_file()


@pytest.mark.parametrize(
    ("ours", "paper", "same"),
    [(10.6, "10.6", True), (98.76, "98.8", True), (99.951, "99.9", False), (0.04, "0", True)],
)
def test_as_printed(ours, paper, same):
    assert is_as_printed(ours, paper) == same


def test_chance_is_two_standard_errors_of_the_difference():
    """With an sd of 3, 9 splits here and 16 there the error is 3 sqrt(1/9 + 1/16) = 1.25."""
    assert is_chance(10.0, 3.0, 9, "12.5", 16) and not is_chance(10.0, 3.0, 9, "12.51", 16)
    assert not is_chance(10.0, 3.0, 2, "10.0", 16) and not is_chance(10.0, None, 9, "10.0", 16)


def test_the_drawn_figures_are_the_stored_ones(numbers, tmp_path):
    from _drawings import draw_numbers

    for key, own in numbers.items():
        for name in next(source.tables for source in SOURCES if source.key == key):
            drawn = draw_numbers(known_tables()[name], [one for one in own if one.table == name], tmp_path)
            assert drawn == (REFERENCE / "figures" / f"{name}.svg").is_file()


# ---- runs that are kept


def test_runs_are_kept_with_their_provenance(tmp_path):
    config = {
        "name": "small", "datasets": ["wine-sklearn"], "methods": ["naive-bayes"], "figures": [],
        "protocol": {"kind": "holdout", "repeats": 2, "test-size": 0.5}, "seed": 7,
    }  # fmt: skip
    (tmp_path / "small.yaml").write_text(json.dumps(config), encoding="utf-8")
    run, out = tmp_path / "small", tmp_path / "out"
    command = ["run", str(tmp_path / "small.yaml"), "--out", str(run), "--engine", "serial", "--quiet"]
    assert CliRunner().invoke(cli, command).exit_code == 0
    _keep.keep([run, tmp_path / "drawn"], out, ["error", "training_seconds"], "", True, "make small")
    rows = _numbers.read_csv(out / "small.csv")
    assert [(row["dataset"], row["method"], row["metric"], row["n"]) for row in rows] == [
        ("wine-sklearn", "naive-bayes", "error", "2"),
        ("wine-sklearn", "naive-bayes", "training_seconds", "2"),
    ]
    summary = json.loads((run / "summary.json").read_text())["summary"]
    mean = next(row["mean"] for row in summary if row["metric"] == "error")
    assert float(rows[0]["mean"]) == pytest.approx(mean, rel=1e-5)
    text = _keep.provenance_text(_keep.read_provenance(out))
    assert text.startswith("`make small`: 1 run, ") and "; seed 7; " in text
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"resumed": True}), encoding="utf-8")
    _keep.keep([run], out, [], "", False, "make small")
    assert " seconds of tuning, fits and predictions, " in _keep.provenance_text(_keep.read_provenance(out))
    with pytest.raises(SystemExit, match="no run has theta_max"):
        _keep.keep([run], out, ["error", "theta_max"], "", False, "x")
    with pytest.raises(SystemExit, match="none of the folders is that of a run"):
        _keep.keep([tmp_path / "nothing"], out, [], "", False, "x")


def test_values_of_a_parameter_are_rows_with_published_numbers(tmp_path):
    """The paper has .4084 for one-vs-rest and .6496 for one-vs-one on flare, means over 5 splits.

    Two standard errors, 2 sd sqrt(1/5 + 1/5), are 0.01290 for an sd of .0102 and 0.01278 for .0101.
    """
    lines = [
        ("ovr-svm", {"solver": "primal", "C": 3}, "margin", 0.6123, 0.01, 5),
        ("ovr-svm", {"solver": "primal", "C": 0.25}, "margin", 0.3955, 0.0102, 5),
        ("ovr-svm", {"solver": "primal", "C": 0.5}, "margin", 0.3955, 0.0101, 5),
        ("ovo-svm", {"C": 0.25}, "vote", 0.6496, None, 1),
        ("ovo-svm", {"C": 0.25}, "margin", 0.9, 0.01, 5),
        ("ovo-svm", {"C": 0.5}, "vote", 0.65, None, 1),
        ("smart-svm", {"C": 0.5}, "margin", 0.7, 0.01, 5),  # a single value
        ("knn", {"k": 1}, "vote", 0.8, 0.01, 5),
    ]
    names = ("method", "params", "view", "mean", "sd", "n")
    rows = [
        {"dataset": "flare", "metric": "ari", "level": None, **dict(zip(names, row, strict=True))}
        for row in lines
    ]
    (tmp_path / "summary.json").write_text(json.dumps({"summary": rows}), encoding="utf-8")
    with pytest.raises(SystemExit, match="none of the folders is that of a run"):  # after the table
        _keep.keep([tmp_path], tmp_path, ["ari"], "C", False, "x")
    assert [tuple(row.values()) for row in _numbers.read_csv(tmp_path / "ari-by-C.csv")] == [
        ("flare", "ovo-svm", "0.25", "0.6496", "", "1", "0.6496", "false"),
        ("flare", "ovo-svm", "0.5", "0.65", "", "1", "0.6496", "false"),
        ("flare", "ovr-svm solver=primal", "0.25", "0.3955", "0.0102", "5", "0.4084", "true"),
        ("flare", "ovr-svm solver=primal", "0.5", "0.3955", "0.0101", "5", "0.4084", "false"),
        ("flare", "ovr-svm solver=primal", "3.0", "0.6123", "0.01", "5", "0.4084", "false"),
    ]
    with pytest.raises(SystemExit, match="at two or more values of gamma"):
        _keep.keep([tmp_path], tmp_path, ["ari"], "gamma", False, "x")


# ---- targets


def commands(target, *variables):
    """Return the words of each command of confml and of the program that a target executes."""
    mark = "printf '%s\\037' "
    words = [
        f"CONFML={mark}=confml",
        f"REPRODUCTION={mark}=reproduction",
        "COPY=:",
        "LIST=:",
        "BAYES_ERROR=:",
        *variables,
    ]
    command = ["make", "-s", "-o", ".venv/installed", "-o", ".venv/installed-dev", target, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [part.strip("\037").split("\037") for part in re.split("(?:^|(?<=\037))=", done.stdout) if part]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(("target", "scale"), [*((name, "") for name in TARGETS), *SCALES])
def test_every_run_of_a_target_has_a_config_that_takes_its_settings(target, scale, monkeypatch):
    """What is kept and reported is what the target has run."""
    monkeypatch.syspath_prepend(str(PROGRAM))
    made = set()
    words = commands(target, *([f"SCALE={scale}"] if scale else []))
    for program, action, *rest in words:
        if (program, action) == ("confml", "run"):
            options = {name: [] for name in ("--set", "--out", "--allow-import")}
            for name, value in zip(rest, rest[1:], strict=False):
                options.get(name, []).append(value)
            with allow_imports(options["--allow-import"]):
                config = load_config(str(ROOT / rest[0]), options["--set"])
            made |= {*(options["--out"] or [f"results/{config.name}"])}
        elif "--out" in rest:
            made.add(rest[rest.index("--out") + 1])
        elif action == "keep":
            assert rest[:2] == ["--command", rest[1]] and rest[1].startswith("make ")
            kept = {name for name in rest[2:] if name.startswith("results/") and "*" not in name}
            assert kept <= made
    assert words


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_parts_of_a_target_run_and_keep_nothing():
    words = commands("table-tcm-nn", "SHARD=2/4", "JOBS=3", "ENGINE=dask", "SCHEDULER=tcp://host:1")
    options = ["--jobs", "3", "--engine", "dask", "--scheduler", "tcp://host:1", "--shard", "2/4"]
    assert words and all(line[:10] == ["confml", "run", *options] for line in words)
