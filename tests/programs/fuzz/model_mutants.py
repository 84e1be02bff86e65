"""Mutants of model files with right checksums: values, dtypes and shapes of a valid file are changed."""

from __future__ import annotations

import functools
import io
import json
import random
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from programs.fuzz.json_mutants import mutate

import confml
from confml.methods.registry import known_methods

COSTS = {a: {b: 1 for b in "012" if b != a} for a in "012"}
METHODS = [
    ("tcm-nn", {"params": {"k": 2, "mondrian": True}}),
    ("knn", {"params": {"k": 3}}),
    ("knn", {"params": {"distance": "mahalanobis", "nominal": "dummy"}}),
    ("weighted-knn", {"nominal": ["kind"]}),
    ("bayes-knn", {}),
    ("bayes-knn", {"params": {"model": "adaptive", "samples": 10, "burn_in": 5, "chains": 2, "thin": 1}}),
    ("naive-bayes", {"conformal": "split"}),
    ("smart-svm", {}),
    ("knn", {"steps": ["standardise", "select-attributes"], "params": {"venn": "inductive"}}),
    ("sklearn.ensemble.RandomForestClassifier", {"params": {"n_estimators": 3}}),
    ("sklearn.ensemble.GradientBoostingClassifier", {"params": {"n_estimators": 3}, "conformal": "split"}),
    ("sklearn.ensemble.HistGradientBoostingClassifier", {"params": {"max_iter": 3, "min_samples_leaf": 2}}),
    ("sklearn.neural_network.MLPClassifier", {"params": {"max_iter": 3, "hidden_layer_sizes": [4]}}),
]
METHODS += [  # every other method
    (name, {"params": {"n_bounces": 20} if "n_bounces" in cls.parameters else {}})
    for name, cls in known_methods().items()
    if not cls.takes_rows and name not in {name for name, _ in METHODS}
]
METHODS += [  # further parts of a model
    ("knn", {"conformal": "cross", "steps": ["standardise"]}),
    ("naive-bayes", {"conformal": "split", "params": {"conformal__by": "kind"}}),
    ("naive-bayes", {"conformal": "split", "params": {"conformal__shift": "label"}}),
    ("tcm-nn", {"risk": 0.4, "selection_part": 0.2, "steps": ["standardise"]}),
    ("tcm-nn", {"params": {"by": "kind"}}),
    ("naive-bayes", {"costs": {"matrix": COSTS, "abstain": 0.3}}),
]
STRANGE = (0, 1, -1, 2, 7, 255, -(2**31), 2**63 - 1, -(2**63), np.nan, np.inf, -np.inf, 1e308, 5e-324)
DTYPES = ("<f8", ">f8", "<f4", "<i8", ">i8", "<i4", "<u8", "|u1", "|b1", "<U3", "<c16", "<M8[s]")


def table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = np.arange(45) % 3
    kind, a, b = rng.choice(list("uvw"), 45), rng.normal(size=45) + y, rng.normal(size=45) - y
    return pd.DataFrame({"a": a, "b": b, "kind": kind, "target": y})


@functools.cache
def models() -> list[tuple[str, dict[str, bytes]]]:
    """(method, members) of one valid model file for each of `METHODS`."""
    models, frame = [], table()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.confml"
        new = frame[:2].drop(columns="target")
        for method, options in METHODS:
            confml.predict(frame, new, label="target", method=method, save=path, **options)
            models.append((method, members_of(path)))
    return models


def members_of(path: Path) -> dict[str, bytes]:
    """The members of the file of skops inside a model file, and the description ``model.json``."""
    with zipfile.ZipFile(path) as archive:
        inner = zipfile.ZipFile(io.BytesIO(archive.read("model.skops")))
        members = {name: inner.read(name) for name in inner.namelist()}
        return {"model.json": archive.read("model.json"), **members}


def mutants(seed: int) -> Iterator[tuple[str, bytes]]:
    """(method, bytes): every valid file, then mutants with right checksums without end."""
    for method, members in models():
        yield method, signed(members)
    rng = random.Random(f"model {seed}")
    while True:
        method, members = rng.choice(models())
        changed = dict(members)
        for _ in range(rng.choice((1, 1, 1, 2))):
            arrays = [name for name in changed if name.endswith(".npy")]
            if arrays and rng.random() < 0.65:
                name = rng.choice(arrays)
                changed[name] = changed_array(changed[name], rng)
            else:
                schema = json.loads(changed["schema.json"])
                changed["schema.json"] = json.dumps(mutate(schema, rng)).encode()
        yield method, signed(changed)


def changed_array(content: bytes, rng: random.Random) -> bytes:
    """An array with a strange value, another dtype or another shape."""
    array = np.load(io.BytesIO(content), allow_pickle=False).copy()
    kind = rng.choice(("value", "value", "value", "dtype", "shape"))
    with np.errstate(all="ignore"):
        if kind == "value" and array.size:
            column = array[rng.choice(array.dtype.names)] if array.dtype.names else array
            if column.dtype.kind in "biuf":
                column.flat[rng.randrange(column.size)] = np.array(rng.choice(STRANGE)).astype(column.dtype)
        elif kind == "dtype" and not array.dtype.names:
            array = array.astype(rng.choice(DTYPES))
        elif kind == "shape" and array.ndim:
            twice = np.concatenate([array, array])
            array = rng.choice([array[:-1], array[:0], array.reshape(-1), array[None], twice, array.T])
    file = io.BytesIO()
    np.save(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def signed(members: dict[str, bytes]) -> bytes:
    """The bytes of a model file with these members of `members_of`; an archive has the checksums itself."""
    inner = archive_of({name: content for name, content in members.items() if name != "model.json"})
    return archive_of({"model.json": members["model.json"], "model.skops": inner})


def archive_of(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def feed_model(data: bytes, folder: Path) -> None:
    """Feed a model file whose checksums are right: it predicts, or is refused as damaged."""
    path = folder / "mutant.confml"
    path.write_bytes(data)
    new: pd.DataFrame | Path = table(1)[:6]
    if len(data) % 2:
        table(1)[:6].to_csv(new := folder / "new.csv", index=False)
    levels = (0.001, 0.1) if len(data) % 3 else (0.5,)
    confml.predict(path, new, explain=1, levels=levels)
