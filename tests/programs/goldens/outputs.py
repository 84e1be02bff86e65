"""The outputs that are compared: runs of the configs of this folder, predictions and Bayes errors."""

from __future__ import annotations

import os
import random
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

CONFIGS = Path(__file__).resolve().parent / "configs"
NEW_ROWS = "mine-new.csv --digits 17"
# Commands of each case, executed in its folder.
CASES: dict[str, list[str]] = {
    **{name: [f"run {{configs}}/{name}.yaml --quiet --out ."] for name in ("quickstart", "usps")},
    **{path.stem: [f"run {path} --quiet --out ."] for path in sorted(CONFIGS.glob("*.yaml"))},
    "own-csv": ["run own-csv.yaml --quiet --out . --force"],
    "predict": [
        f"predict --train mine.csv --label outcome --ignore id,site {NEW_ROWS} --out tcm-nn.csv",
        f"predict own-csv.yaml {NEW_ROWS} --method logistic --out logistic.csv",
        f"predict own-csv.yaml {NEW_ROWS} --method 'naive Bayes' --out costs.csv",
    ],
    "compare": [f"run {CONFIGS}/groups.yaml --quiet --out run", "compare run --quiet --out compared"],
    "bayes-error": ["bayes-error wine-sklearn --intervals --out ."],
}
# The exit code where it is not 0: some cells fail.
EXIT_CODES = {"failing": 1}
# Timings differ from run to run; the others are the state of a run, which no reader opens.
STATE = {"inner", "cells", "packs", "failures", "batches", "rows", ".run", ".confml-files"}
LEFT_OUT = {"timings.csv", "manifest.json"}


def make(case: str, source: Path, folder: Path) -> None:
    """Execute the commands of a case with the package in ``source``, in ``folder``, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    if case in ("own-csv", "predict"):
        write_own_data(folder)
        shutil.copy(CONFIGS / "own-csv.yaml", folder)
    for command in CASES[case]:
        arguments = shlex.split(command.format(configs=source / "configs"))
        process = subprocess.run(
            (sys.executable, "-m", "confml", *arguments),
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if process.returncode != EXIT_CODES.get(case, 0):
            raise SystemExit(f"{case}: {command} ends with {process.returncode}\n{process.stdout}")


def stored_files(folder: Path) -> dict[str, Path]:
    """Return the CSV and JSON files below a folder by their paths in it."""
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in (".csv", ".json"))
    return {path.relative_to(folder).as_posix(): path for path in paths}


def files(folder: Path) -> dict[str, Path]:
    """Return the CSV and JSON files that a case wrote for its readers, by their paths in its folder."""
    return {
        name: path
        for name, path in stored_files(folder).items()
        if not STATE & set(name.split("/")) and path.name not in LEFT_OUT and not path.name.startswith("mine")
    }


def write_own_data(folder: Path) -> None:
    """Write mine.csv and mine-new.csv: numbers, categories, identifiers and sites of unequal difficulty."""
    rng = random.Random(1)
    for name, n in (("mine.csv", 240), ("mine-new.csv", 120)):
        lines = ["id,age,income,debt,colour,site,outcome"]
        for row in range(100_000, 100_000 + n):
            is_good = rng.random() < 0.7
            age, income, debt = (rng.gauss(0.0 if is_good else 1.2, 1.0) for _ in range(3))
            colour = rng.choice(("red", "green", "blue") if is_good else ("red", "red", "blue"))
            site, outcome = f"site {rng.randrange(12)}", "good" if is_good else "bad"
            lines.append(f"{row},{age:.3f},{income:.2f},{debt:.4g},{colour},{site},{outcome}")
        (folder / name).write_text("\r\n".join([*lines, ""]), newline="")
