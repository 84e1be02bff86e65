"""The audit of a data set: each finding where it is due and nowhere else."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from command_line import command
from hypothesis import given
from hypothesis import strategies as st

from confml.data.audit import audit, row_groups
from confml.data.csv_table import load_csv


def text_of(rows, names="a,b,y") -> str:
    return "\n".join([names, *rows]) + "\n"


def clean(n=40, seed=1):
    """Rows without any finding."""
    rng = np.random.default_rng(seed)
    return [f"{rng.normal():.6f},{rng.normal():.6f},{'pq'[i % 2]}" for i in range(n)]


def findings(data):
    return {finding.code: finding for finding in audit(data)}


ROWS, NEW = clean(), clean(seed=2)
OTHER_LABEL = ROWS[3][:-1] + ("p" if ROWS[3].endswith("q") else "q")
COPY = [f"{row.split(',')[0]},{row}" for row in ROWS]
WIDE = [f"{1000 * float(row.split(',')[0]) + i % 7:.3f},{row}" for i, row in enumerate(ROWS)]


@pytest.mark.parametrize(
    ("code", "sentence", "lines", "rows", "names", "test"),
    [
        (None, "", (), ROWS, "a,b,y", None),
        (None, "", (), ROWS, "a,b,y", NEW),
        ("duplicate-rows", "3 rows of 43", (42, 43, 44), [*ROWS, ROWS[3], ROWS[3], ROWS[5]], "a,b,y", None),
        ("contradictory-rows", "1 row has", (42,), [*ROWS, OTHER_LABEL], "a,b,y", None),
        ("rows-in-train-and-test", "2 rows", (42, 43), ROWS, "a,b,y", [*NEW, ROWS[7], ROWS[9]]),
        ("rows-in-train-and-test", "40 rows of 40", None, [*ROWS, *NEW], "a,b,y", NEW),
        (
            "alike-labels",
            "labels 'P', 'p' are different",
            (),
            [row.replace("p", ("p", "P ")[i % 4 == 0]) for i, row in enumerate(ROWS)],
            "a,b,y",
            None,
        ),
        ("duplicate-columns", "columns have equal values: 'a' repeats 'copy'", (), COPY, "copy,a,b,y", None),
        ("unscaled-features", "ranges: 'income' has", (), WIDE, "income,a,b,y", None),
    ],
)
def test_a_finding(csv, code, sentence, lines, rows, names, test):
    codes = findings(csv(text_of(rows, names), test and text_of(test, names)))
    assert [*codes] == ([] if code is None else [code])
    if code is not None:
        assert sentence in codes[code].sentence and codes[code].lines == (lines or codes[code].lines)


@pytest.mark.parametrize(
    ("name", "number", "is_identifier"),
    [
        ("who", lambda i: (7 * i) % 41, True),
        # Different whole numbers far apart are amounts unless the name of the column says otherwise.
        ("income", lambda i: 1000 * i + 7 * (i % 13), False),
        ("customer_id", lambda i: 1000 * i + 7 * (i % 13), True),
    ],
)
def test_identifiers(csv, name, number, is_identifier):
    text = text_of([f"{number(i)},{row}" for i, row in enumerate(ROWS)], f"{name},a,b,y")
    assert ("identifier" in findings(csv(text))) == is_identifier
    assert "identifier" not in findings(csv(text, id=name))


@pytest.mark.parametrize(
    "leak",
    [
        lambda i, label: "xy"[label == "p"],  # a category for each class
        lambda i, label: "abcd"[i % 4],  # two categories for each class
        lambda i, label: f"{(label == 'p') * 2 + 0.01 * i:.3f}",  # a threshold
        lambda i, label: str(i % 4),  # codes
    ],
    ids=["category", "categories", "threshold", "codes"],
)
def test_a_feature_that_gives_the_label_away(csv, leak):
    rows = [f"{leak(i, row[-1])},{row}" for i, row in enumerate(ROWS)]
    finding = findings(csv(text_of(rows, "leak,a,b,y")))["gives-label-away"]
    assert finding.columns == ("leak",)
    rows += [f"{leak(20, 'p')},{row[:-1]}q" for row in clean(1, seed=3)]  # one exception
    assert "gives-label-away" not in findings(csv(text_of(rows, "leak,a,b,y")))


def test_rare_classes(csv):
    rows = [f"{i / 7},{i % 3},{'fraud' if i % 501 == 0 else 'good'}" for i in range(5010)]
    assert "1 of 2 classes is rare: 'fraud'" in findings(csv(text_of(rows)))["rare-classes"].sentence
    for share, remedy in ((0.25, "1 / (n + 1)"), (0.75, "not numbers")):
        rows = [f"{i / 7},{i % 3},{int(share * i)}" for i in range(400)]
        assert remedy in findings(csv(text_of(rows)))["rare-classes"].remedy


def test_dates_and_many_categories(csv):
    rows = [f"2024-{1 + i % 12:02}-03,town{i % 60},{i % 2}" for i in range(240)]
    codes = findings(csv(text_of(rows)))
    assert codes["dates"].columns == ("a",) and codes["many-categories"].columns == ("b",)
    assert "'b' (60)" in codes["many-categories"].sentence


def test_ranges_before_coding_are_those_of_the_coded_columns(tmp_path):
    path = tmp_path / "mine.csv"
    rows = [f"{row * 7 % 50},{('red', 'blue', '')[row % 3]},{'ab'[row % 2]}" for row in range(40)]
    path.write_text(text_of(rows, "x,colour,y"))
    spec = {"csv": path, "label": "y", "missing": "mean"}
    of_columns = findings(load_csv(spec))
    assert of_columns == findings(load_csv(spec, coding="integer"))
    assert of_columns["unscaled-features"].columns == ("x",)


# ---- commands


def test_a_column_of_many_texts_is_named_before_it_is_coded(tmp_path, monkeypatch):
    """Coding 200,000 rows as 57,871 columns was refused with "92.7 GB", before the column was named."""
    monkeypatch.setattr("confml.data.memory.available_memory", lambda: 10**8)
    path = tmp_path / "mine.csv"
    rows = [f"{row % 5}.5,user{row % 4001},{'ab'[row % 2]}" for row in range(20_000)]
    path.write_text(text_of(rows, "x,user,y"))
    for words in (["data", "check"], ["init", "--out", "-"]):
        assert "'user'" in command(*words, path, "--label", "y").output


def test_data_check_names_the_columns_that_init_leaves_out(tmp_path):
    path = tmp_path / "mine.csv"
    row = np.arange(100)
    frame = pd.DataFrame(
        {
            "patient_id": 1_000_000 + 997 * (row % 90),
            "number": row % 50,
            "visit": ["12 May 2021", "3 June 2021"] * 50,
            "day": 20240101 + row % 28,
            "remark": [f"no heat since day {day} of May" for day in row % 99],
            "fixed": ["", *[7] * 99],
            "rare": np.where(row > 84, 3 + 2 * (row % 2), np.nan),
            "x": row * row % 90 / 7,
            "y": np.where(row % 3 > 0, "b", "a"),
        }
    )
    frame.to_csv(path, index=False)
    written = command("init", path, "--label", "y", "--out", "-").stdout
    ignored = dict(re.findall(r"^      - (\w+)  # (.*)$", written, re.MULTILINE))
    assert [*ignored] == [*frame][:-2]
    checked = command("data", "check", path, "--label", "y", "--missing", "mean", "--json")
    sentences = " ".join(finding["sentence"] for finding in json.loads(checked.stdout)["findings"])
    assert "subjects with several rows each, in 100 rows: 'patient_id' (90 values)" in sentences
    del ignored["patient_id"]
    assert all(f"'{name}' ({reason})" in sentences for name, reason in ignored.items())


@given(st.lists(st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, 1e-300, np.nan])] * 3), min_size=1, max_size=30))
def test_equal_rows_are_those_of_a_literal_comparison(rows):
    table = np.array(rows)

    both_missing = np.isnan(table[:, None]) & np.isnan(table)
    equal = ((table[:, None] == table) | both_missing).all(axis=2)
    assert row_groups(table).tolist() == equal.argmax(axis=1).tolist()
