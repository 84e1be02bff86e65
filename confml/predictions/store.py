"""`save_model` and `load_model`: a `Model` as a file, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from confml.errors import DataError
from confml.predictions.model import Model
from confml.predictions.model_file import ModelFile, write_model_file

PARTS = ("method", "few", "neighbours")


def save_model(model: Model, path: Path | str) -> None:
    """Write a model to a file that `load_model` and ``confml predict`` read; it is complete or absent.

    The file holds the fitted method, the steps, the columns of the table with their kinds, the training rows,
    checksums and versions, as arrays and JSON without pickle. Raises ConfmlError for a method that cannot be
    stored, such as a classifier of scikit-learn without skops.
    """
    facts = model.facts
    about = {
        "method": facts.method,
        "view": model.view,
        "data": {"name": facts.data, "sha256": facts.checksum, "rows": facts.training_rows},
        "classes": [str(label) for label in model.none.classes.tolist()],
        "columns": [
            {"name": name, "kind": "numeric" if known is None else "nominal"}
            for name, known in zip(model.coder.features, model.coder.categories, strict=True)
        ],
    }
    own = {name: getattr(model, name) for name in _own_fields()}
    own["coder"] = model.coder.without_counts()
    sections = {"model": own, **{name: model.parts[name]() for name in PARTS}}
    write_model_file(path, about, sections)


def load_model(path: Path | str) -> Model:
    """Read a model from a file that `save_model` or ``confml predict --save`` wrote.

    Loading executes no code of the file. Its checksums find damage and do not prove who wrote it: predictions
    of a model from a stranger can be anything. Raises DataError for a file that is missing, damaged, of a
    newer format, or no model.

    Examples
    --------
    >>> import confml
    >>> model = confml.load_model("loans.confml")  # doctest: +SKIP
    >>> answers = confml.predict(model, new)  # doctest: +SKIP
    """
    file = ModelFile(path)
    own = file.section("model")
    if not isinstance(own, dict) or set(own) != _own_fields():
        raise DataError("the model file is damaged: its section 'model' is incomplete", where=str(path))
    return Model(**own, parts={name: _part(file, name) for name in PARTS}, notes=tuple(file.notes))


def _own_fields() -> set[str]:
    return {one.name for one in fields(Model)} - {"parts", "notes"}


def _part(file: ModelFile, name: str) -> Callable[[], Any]:
    return lambda: file.section(name)
