"""Names of methods, classes and columns with control characters harm no terminal and no file."""

import json
import re
import unicodedata
import xml.etree.ElementTree as ET

import command_line
import pytest

from confml.errors import printable
from confml.report.files import quoted

HOSTILE = "\x1b[31mred\x07\x9b31m\u202eright\x00to\x7fleft\u2028\U000e0041&<b>--"
CONFIG = """
name: hostile
datasets: [{name: t, csv: t.csv, label: y, groups: g, nominal: [n]}]
methods:
  - {name: tcm-nn, label: %s}
  - {name: naive-bayes, label: %s}
protocol: {kind: holdout, repeats: 2, test-size: 0.4}
levels: [0.1]
thresholds: [0.8]
figures: [{accuracy-rejection: {by: threshold}}, coverage-by-level]
"""
CONTROL = {"Cc", "Cs", "Zl", "Zp"}
LABEL = HOSTILE.replace("\x00", "")  # a YAML file and a CSV file have no zero bytes


def strange(text):
    """Characters of a text that a terminal or an XML parser could act on."""
    directions = {"\u202e", "\U000e0041"}
    characters = set(text) - {"\n", "\t"}
    return characters & directions | {c for c in characters if unicodedata.category(c) in CONTROL}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    rows = [f"{i % 7},{i},{'uv'[i % 2]}{LABEL},{i % 4}{LABEL},{'ab'[i % 2]}{LABEL}" for i in range(60)]
    text = "\n".join([f"x{LABEL},z,n,g,y", *rows]) + "\n"
    (folder / "t.csv").write_text(text, encoding="utf-8")
    (folder / "new.csv").write_text(text, encoding="utf-8")
    labels = [json.dumps(f"{name}{LABEL}").replace(r"\udb40\udc41", r"\U000e0041") for name in ("one", "two")]
    (folder / "c.yaml").write_text(CONFIG % tuple(labels), encoding="utf-8")
    return folder


def command(*arguments):
    result = command_line.command(*arguments)
    assert strange(result.stdout) == strange(result.stderr) == set()
    return result.stdout


def test_every_output(folder):
    run, config = folder / "run", folder / "c.yaml"
    command("run", config, "--out", run, "--engine", "serial", "--all")
    command("report", run, "--all")
    json.loads(command("report", run, "--json"))
    command("status", run)
    command("run", "--dry-run", config)
    command("compare", run, "--out", folder / "compared")
    json.loads(command("compare", run, "--json"))
    table = ("--label", "y", "--id", "g")
    command("init", folder / "t.csv", *table, "--out", "-")
    json.loads(command("init", folder / "t.csv", *table, "--json"))
    command("data", "check", folder / "t.csv", *table)
    command("predict", config, folder / "new.csv", "--method", "tcm-nn", "--out", folder / "out.csv")
    command("predict", config, folder / "new.csv", "--method", "naive-bayes", "--explain", "2")
    command("bayes-error", folder / "t.csv", *table, "--out", folder / "bayes")
    parsers = {".svg": ET.fromstring, ".json": json.loads}
    parsers |= dict.fromkeys((".csv", ".html", ".md", ".tex", ".txt"), str)
    checked = set()
    for path in sorted(folder.rglob("*")):
        if path.parent == folder and path.name != "out.csv" or "batches" in path.parts:
            continue
        if path.suffix in parsers:
            text = path.read_text(encoding="utf-8")
            assert strange(text) == set(), path
            assert path.suffix != ".tex" or not re.search(r"\\(x1b|u202e)", text)
            parsers[path.suffix](text)
            checked.add(path.suffix)
    assert checked == set(parsers)


def test_escapes_are_those_of_json_and_words_stay():
    assert printable("a\x1b[0m\n\tb") == "a\\x1b[0m\n\tb"
    assert printable("\x85\u202e\ud800\U000e0041") == "\\u0085\\u202e\\ud800\\udb40\\udc41"
    assert json.loads(f'"{printable(chr(0x9B))}"') == "\x9b"
    plain = "naïve 日本語 ½ ± \u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645 👩\u200d🔬"
    assert printable(plain) == plain


@pytest.mark.parametrize("start", "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
def test_formulas_of_a_spreadsheet_get_a_quote_before_them(start):
    assert quoted(f"{start}cmd|x").lstrip('"').startswith("'")
    assert not quoted("a" + start).startswith("'")
    assert quoted("-1|+1") == "-1|+1"
