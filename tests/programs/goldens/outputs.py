"""The outputs that are compared: runs of the configs of this folder, predictions and Bayes errors."""

from __future__ import annotations

import csv
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

CONFIGS = Path(__file__).resolve().parent / "configs"
NEW_ROWS = ("mine-new.csv", "--digits", "17")
RUNS = {path.stem: (("run", str(path), "--quiet", "--out", "."),) for path in sorted(CONFIGS.glob("*.yaml"))}
# Commands of each case, executed in its folder. {configs} is the folder of configs of the checkout.
CASES: dict[str, tuple[tuple[str, ...], ...]] = {
    "quickstart": (("run", "{configs}/quickstart.yaml", "--quiet", "--out", "."),),
    "usps": (("run", "{configs}/usps.yaml", "--quiet", "--out", "."),),
    **RUNS,
    "predict": (
        (
            "predict",
            "--train",
            "mine.csv",
            "--label",
            "outcome",
            "--ignore",
            "id,site",
            *NEW_ROWS,
            "--out",
            "tcm-nn.csv",
        ),
        ("predict", "own-csv.yaml", *NEW_ROWS, "--method", "logistic", "--out", "logistic.csv"),
        ("predict", "own-csv.yaml", *NEW_ROWS, "--method", "naive Bayes", "--out", "costs.csv"),
    ),
    "compare": (
        ("run", str(CONFIGS / "groups.yaml"), "--quiet", "--out", "run"),
        ("compare", "run", "--quiet", "--out", "compared"),
    ),
    "bayes-error": (("bayes-error", "wine-sklearn", "--intervals", "--out", "."),),
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
        arguments = [text.format(configs=source / "configs") for text in command]
        if case == "own-csv":
            arguments[1] = "own-csv.yaml"  # paths of a config count from its folder
            arguments.append("--force")
        process = subprocess.run(
            (sys.executable, "-m", "confml", *arguments),
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if process.returncode != EXIT_CODES.get(case, 0):
            raise SystemExit(
                f"{case}: {' '.join(arguments)} ends with {process.returncode}\n{process.stdout}"
            )


def files(folder: Path) -> dict[str, Path]:
    """Return the CSV and JSON files that a case wrote for its readers, by their paths in its folder."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".csv", ".json"))
    names = {path.relative_to(folder): path for path in paths}
    return {
        name.as_posix(): path
        for name, path in names.items()
        if not STATE & set(name.parts) and name.name not in LEFT_OUT and not name.name.startswith("mine")
    }


def write_own_data(folder: Path) -> None:
    """Write mine.csv and mine-new.csv: numbers, categories, identifiers and sites of unequal difficulty."""
    rng = random.Random(1)
    for name, n in (("mine.csv", 240), ("mine-new.csv", 120)):
        with open(folder / name, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("id", "age", "income", "debt", "colour", "site", "outcome"))
            for row in range(n):
                is_good = rng.random() < 0.7
                numbers = [rng.gauss(0.0 if is_good else 1.2, 1.0) for _ in range(3)]
                colour = rng.choice(("red", "green", "blue") if is_good else ("red", "red", "blue"))
                writer.writerow(
                    (
                        100_000 + row,
                        f"{numbers[0]:.3f}",
                        f"{numbers[1]:.2f}",
                        f"{numbers[2]:.4g}",
                        colour,
                        f"site {rng.randrange(12)}",
                        "good" if is_good else "bad",
                    )
                )
