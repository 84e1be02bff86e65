"""Config files: the traps of YAML, and every mistake once, at its place."""

from pathlib import Path

import pytest
from config.cases import BROKEN, FIGURES, TABLES, messages, write

from confml.config import load_config


@pytest.mark.parametrize("path", sorted(BROKEN.glob("*.yaml")), ids=lambda path: path.stem)
def test_broken_config(path, monkeypatch):
    monkeypatch.chdir(BROKEN)
    lines = messages(load_config, path.name, figures=FIGURES, tables=TABLES)
    lines = [line.replace(str(BROKEN.parent), "FOLDER") for line in lines]
    assert lines == path.with_suffix(".txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfed\x00a\x00", "bad.yaml:1:1: the byte 0xFF is not UTF-8; save the file as UTF-8"),
        (b"datasets: [a\x07]", "bad.yaml:1:13: the control character U+0007 is not allowed"),
        (b"", "bad.yaml:1:1: expected keys with values, such as 'datasets: [wine]', got an empty file"),
        (b"x" * 1_000_001, "bad.yaml: a config is a short YAML file, this one has more than 1,000,000 bytes"),
        (b"a: " + b"[" * 500, "bad.yaml:1:44: nested more than 40 levels deep"),
        (b"a: [1,\n\tb]", "bad.yaml:2:1: a tab where lines are indented; indent with spaces"),
    ],
)
def test_unreadable_file(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    Path("bad.yaml").write_bytes(content)
    assert messages(load_config, "bad.yaml") == [message]


def test_billion_laughs(tmp_path):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    (line,) = messages(load_config, write(tmp_path, "\n".join(lines)))
    assert line.endswith("more than 100,000 values once aliases (*) are filled in")


def test_aliases_and_merge_keys(tmp_path):
    text = """\
datasets: [wine]
methods:
  - &one {name: knn, k: 1}
  - {<<: *one, k: 3}
  - {<<: [{k: 5}, *one], label: five}
protocol: holdout
"""
    config = load_config(write(tmp_path, text))
    assert [method.params for method in config.methods] == [{"k": 1}, {"k": 3}, {"k": 5}]
    assert config.methods[2].label == "five"
    # An override of one entry leaves the others alone.
    config = load_config(write(tmp_path, text), ["methods.0.k=7"])
    assert [method.params for method in config.methods] == [{"k": 7}, {"k": 3}, {"k": 5}]


def test_windows_line_ends_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfdatasets: [wine]\r\nmethods: [knn]\r\nprotocol: holdout\r\nsed: 1\r\n")
    assert messages(load_config, path) == [f"{path}:4:1: unknown key 'sed'; did you mean 'seed'?"]
