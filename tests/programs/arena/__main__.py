"""The arena of confidence: other packages' own code and confml on the same rows (`make arena`).

``data`` fetches the sets, ``run`` computes the cells and continues where it was stopped, ``tables`` writes
results/reference/arena from the finished cells; all three by default. puncc needs numpy below 2: its
environment is made in the folder of the data.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[2]))

from page import write_page
from programs.shared import read_csv
from sets import fetch
from tables import write_tables

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FOLDER, STORED = ROOT / "build" / "arena", ROOT / "results" / "reference" / "arena"


def puncc_python(folder: Path) -> Path:
    """Return the interpreter of an environment with puncc, which is made once."""
    python = folder / "puncc" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "puncc", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "puncc==0.9.3", "numpy<2"], check=True)
    return python


def config(folder: Path) -> Path:
    """Write the config with the data sets of the folder; return its path."""
    settings = yaml.safe_load((HERE / "arena.yaml").read_text(encoding="utf-8"))
    for entry in read_csv(HERE / "sets.csv"):
        spec = {"name": entry["name"]}
        if entry["source"] != "card":
            path = folder / "data" / f"{entry['name']}.csv"
            spec |= {"csv": str(path), "label": "class", "missing": "mean"}
        settings["datasets"].append(spec)
    path = folder / "arena.yaml"
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    return path


def main() -> int:
    """Do the steps that are named, or all."""
    parser = argparse.ArgumentParser(prog="tests/programs/arena", description=__doc__.splitlines()[0])
    parser.add_argument("steps", nargs="*", help="data, run, tables; all by default")
    parser.add_argument("--page", type=Path, required=True, help="page of the results")
    parser.add_argument("--jobs", help="worker processes")
    options = parser.parse_args()
    steps = options.steps or ["data", "run", "tables"]
    if "data" in steps:
        pd.DataFrame(fetch(FOLDER / "data")).to_csv(STORED / "datasets.csv", index=False)
    if "run" in steps:
        command = [sys.executable, "-m", "confml", "run", str(config(FOLDER))]
        command += ["--out", str(FOLDER / "run"), "--allow-import", "arena_methods", "--timeout", "5min"]
        command += ["--jobs", options.jobs] if options.jobs else []
        environment = {"ARENA_PUNCC": str(puncc_python(FOLDER)), "PYTHONWARNINGS": "ignore"}
        code = subprocess.run(command, cwd=HERE, env={**os.environ, **environment}).returncode
        if code not in (0, 1):  # 1: some cells failed, and the tables count them
            return code
    if "tables" in steps:
        write_tables(FOLDER / "run", STORED)
        write_page(STORED, FOLDER, options.page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
