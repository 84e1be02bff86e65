"""Run the benchmarks: ``make bench``, one of them by ``make bench ONLY=name``, names by ``ONLY=list``.

Each file bench_*.py beside this one has ``BENCHMARKS``, functions that return one row or several,
(name, our seconds, the other's seconds, other / ours, notes), and maybe ``WHEN_ASKED``, those that run only
if they are named. Numbers that are not seconds have a ``unit`` in the notes,
and their ratio is ours / other. Each function warms up for itself and takes medians of runs in turns. A
benchmark that misses something (data, a package) says so and is skipped.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import os
import platform
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from _pairs import Skipped  # noqa: E402
from tabulate import tabulate  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from confml.errors import ConfmlError  # noqa: E402

END = "<!-- measured: end -->"
BLOCK = f"<!-- measured: ((?!end)[^>]*) -->(.*?){END}"
PAIRS = (
    "| work, and what it is compared with | confml | other | confml / other |",
    "| --- | ---: | ---: | ---: |",
)
VALUES = ("| work | |", "| --- | ---: |")
HEADINGS = ("benchmark", "ours", "other", "ratio", "goal")


def collect() -> tuple[dict[str, Callable], set[str]]:
    """Return benchmark functions by name (``bench_usps`` in bench_tcm_nn.py: tcm_nn.usps), and the names of
    those that run only when asked for."""
    functions, asked = {}, set()
    for path in sorted(HERE.glob("bench_*.py")):
        module = importlib.import_module(path.stem)
        for group in ("BENCHMARKS", "WHEN_ASKED"):
            for function in getattr(module, group, ()):
                name = f"{path.stem.removeprefix('bench_')}.{function.__name__.removeprefix('bench_')}"
                functions[name] = function
                asked |= {name} if group == "WHEN_ASKED" else set()
    return functions, asked


def chosen(names: Iterable[str], asked: set[str], only: str | None) -> list[str]:
    """All names but the long ones; or those of a file, again without the long ones; or one benchmark."""
    if only is None:
        return [name for name in names if name not in asked]
    alone = [name for name in names if only in (name, name.partition(".")[2])]
    return alone or [name for name in names if only == name.partition(".")[0] and name not in asked]


def rows_of(name: str, function: Callable) -> list[dict[str, Any]]:
    """Return the rows of a benchmark; a single one with the reason if it could not run."""
    begun = time.perf_counter()
    try:
        with threadpool_limits(1):
            results = function()
    except (Skipped, ImportError, ConfmlError) as reason:
        return [{"benchmark": name, "skipped": str(reason).splitlines()[0]}]
    except Exception:
        return [{"benchmark": name, "failed": traceback.format_exc()}]
    rows = []
    for what, ours, other, ratio, notes in [results] if isinstance(results, tuple) else results:
        row = {"benchmark": name, "what": what, "unit": "s", "ours": ours, "other": other, "ratio": ratio}
        rows.append({key: _plain(value) for key, value in {**row, **notes}.items()})
    rows[-1]["all_seconds"] = round(time.perf_counter() - begun, 1)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print the rows as a table, with the reasons of benchmarks without numbers."""
    lines = []
    for row in rows:
        if "what" in row:
            goal = row.get("goal")
            reached = "" if goal is None else f">= {goal:.3g} {'yes' if row['ratio'] >= goal else 'NO'}"
            numbers = (_amount(row["ours"], row["unit"]), _amount(row["other"], row["unit"]))
            lines.append((row["what"], *numbers, _three(row["ratio"]), reached))
        elif "skipped" in row:
            lines.append((f"{row['benchmark']}: skipped: {row['skipped']}",))
        else:
            print(row["failed"], file=sys.stderr)
            lines.append((f"{row['benchmark']}: FAILED: {row['failed'].splitlines()[-1]}",))
    alignment = ("left", *["right"] * 4)
    print(tabulate(lines, HEADINGS, "plain", colalign=alignment, disable_numparse=True))


def keep(rows: list[dict[str, Any]], path: Path) -> None:
    """Write ``path``: benchmarks run now replace their earlier rows, the others' stay."""
    run = {row["benchmark"] for row in rows}
    earlier = []
    with contextlib.suppress(OSError, ValueError, KeyError):
        earlier = [row for row in json.loads(path.read_text())["rows"] if row["benchmark"] not in run]
    machine = {"processor": _processor(), "python": platform.python_version(), "cores": os.cpu_count()}
    document = {"machine": machine, "rows": sorted([*earlier, *rows], key=lambda row: row["benchmark"])}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")


def write_page(stored: Path, page: Path) -> None:
    """Write the tables of the documentation from the stored rows, each between its marks.

    ``<!-- measured: begin -->`` begins the table of all rows that have a second time, and names of benchmarks
    instead of ``begin`` a table of their rows. Rows of a page that are not stored stay.
    """
    document = json.loads(stored.read_text(encoding="utf-8"))
    machine = document["machine"]
    about = (
        f"Processor: {machine['processor']} ({machine['cores']} cores), Python {machine['python']}. "
        "Times are CPU times of one thread, or of all processes of a command or run. Most are medians of "
        "alternating turns."
    )

    def renewed(match: re.Match) -> str:
        names = match[1].split()
        if names == ["begin"]:
            rows = [row for row in document["rows"] if row.get("other") and row["unit"] in ("s", "ms")]
            heads, cells = [about, "", *PAIRS], map(_pair_cells, rows)
        else:
            rows = [row for row in document["rows"] if row["benchmark"] in names and "what" in row]
            heads, cells = [*VALUES], ((row["what"], _amount(row["ours"], row["unit"])) for row in rows)
        if not rows:
            return match[0]
        earlier = [line for line in match[2].splitlines() if line.startswith("| ")]
        lines = {line.split(" | ")[0]: line for line in earlier[2:]}
        lines |= {f"| {texts[0]}": f"| {' | '.join(texts)} |" for texts in cells}
        table_text = "\n".join(["", "", *heads, *lines.values(), "", ""])
        return f"<!-- measured: {match[1]} -->{table_text}{END}"

    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(BLOCK, renewed, text, flags=re.DOTALL), encoding="utf-8")


def _pair_cells(row: dict[str, Any]) -> tuple[str, ...]:
    times = (_amount(row[side], row["unit"]) for side in ("ours", "other"))
    return row["what"].replace(", beside ", "; "), *times, f"{row['ours'] / row['other']:.2f}"


def _processor() -> str:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()


def _amount(value: float, unit: str) -> str:
    if value is None:
        return ""
    if unit == "s" and value < 1e-4:
        return f"{_three(1e6 * value)} µs"
    if unit == "s" and value < 0.1:
        return f"{_three(1000 * value)} ms"
    return f"{_three(value)} {unit}"


def _three(value: float | None) -> str:
    if value is None:
        return ""
    if value == 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def _plain(value: Any) -> Any:
    """Return a scalar of numpy as one of Python, and None for NaN, which means that nothing is compared."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="a benchmark, or all of one file; 'list' names them")
    parser.add_argument("--out", type=Path, default=Path("results/bench.json"))
    parser.add_argument(
        "--page", type=Path, help="write the table of this page from the stored rows; run none"
    )
    options = parser.parse_args(arguments)
    if options.page is not None:
        if not options.out.is_file():
            parser.error(f"{options.out} does not exist; run make bench first, without PAGE")
        write_page(options.out, options.page)
        return 0
    functions, asked = collect()
    if options.only == "list":
        for name in functions:
            print(name + (" (only when asked for)" if name in asked else ""))
        return 0
    names = chosen(functions, asked, options.only or None)
    if not names:
        print(f"no benchmark '{options.only}'; there are: {', '.join(functions)}", file=sys.stderr)
        return 2
    rows = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += rows_of(name, functions[name])
        keep(rows, options.out)
    show(rows)
    return 1 if any("failed" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
