"""Rows of region tables are found again in the file, by line and by identifier."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from report.report_cases import read

import confml
from confml.data import load
from confml.runner.origins import RowOrigins, origins_key, write_origins
from confml.runner.store import Store


def write_file(path: Path, n: int, ids: str) -> dict[int, list[str]]:
    """Write a file with missing values and an empty line; return its fields by line, counted from 1."""
    rng = np.random.default_rng(n)
    lines = ["label,x,number,split"]
    for i, label in enumerate(rng.choice(["a", "b"], n)):
        x = "" if i % 3 == 1 else f"{rng.normal() + (label == 'b'):.3f}"
        lines += [f'{label},{x},{ids}-{i},"s,{i % 3}"', *([""] if i == 4 else [])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return dict(enumerate(csv.reader(lines), 1))


def regions(folder: Path, dataset=None, out="out", **changes) -> list[dict[str, str]]:
    """The rows of the region tables of a run."""
    file = {"name": "d", "csv": str(folder / "train.csv"), "label": "label", "id": ["number", "split"]}
    config = {
        "datasets": [file | {"missing": "drop"} | (dataset or {})],
        "methods": [{"name": "knn", "k": 1}],
        "protocol": {"kind": "k-fold", "folds": 3},
    }
    confml.run(config | changes, out=folder / out, engine="serial")
    return [row for path in sorted(folder.glob(f"{out}/regions/*/knn*.csv")) for row in read(path)]


def test_a_join_by_line_gives_every_label_after_rows_were_dropped(tmp_path):
    source = write_file(tmp_path / "train.csv", 60, "n")
    rows = regions(tmp_path)
    complete = {line for line, fields in source.items() if line > 1 and fields and fields[1]}
    assert {int(row["line"]) for row in rows} == complete and len(rows) == len(complete) == 40
    assert list(rows[0])[:6] == ["split", "row", "line", "number", "id.split", "label"]
    for row in rows:
        label, _, number, split = source[int(row["line"])]
        assert (row["label"], row["number"], row["id.split"]) == (label, number, split)
    assert any(int(row["row"]) + 2 != int(row["line"]) for row in rows)  # the number is not the line
    frame = confml.load_run(tmp_path / "out").regions(method="knn")
    columns = ["line", "number", "id.split"]
    assert frame[columns].astype(str).values.tolist() == [[row[name] for name in columns] for row in rows]


def test_lines_of_a_test_part_are_those_of_the_test_file(tmp_path):
    files = {part: write_file(tmp_path / f"{part}.csv", n, part) for part, n in (("train", 40), ("test", 30))}
    parts = {"test": str(tmp_path / "test.csv")}
    rows = regions(tmp_path, parts, protocol={"kind": "fixed-split"})
    assert rows and "part" not in rows[0]
    for row in rows:
        assert [row["label"], row["number"]] == files["test"][int(row["line"])][::2]
    rows = regions(tmp_path, parts, "pooled")
    assert {row["part"] for row in rows} == {"train", "test"}
    assert all(files[row["part"]][int(row["line"])][2] == row["number"] for row in rows)


def test_data_without_a_file_have_no_lines(tmp_path):
    assert origins_key(load({"generate": "five-gaussians", "n": 20, "seed": 1})) is None
    rows = regions(tmp_path, datasets=[{"generate": "five-gaussians", "n": 30}])
    assert list(rows[0])[:3] == ["split", "row", "label"]
    assert not Store(tmp_path / "out").keys("rows")


def test_a_damaged_record_counts_as_absent(tmp_path):
    write_file(tmp_path / "train.csv", 20, "n")
    file = {"name": "d", "csv": str(tmp_path / "train.csv"), "label": "label", "missing": "drop"}
    data, store = load(file), Store(tmp_path)
    write_origins(store, data)
    store.sync()
    key = origins_key(data)
    assert RowOrigins.read(Store(tmp_path), key).lines.tolist() == data.lines.tolist()
    (arrays,) = tmp_path.glob(".run/batches/*.bin")
    arrays.write_bytes(b"")
    assert RowOrigins.read(Store(tmp_path), key) is None and RowOrigins.read(store, "1" * 32) is None
