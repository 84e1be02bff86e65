"""Simulate the guarantee of every p-value, probability and certificate that confml prints: ``make validity``.

Each file ``tests/programs/validity/check_*.py`` has ``ENTRIES``. Every draw simulates a separate data set, so
the events are independent and their number is binomial. The table has a row for each claim: the rate that the
documentation promises, the simulated rate, and its 99.9 % interval (Clopper and Pearson). For a mean, such as
the number of rows before an alarm, it has the simulated mean and a normal interval. Verdicts:

holds         the promised rate is compatible with the interval
conservative  the interval is on the safe side of the promised rate
near          only for an approximate guarantee: outside the interval, and at most half as much again
FAILS         the interval is beyond the promised rate (on either side if the guarantee is exact)
measured      there is no guarantee
error         the entry could not be run
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import math
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from _entries import ABOUT, AT_LEAST, AT_MOST, MEASURED, Claim, Entry  # noqa: E402
from joblib import Parallel, delayed  # noqa: E402
from programs.shared import markdown_table  # noqa: E402
from scipy.stats import beta  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from confml._seeds import stable_generator  # noqa: E402
from confml.errors import ConfmlError  # noqa: E402

SEED = 1
CHUNK = 250
REMARKS = """\
- Bayesian k-NN posteriors, credible probabilities and the KS distance promise no error rate.
- `few-rows` counts a label that training does not have as covered. The guarantee is for labels that
  training has: a region cannot hold any other. With 20 classes and 40 rows, 13 % of the test examples are
  of a class without a training row; with 100 classes and 150 rows, 22 %. These errors come on top.
- A class with one training row has label-conditional p-values of 1/2 and 1, so at levels below 1/2 its
  region always holds it. Smoothed p-values are exactly uniform for it too (`single-row`).
- The 95 % band of the validity figure is that of split conformal prediction. TCM-NN leaves it somewhat more
  often.
- Alarms: the bound on the mean run without a change is the threshold. It is tight for Shiryaev-Roberts
  statistics and loose for CUSUM, whose simulated run is printed instead. Runs of `run-length` are cut at 50
  times the threshold (except CUSUM of the simple jumper), which can only lower their mean.
- Weighted p-values (`shift`) have no band: with known weights for a shift of one standard deviation, the
  binomial band misses their coverage on about 40 % of the test parts.
"""
SHOWN = ("quantity", "guarantee", "setting", "event", "promised", "seen", "interval", "draws", "verdict")


def entries(only: str | None) -> list[Entry]:
    """Return the entries of all files, or those whose name or file begins with ``only``."""
    return [
        entry
        for path in sorted(HERE.glob("check_*.py"))
        for entry in importlib.import_module(path.stem).ENTRIES
        if only is None or entry.name.startswith(only) or path.stem == f"check_{only}"
    ]


def count(entry: Entry, setting: dict[str, Any], start: int, stop: int) -> tuple[np.ndarray, str]:
    """Return the sums (2, claims) of the events or numbers of draws start..stop-1 of an entry's setting, and
    of their squares, and the error that stopped them or ""."""
    total = np.zeros((2, len(entry.claims(setting))))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for draw in range(start, stop):
            rng = stable_generator("validity", SEED, entry.name, setting_text(setting), draw)
            try:
                values = np.asarray(entry.draw(rng, **setting), dtype=np.float64)
            except ConfmlError as error:
                return total, str(error).splitlines()[0]
            total += values, values**2
    return total, ""


def simulate(chosen: list[Entry], draws: int, jobs: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table, entry by entry, in order."""
    settings = [(entry, setting) for entry in chosen for setting in entry.settings]
    starts = [range(0, entry.share_of(draws), CHUNK) for entry, _ in settings]
    results = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(count)(*setting, start, min(start + CHUNK, setting[0].share_of(draws)))
        for setting, of_setting in zip(settings, starts, strict=True)
        for start in of_setting
    )
    for (entry, setting), of_setting in zip(settings, starts, strict=True):
        totals, errors = zip(*itertools.islice(results, len(of_setting)), strict=True)
        print(f"{entry.name}: {setting_text(setting)}", file=sys.stderr, flush=True)
        for claim, total, squares in zip(entry.claims(setting), *sum(totals), strict=True):
            numbers = float(total), float(squares), entry.share_of(draws)
            yield row_of(entry, setting, claim, *numbers, max(errors))


def row_of(
    entry: Entry, setting, claim: Claim, total: float, squares: float, draws: int, error: str
) -> dict[str, Any]:
    """Return one row: the promised and the seen rate or mean, its interval at 99.9 %, and the verdict."""
    mean, events = total / draws, int(total)
    if claim.is_mean:
        half = 3.2905 * math.sqrt(max(squares / draws - mean**2, 0.0) / max(draws - 1, 1))
        low, high, digits = mean - half, mean + half, 3
    else:
        low = float(beta.ppf(0.0005, events, draws - events + 1)) if events else 0.0
        high = float(beta.ppf(0.9995, events + 1, draws - events)) if events < draws else 1.0
        digits = 5
    return {
        **{"entry": entry.name, "quantity": entry.quantity, "guarantee": entry.guarantee},
        **{"setting": setting_text(setting), "event": claim.event},
        **{"promised": "" if claim.kind == MEASURED else round(claim.rate, 6), "kind": claim.kind},
        **{"draws": draws, "events": "" if claim.is_mean else events, "seen": round(mean, digits)},
        **{"low": round(low, digits), "high": round(high, digits)},
        "verdict": f"error: {error}" if error else verdict_of(claim, low, high),
    }


def verdict_of(claim: Claim, low: float, high: float) -> str:
    """Return what the interval says of the claim."""
    if claim.kind == MEASURED:
        return "measured"
    if low <= claim.rate <= high:
        return "holds"
    below = high < claim.rate
    if claim.kind == (AT_MOST if below else AT_LEAST) or (
        claim.kind == ABOUT and below and not claim.is_mean
    ):
        return "conservative"
    near = claim.rate / 1.5 <= high if below else low <= 1.5 * claim.rate
    return "near" if claim.kind == ABOUT and near else "FAILS"


def shown_number(text: str) -> str:
    """Return a rate with four digits after the point, or a mean above 1 with four digits."""
    return f"{float(text):.4f}" if abs(float(text)) <= 1 else f"{float(text):.4g}"


def setting_text(setting) -> str:
    """Return a setting as ``name=value`` with commas."""
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def write(rows: list[dict[str, Any]], folder: Path) -> None:
    """Write validity.csv and validity.md; rows of entries that were not run now are kept."""
    names = [entry.name for entry in entries(None)]
    table = pd.DataFrame(rows).astype(str)
    path = folder / "validity.csv"
    if path.is_file():
        stored = pd.read_csv(path, dtype=str, keep_default_na=False)
        table = pd.concat([stored[~stored["entry"].isin(table["entry"])], table])
    table = table[table["entry"].isin(names)]
    table = table.sort_values("entry", key=lambda column: column.map(names.index), kind="stable")
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False)
    numbers = table["promised"].map(lambda text: f" {float(text):.5g}" if text else "")
    shown = table.assign(promised=table["kind"] + numbers, seen=table["seen"].map(shown_number))
    shown["interval"] = table["low"].map(shown_number) + " to " + table["high"].map(shown_number)
    lines = markdown_table(SHOWN, shown[[*SHOWN]].itertuples(index=False), left=len(SHOWN))
    about, _, verdicts = __doc__.partition("\n\n")[2].partition("\n\n")
    text = f"# Guarantees and simulated error rates\n\n{about}\n\n```\n{verdicts}```\n\n{REMARKS}\n{lines}\n"
    (folder / "validity.md").write_text(text, encoding="utf-8")


def main() -> int:
    """Run, write and print; 1 if a guarantee fails or cannot be tried."""
    parser = argparse.ArgumentParser(prog="tests/programs/validity", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--draws", type=int, default=10_000, help="draws of each setting (10000; slow ones fewer)"
    )
    parser.add_argument("--only", help="one entry, or those whose name begins so, or a file: p_values")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (all cores)")
    parser.add_argument("--out", type=Path, default=Path("results/reference/validity"))
    options = parser.parse_args()
    chosen = entries(options.only)
    if not chosen:
        names = ", ".join(entry.name for entry in entries(None))
        parser.error(f"--only: no entry begins with '{options.only}'; there are {names}")
    begun = time.perf_counter()
    rows = list(simulate(chosen, options.draws, options.jobs))
    write(rows, options.out)
    bad = [row for row in rows if row["verdict"].startswith(("FAILS", "error"))]
    for row in bad:
        promised = f"promised {row['kind']} {row['promised']}"
        seen = f"seen {row['seen']} ({row['low']} to {row['high']})"
        print(f"{row['entry']} ({row['setting']}), {row['event']}: {promised}, {seen}: {row['verdict']}")
    seconds = time.perf_counter() - begun
    print(f"{len(rows)} claims, {len(bad)} fail, {seconds:.0f} s; {options.out / 'validity.md'}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
