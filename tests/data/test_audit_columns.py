"""Findings on rare classes, dates and many categories, and rows that are dropped."""

import json
import re

from confml.data import load
from confml.data.audit import audit


def found(tmp_path, lines, **keys):
    path = tmp_path / "a.csv"
    path.write_text("x,c,y\n" + "".join(f"{line}\n" for line in lines))
    return load({"csv": path, "label": "y", **keys})


def test_rare_classes(tmp_path):
    data = found(tmp_path, [f"{i / 7},{i % 3},{'fraud' if i % 501 == 0 else 'good'}" for i in range(5010)])
    (finding,) = [finding for finding in audit(data) if finding.code == "rare-classes"]
    assert "1 of 2 classes is rare: 'fraud' (10 rows)" in finding.sentence
    many = audit(found(tmp_path, [f"{i / 7},{i % 3},k{i // 4}" for i in range(400)]))
    assert "100 of 100 classes are rare" in many[0].sentence and "at least 0.2" in many[0].remedy
    assert not audit(found(tmp_path, [f"{i / 7},{i * 5 % 7},{i % 2}" for i in range(40)]))


def test_dates_and_many_categories(tmp_path):
    rows = [f"2024-{1 + i % 12:02}-03,town{i % 60},{i % 2}" for i in range(240)]
    codes = {finding.code: finding for finding in audit(found(tmp_path, rows))}
    assert {*codes} >= {"dates", "many-categories"}
    assert codes["dates"].columns == ("x",) and codes["many-categories"].columns == ("c",)
    assert "'c' (60)" in codes["many-categories"].sentence


def test_duplicates_are_dropped(tmp_path):
    rows = ["1,2,a", "3,4,b", "1,2,a", "1,2,b", "5,6,a"]
    data = found(tmp_path, rows, duplicates="drop")
    assert data.lines.tolist() == [2, 3, 5, 6] and "1 row equal to an earlier row" in data.notes[0]
    assert len(found(tmp_path, rows)) == 5


def test_a_column_of_many_texts_is_named_before_it_is_coded(tmp_path, monkeypatch):
    """Coding 200,000 rows as 57,871 columns was refused with "92.7 GB", before the column was named."""
    from click.testing import CliRunner

    from confml.cli import cli

    monkeypatch.setattr("confml.data.memory.available_memory", lambda: 10**8)
    path = tmp_path / "mine.csv"
    rows = [f"{row % 5}.5,user{row % 4001},{'ab'[row % 2]}" for row in range(20_000)]
    path.write_text("\n".join(["x,user,y", *rows]) + "\n")
    for command in (["data", "check"], ["init", "--out", "-"]):
        found = CliRunner().invoke(cli, [*command, str(path), "--label", "y"])
        assert found.exit_code == 0, found.output
        assert "'user'" in found.output


def test_ranges_before_coding_are_those_of_the_coded_columns(tmp_path):
    from confml.data.csv_table import load_csv

    path = tmp_path / "mine.csv"
    rows = [f"{row * 7 % 50},{('red', 'blue', '')[row % 3]},{'ab'[row % 2]}" for row in range(40)]
    path.write_text("\n".join(["x,colour,y", *rows]) + "\n")
    spec = {"csv": path, "label": "y", "missing": "mean"}
    findings = audit(load_csv(spec))
    assert findings == audit(load_csv(spec, coding="integer"))
    assert any(finding.code == "unscaled-features" and finding.columns == ("x",) for finding in findings)


def test_data_check_names_the_columns_that_init_leaves_out(tmp_path):
    from click.testing import CliRunner

    from confml.cli import cli

    path = tmp_path / "mine.csv"
    columns = {
        "patient_id": lambda row: 1_000_000 + 997 * (row % 90),
        "number": lambda row: row % 50,
        "visit": lambda row: ["12 May 2021", "3 June 2021"][row % 2],
        "day": lambda row: 20240101 + row % 28,
        "remark": lambda row: f"no heat since day {row % 99} of May",
        "fixed": lambda row: "" if row == 0 else 7,
        "rare": lambda row: [3, 5][row % 2] if row > 84 else "",
        "x": lambda row: row * row % 90 / 7,
    }
    rows = [",".join(str(value(row)) for value in columns.values()) for row in range(100)]
    lines = [f"{row},{'ab'[at % 3 > 0]}" for at, row in enumerate(rows)]
    path.write_text("\n".join([",".join([*columns, "y"]), *lines]) + "\n")
    written = CliRunner().invoke(cli, ["init", str(path), "--label", "y", "--out", "-"]).stdout
    ignored = dict(re.findall(r"^      - (\w+)  # (.*)$", written, re.MULTILINE))
    assert [*ignored] == [*columns][:-1]
    arguments = ["data", "check", str(path), "--label", "y", "--missing", "mean", "--json"]
    checked = json.loads(CliRunner().invoke(cli, arguments).stdout)["findings"]
    sentences = " ".join(finding["sentence"] for finding in checked)
    assert "subjects with several rows each, in 100 rows: 'patient_id' (90 values)" in sentences
    del ignored["patient_id"]
    assert all(f"'{name}' ({reason})" in sentences for name, reason in ignored.items())
