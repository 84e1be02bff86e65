"""Rows of region tables are found again in the file, by line and by identifier."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import confml
from confml.data import load
from confml.runner.origins import RowOrigins, origins_key, write_origins
from confml.runner.store import Store


def write_file(path: Path, n: int, seed: int, ids: str) -> Path:
    """A file with missing values in a third of its rows, and an empty line."""
    rng = np.random.default_rng(seed)
    lines = ["label,x,number,split"]
    for i in range(n):
        label = "ab"[int(rng.integers(2))]
        x = "" if rng.random() < 1 / 3 else f"{rng.normal() + (label == 'b'):.3f}"
        lines.append(f'{label},{x},{ids}-{i},"s,{i % 3}"')
        if i == 4:
            lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def by_line(path: Path) -> dict[int, list[str]]:
    """The fields of each line of a file, by its number from 1."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {number: next(csv.reader([line]), []) for number, line in enumerate(lines, 1)}


def config(folder: Path, **others) -> dict:
    dataset = {"name": "d", "csv": str(folder / "train.csv"), "label": "label", "missing": "drop"}
    return {
        "name": "found",
        "datasets": [dataset | {"id": ["number", "split"]} | others.pop("dataset", {})],
        "methods": [{"name": "knn", "k": 1}],
        "protocol": {"kind": "k-fold", "folds": 3},
        **others,
    }


def regions(out: Path) -> list[dict[str, str]]:
    rows = []
    for path in sorted((out / "regions").rglob("knn*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows += list(csv.DictReader(file))
    return rows


def test_a_join_by_line_gives_every_label_after_rows_were_dropped(tmp_path):
    source = by_line(write_file(tmp_path / "train.csv", 60, 0, "n"))
    run = confml.run(config(tmp_path), out=tmp_path / "out", jobs=1, engine="serial")
    rows = regions(tmp_path / "out")
    kept = {line for line, fields in source.items() if line > 1 and len(fields) == 4 and fields[1]}
    assert {int(row["line"]) for row in rows} == kept and len(rows) == len(kept) < 50
    assert list(rows[0])[:6] == ["split", "row", "line", "number", "id.split", "label"]
    for row in rows:
        label, _, number, split = source[int(row["line"])]
        assert (row["label"], row["number"], row["id.split"]) == (label, number, split)
    assert any(int(row["row"]) + 2 != int(row["line"]) for row in rows)  # the number is not the line
    # From Python: the same columns.
    frame = run.regions(method="knn")
    assert frame["line"].tolist() == [int(row["line"]) for row in rows]
    assert frame["number"].tolist() == [row["number"] for row in rows]
    assert frame["id.split"].tolist() == [row["id.split"] for row in rows]


def test_lines_of_a_test_part_are_those_of_the_test_file(tmp_path):
    write_file(tmp_path / "train.csv", 40, 0, "train")
    test = by_line(write_file(tmp_path / "test.csv", 30, 1, "test"))
    given = config(tmp_path, dataset={"test": str(tmp_path / "test.csv")}, protocol={"kind": "fixed-split"})
    confml.run(given, out=tmp_path / "fixed", jobs=1, engine="serial")
    rows = regions(tmp_path / "fixed")
    assert rows and "part" not in rows[0]
    assert [test[int(row["line"])][2] for row in rows] == [row["number"] for row in rows]
    assert [test[int(row["line"])][0] for row in rows] == [row["label"] for row in rows]
    pooled = confml.run(
        {**given, "protocol": {"kind": "k-fold", "folds": 2}}, out=tmp_path / "pooled", engine="serial"
    )
    files = {"train": by_line(tmp_path / "train.csv"), "test": test}
    rows = regions(pooled.folder)
    assert {row["part"] for row in rows} == {"train", "test"}
    assert all(files[row["part"]][int(row["line"])][2] == row["number"] for row in rows)


def test_data_without_a_file_have_no_lines(tmp_path):
    assert origins_key(load({"generate": "five-gaussians", "n": 20, "seed": 1})) is None
    given = config(tmp_path) | {"datasets": [{"generate": "five-gaussians", "n": 30}]}
    confml.run(given, out=tmp_path / "out", jobs=1, engine="serial")
    assert list(regions(tmp_path / "out")[0])[:3] == ["split", "row", "label"]
    assert not Store(tmp_path / "out").keys("rows")


def test_a_damaged_record_counts_as_absent(tmp_path):
    path = write_file(tmp_path / "train.csv", 20, 0, "n")
    data, store = load({"name": "d", "csv": str(path), "label": "label", "missing": "drop"}), Store(tmp_path)
    write_origins(store, data)
    store.sync()
    key = origins_key(data)
    assert RowOrigins.read(Store(tmp_path), key).lines.tolist() == data.lines.tolist()
    (arrays,) = tmp_path.glob(".run/batches/*.bin")
    arrays.write_bytes(b"")
    assert RowOrigins.read(Store(tmp_path), key) is None and RowOrigins.read(store, "1" * 32) is None
