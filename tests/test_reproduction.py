"""The program of published numbers: complete pages, reasons of all differences, and valid targets."""

import csv
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from programs.reproduction import _numbers, _pages
from programs.reproduction._drawings import draw_numbers
from programs.reproduction._numbers import SOURCES

from confml import published
from confml.config import load_config
from confml.plugins.imports import allow_imports
from confml.published import known_tables

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "programs" / "reproduction"
REFERENCE = ROOT / "results" / "reference"
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
    printed = Counter()
    with (Path(published.__file__).parent / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            keys = tuple(text for key, text in row.items() if key in KEYS)
            printed.update((*keys, text) for key, text in row.items() if key not in KEYS and text != "")
    key = next(source.key for source in SOURCES if name in source.tables)
    text = re.sub(r"<a id=[^>]*></a>", "", (REFERENCE / f"{key}.md").read_text(encoding="utf-8"))
    part = text[text.index(f"`{name}`, ") :]
    lines = part[: part.index("\n\n", part.index("| --- |"))].splitlines()
    headings, _, *rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    column, paper = headings.index("column"), headings.index("paper")
    assert printed == Counter((*row[:column], row[paper]) for row in rows)


def test_every_difference_has_a_reason_and_every_reason_a_number(numbers):
    codes, outcomes = _numbers.REASONS["codes"], _numbers.REASONS["outcomes"]
    every = [number for of_source in numbers.values() for number in of_source]
    for number in every:
        assert number.reason in codes or number.outcome in _numbers.REPRODUCED
        if number.outcome in ("differs, proved", "differs, setting not stated", "differs, other data"):
            assert outcomes[codes[number.reason]["kind"]] == number.outcome
        if number.outcome == "stand-in" or number.role == "time":  # never judged
            assert number.outcome not in _numbers.REPRODUCED
    assert set(codes) - {number.reason for number in every} <= {"open", "not-stored"}
    assert {rule["reason"] for rule in _numbers.REASONS["rules"]} <= set(codes)


CLAIMS = [
    (source.key, claim) for source in SOURCES for claim in _numbers.read_yaml(f"claims/{source.key}.yaml")
]


@pytest.mark.parametrize(("key", "claim"), CLAIMS)
def test_every_claim_names_what_shows_it(key, claim):
    """Files below results/reference, tests, configs, or targets of the Makefile: all that it mentions."""
    assert claim["verdict"] in _pages.VERDICTS and claim["section"] and claim["claim"]
    shown = _pages.shown_by(claim)
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


def test_the_drawn_figures_are_the_stored_ones(numbers, tmp_path):
    for source in SOURCES:
        for name in source.tables:
            of_table = [number for number in numbers[source.key] if number.table == name]
            drawn = draw_numbers(known_tables()[name], of_table, tmp_path)
            assert drawn == (REFERENCE / "figures" / f"{name}.svg").is_file()


# ---- targets


def commands(target, *variables):
    """Return the words of each command of confml and of the program that a target executes."""
    mark = "printf '%s\\037' "
    programs = [f"{name.upper()}={mark}={name}" for name in ("confml", "reproduction", "figures")]
    made = ["-o", ".venv/installed", "-o", ".venv/installed-dev"]
    words = [*programs, "COPY=:", "LIST=:", "BAYES_ERROR=:", *variables]
    done = subprocess.run(["make", "-s", *made, target, *words], cwd=ROOT, capture_output=True, text=True)
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
            stored = {name for name in rest[2:] if name.startswith("results/") and "*" not in name}
            assert stored <= made
    assert words
