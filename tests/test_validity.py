"""The validity table: its verdicts, and a run of a few draws."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path

import processes
import pytest

PROGRAM = Path(__file__).resolve().parent / "programs" / "validity"


@pytest.fixture(scope="module")
def table():
    sys.path.insert(0, str(PROGRAM))
    spec = importlib.util.spec_from_file_location("validity_table", PROGRAM / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(PROGRAM))


@pytest.mark.parametrize(
    ("kind", "events", "verdict"),
    [
        ("at most", 50, "holds"),
        ("at most", 10, "conservative"),
        ("at most", 90, "FAILS"),
        ("exactly", 50, "holds"),
        ("exactly", 10, "FAILS"),
        ("exactly", 90, "FAILS"),
        ("about", 90, "near"),
        ("about", 130, "FAILS"),
        ("about", 10, "conservative"),
    ],
)
def test_verdicts_of_a_promised_rate_of_5_percent(table, kind, events, verdict):
    entry = table.Entry("name", "quantity", "guarantee", ({},), None, None)
    row = table.row_of(entry, {}, table.Claim("event", 0.05, kind), events, 1000, "")
    assert row["verdict"] == verdict and row["low"] < events / 1000 < row["high"]


def test_every_entry_says_what_it_promises(table):
    found = table.entries(None)
    assert len({entry.name for entry in found}) == len(found) > 15
    for entry in found:
        assert entry.draw.__doc__ and entry.guarantee and entry.settings
        for setting in entry.settings:
            assert all(claim.is_mean or 0 <= claim.rate < 1 for claim in entry.claims(setting))


def test_a_run_repeats_and_keeps_the_rows_of_other_entries(tmp_path):
    def run(*options):
        return processes.confml("--jobs", "1", "--out", tmp_path, *options, program=PROGRAM)

    assert run("--only", "tie-band", "--draws", "30").returncode == 0
    assert "0 fail" in run("--only", "ranks", "--draws", "15").stdout
    first = (tmp_path / "validity.csv").read_bytes()
    run("--only", "tie-band", "--draws", "30")
    assert (tmp_path / "validity.csv").read_bytes() == first
    with (tmp_path / "validity.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["entry"] for row in rows} == {"tie-band", "ranks"}
    assert all(int(row["draws"]) == 3 for row in rows)
    assert "| tie band, bayes-error |" in (tmp_path / "validity.md").read_text()
    assert "no entry begins with 'nothing'" in run("--only", "nothing").stderr


@pytest.mark.parametrize(
    ("kind", "rate", "verdict"),
    [
        ("at least", 90, "conservative"),
        ("at least", 100, "holds"),
        ("at least", 110, "FAILS"),
        ("about", 100, "holds"),
        ("about", 90, "near"),
        ("about", 130, "near"),
        ("about", 200, "FAILS"),
        ("no bound", 0, "measured"),
    ],
)
def test_verdicts_of_a_mean_of_100(table, kind, rate, verdict):
    entry = table.Entry("name", "quantity", "guarantee", ({},), None, None)
    claim = table.Claim("rows", rate, kind, True)
    # 400 draws, half of them 80 and half 120: the interval is 100 - 3.3 to 100 + 3.3.
    row = table.mean_row(entry, {}, claim, 40_000.0, 200 * (80.0**2 + 120.0**2), 400, "")
    assert row["verdict"] == verdict and row["low"] == pytest.approx(100 - 3.2905 * 20 / 399**0.5, abs=1e-3)
    assert row["promised"] == ("" if kind == "no bound" else rate)
