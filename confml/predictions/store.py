"""`save_model` and `load_model`: a `Model` as a file, and back."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from confml.predictions.declarations import Check, Mismatch
from confml.predictions.model import Model
from confml.predictions.model_file import ModelFile, write_model_file

PARTS = {"method": "object", "few": "object | None", "neighbours": "TrainingRows"}


def save_model(model: Model, path: Path | str, trust: Sequence[str] = ()) -> None:
    """Write a model to a file that `load_model` and ``confml predict`` read; it is complete or absent.

    The file holds the fitted method, the steps, the columns of the table with their kinds, the training rows,
    checksums and versions, as arrays and JSON without pickle.

    Parameters
    ----------
    model : Model
        A fitted model.
    path : str or Path
        File to write, usually with the ending ``.confml``.
    trust : sequence of str, default=()
        Types that skops may store besides those that it trusts.

    Raises
    ------
    ConfmlError
        For a method that cannot be stored.

    Examples
    --------
    >>> model = load_model("iris.confml")  # of the example of `load_model`
    >>> save_model(model, "copy.confml")
    >>> load_model("copy.confml").view
    'p-value'
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
    names = [name.removesuffix("?") for name in Model.stored]
    own = {name: getattr(model, name) for name in names}
    own["coder"] = model.coder.without_counts()
    sections = {"model": own, **{name: model.parts[name]() for name in PARTS}}
    write_model_file(path, about, sections, trust)


def load_model(path: Path | str, trust: Sequence[str] = ()) -> Model:
    """Read a model from a file that `save_model` or ``confml predict --save`` wrote.

    Loading executes no code of the file. Its checksums find damage and do not prove who wrote it: predictions
    of a model from a stranger can be anything.

    Parameters
    ----------
    path : str or Path
        File of the model.
    trust : sequence of str, default=()
        Types that skops may make besides those that it trusts; their code is executed.

    Returns
    -------
    Model

    Raises
    ------
    DataError
        For a file that is missing, damaged, of a newer format, or no model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True).frame
    >>> answers = predict(iris[::2], iris[1:3], label="target", save="iris.confml")
    >>> model = load_model("iris.confml")
    >>> predict(model, iris[1:3])["prediction"].tolist()
    [0, 0]
    """
    file = ModelFile(path, trust)
    own = file.section("model")
    try:
        if not isinstance(own, dict):
            raise Mismatch("it is no dictionary")
        check = Check(file.known_sizes)
        check.attributes("Model", Model.stored, own)
        model = Model(**own, notes=tuple(file.notes), damaged=file.damaged)
        model.check_stored()
    except ValueError as error:
        raise file.damaged(f"its section 'model' is incomplete or does not fit together ({error})") from None
    return replace(model, parts={name: _part(file, name, form, model) for name, form in PARTS.items()})


def _part(file: ModelFile, name: str, form: str, model: Model) -> Callable[[], Any]:
    def part() -> Any:
        value = file.section(name)
        try:
            Check(file.known_sizes).attributes("Model", {name: form}, {name: value})
            model.check_stored_part(value)
        except ValueError as error:
            raise file.damaged(str(error)) from None
        return value

    return part
