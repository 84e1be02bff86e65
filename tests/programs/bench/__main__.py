"""Run the benchmarks: ``make bench``, one of them by ``make bench ONLY=name``.

Each file bench_*.py beside this one has ``BENCHMARKS``, functions that return one row of `_pairs.row` or
several, and maybe ``WHEN_ASKED``, those that run only if they are named. Each function warms up for itself
and takes medians of runs in turns. A benchmark that misses something (data, a package) says so and is
skipped.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import platform
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from _pairs import Skipped  # noqa: E402
from tabulate import tabulate  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from confml.errors import ConfmlError  # noqa: E402

STORED = Path("results/bench.json")
END = "<!-- measured: end -->"
BLOCK = f"<!-- measured: ((?!end)[^>]*) -->(.*?){END}"
HEADINGS = ("benchmark", "ours", "other", "ratio", "goal")


def chosen(only: str | None) -> dict[str, Callable]:
    """Return benchmark functions by name (``bench_usps`` in bench_tcm_nn.py: tcm_nn.usps).

    only: a benchmark, or a file without those that run only if they are named; None: all files.
    """
    functions = {}
    for path in sorted(HERE.glob("bench_*.py")):
        file, module = path.stem.removeprefix("bench_"), importlib.import_module(path.stem)
        for function in module.BENCHMARKS + getattr(module, "WHEN_ASKED", ()):
            name = function.__name__.removeprefix("bench_")
            is_of_file = only in (None, file) and function in module.BENCHMARKS
            if is_of_file or only in (name, f"{file}.{name}"):
                functions[f"{file}.{name}"] = function
    return functions


def rows_of(name: str, function: Callable) -> list[dict[str, Any]]:
    """Return the rows of a benchmark; a single one with the reason if it could not run."""
    try:
        with threadpool_limits(1):
            results = function()
    except (Skipped, ImportError, ConfmlError) as reason:
        return [{"benchmark": name, "skipped": f"skipped: {reason}".splitlines()[0]}]
    except Exception:
        return [{"benchmark": name, "failed": traceback.format_exc()}]
    return [{"benchmark": name, **row} for row in (results if isinstance(results, list) else [results])]


def show(rows: list[dict[str, Any]]) -> None:
    """Print the rows as a table, with the reasons of benchmarks without numbers."""
    lines = []
    for row in rows:
        if "what" in row:
            goal = row["goal"]
            reached = "" if goal is None else f">= {goal:.3g} {'yes' if row['ratio'] >= goal else 'NO'}"
            numbers = (_amount(row["ours"], row["unit"]), _amount(row["other"], row["unit"]))
            lines.append((row["what"], *numbers, _three(row["ratio"]), reached))
        else:
            print(row.get("failed", ""), file=sys.stderr)
            reason = row.get("skipped") or f"FAILED: {row['failed'].splitlines()[-1]}"
            lines.append((f"{row['benchmark']}: {reason}",))
    alignment = ("left", *["right"] * 4)
    print(tabulate(lines, HEADINGS, "plain", colalign=alignment, disable_numparse=True))


def store(rows: list[dict[str, Any]], path: Path) -> None:
    """Write ``path``: benchmarks run now replace their earlier rows, the others' stay."""
    run = {row["benchmark"] for row in rows}
    earlier = json.loads(path.read_text())["rows"] if path.is_file() else []
    stored = [*(row for row in earlier if row["benchmark"] not in run), *rows]
    machine = {"processor": _processor(), "python": platform.python_version(), "cores": os.cpu_count()}
    document = {"machine": machine, "rows": sorted(stored, key=lambda row: row["benchmark"])}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")


def write_page(page: Path) -> None:
    """Write the tables of the documentation from the stored rows, each between its marks.

    ``<!-- measured: begin -->`` begins the table of all rows that have a second time, and names of benchmarks
    instead of ``begin`` a table of their rows. Rows of a page that are not stored stay.
    """
    document = json.loads(STORED.read_text(encoding="utf-8"))
    machine = document["machine"]
    about = (
        f"Processor: {machine['processor']} ({machine['cores']} cores), Python {machine['python']}. "
        "Times are CPU times of one thread, or of all processes of a command or run. Most are medians of "
        "alternating turns."
    )

    def renewed(match: re.Match) -> str:
        names = match[1].split()
        rows = [row for row in document["rows"] if "what" in row]
        if names == ["begin"]:
            cells = [_pair_cells(row) for row in rows if row["other"] and row["unit"] in ("s", "ms")]
        else:
            chosen_rows = [row for row in rows if row["benchmark"] in names]
            cells = [(row["what"], _amount(row["ours"], row["unit"])) for row in chosen_rows]
        if not cells:
            return match[0]
        lines = {line.split(" | ")[0]: line for line in match[2].splitlines() if line.startswith("| ")}
        lines |= {f"| {texts[0]}": f"| {' | '.join(texts)} |" for texts in cells}
        first_lines = [about, ""] if names == ["begin"] else []
        table_text = "\n".join(["", "", *first_lines, *lines.values(), "", ""])
        return f"<!-- measured: {match[1]} -->{table_text}{END}"

    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(BLOCK, renewed, text, flags=re.DOTALL), encoding="utf-8")


def _pair_cells(row: dict[str, Any]) -> tuple[str, ...]:
    times = (_amount(row[side], row["unit"]) for side in ("ours", "other"))
    return row["what"].replace(", beside ", "; "), *times, f"{row['ours'] / row['other']:.2f}"


def _processor() -> str:
    """Return the model of the processor, as Linux names it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def _amount(value: float | None, unit: str) -> str:
    if value is not None and unit == "s" and value < 0.1:
        value, unit = (1e6 * value, "µs") if value < 1e-4 else (1000 * value, "ms")
    return "" if value is None else f"{_three(value)} {unit}"


def _three(value: float | None) -> str:
    """Return a number with three significant digits."""
    if not value:
        return "" if value is None else "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="a benchmark, or all of one file")
    parser.add_argument(
        "--page", type=Path, help="write the tables of this page from the stored rows; run none"
    )
    options = parser.parse_args()
    if options.page is not None:
        write_page(options.page)
        return 0
    functions, rows = chosen(options.only), []
    if not functions:
        parser.error(f"no benchmark '{options.only}'; there are: {', '.join(chosen(None))}")
    for name, function in functions.items():
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += rows_of(name, function)
        store(rows, STORED)
    show(rows)
    return int(any("failed" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
