"""`save_model` and `load_model`: a `Model` as a file, and back.

A model file is a ZIP archive with ``model.json``, a description, and ``model.skops``, the model in the format
of skops, without pickle. The checksums of the archive find damage; they do not prove who wrote the file.
"""

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from confml._version import __version__
from confml.errors import ConfmlError, DataError, printable
from confml.predictions.model import Model, damaged

FORMAT = 7  # raised whenever an attribute of a class in `trusted` changes
_KIND, _HEAD, _CONTENT = "confml model", "model.json", "model.skops"
_DATE = (1980, 1, 1, 0, 0, 0)
_AGAIN = "fit it again with --save"


class CannotStore(ConfmlError):
    """A model that a file cannot hold. types: those that skops does not trust."""

    types: Sequence[str] = ()


def is_model_file(path: Path | str) -> bool:
    """Return whether a path is to be read as a model file: it ends in ``.confml``, or is a ZIP archive with a
    model.
    """
    path = Path(path)
    if path.suffix.lower() == ".confml":
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return _HEAD in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


def save_model(model: Model, path: Path | str, trust: Sequence[str] = ()) -> None:
    """Write a model to a file that `load_model` and ``confml predict`` read; it is complete or absent.

    The file holds the fitted method, the steps, the columns of the table with their kinds, the training rows
    and versions, in the format of skops without pickle.

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
    from confml._outputs import open_atomically

    facts, path = model.facts, Path(path)
    content = _skops_bytes(replace(model, notes=(), file=None), trust)
    head = {
        "kind": _KIND,
        "format": FORMAT,
        "confml": __version__,
        "scikit-learn": version("scikit-learn"),
        "method": facts.method,
        "view": model.view,
        "data": {"name": facts.data, "sha256": facts.checksum, "rows": facts.training_rows},
        "classes": [str(label) for label in model.none.classes.tolist()],
        "columns": [
            {"name": name, "kind": "numeric" if texts is None else "nominal"}
            for name, texts in zip(model.coder.features, model.coder.categories, strict=True)
        ],
        "versions": _versions(model),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_atomically(path) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(_HEAD, _DATE), json.dumps(head))
        # The text of skops about each node of a tree is long: a forest is a sixth as large.
        archive.writestr(zipfile.ZipInfo(_CONTENT, _DATE), content, zipfile.ZIP_DEFLATED, 1)


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
        The fitted method with its steps, which `predict` takes in place of labelled rows.

    Raises
    ------
    DataError
        For a file that is missing, damaged, of another format, or no model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True).frame
    >>> answers = predict(iris[::2], iris[1:3], label="target", save="iris.confml")
    >>> model = load_model("iris.confml")
    >>> predict(model, iris[1:3])["prediction"].tolist()
    [0, 0]
    """
    head, content = _read(Path(path))
    model = _loaded(content, Path(path), trust)
    versions = head.get("versions")
    for name, number in _versions(model).items():
        fitted = versions.get(name) if isinstance(versions, dict) else None
        if fitted != number:
            raise DataError(
                f"the model was fitted with version {fitted} of {name}, and this confml has version "
                f"{number}, whose results differ",
                where=str(path),
                hint=_AGAIN,
            )
    stored, installed = head.get("scikit-learn"), version("scikit-learn")
    if stored != installed:
        note = f"{Path(path).name} was fitted with scikit-learn {stored}, and {installed} is installed"
        model.notes = (f"{note}: predictions may differ",)
    return model


def _skops_bytes(model: Model, trust: Sequence[str]) -> bytes:
    """Return a model in the format of skops, after a check that it can be read back. Raises `CannotStore`."""
    from skops.io import dumps, get_untrusted_types

    from confml.predictions.trusted import trusted_types

    name = model.facts.method
    try:
        content = dumps(model)
        untrusted = set(get_untrusted_types(data=content)) - set(trust) - set(trusted_types())
    except Exception as error:
        raise CannotStore(
            f"{name} cannot be stored: {printable(error, 300)}", hint="predict without --save"
        ) from None
    if untrusted:
        refusal = CannotStore(
            f"{name} cannot be stored: it holds objects of types that skops does not trust "
            f"({', '.join(sorted(untrusted))})",
            hint=f"if you trust their code, {_trusting(untrusted)}, also for reading the model; or choose "
            "another classifier",
        )
        refusal.types = sorted(untrusted)
        raise refusal
    return content


def _read(path: Path) -> tuple[Mapping[str, Any], bytes]:
    """Return the description and the content of a model file. Raises DataError."""
    from confml.data.table_files import file_error

    try:
        with zipfile.ZipFile(path) as archive:
            head = json.loads(archive.read(_HEAD))
            is_model, number = head["kind"] == _KIND, head["format"]
            if is_model and number == FORMAT:
                return head, archive.read(_CONTENT)
    except OSError as error:
        raise file_error(path, error) from None
    except Exception as error:  # zlib, zipfile and json raise many kinds for damaged archives
        with open(path, "rb") as file:
            is_archive = file.read(2) == b"PK"
        if is_archive and not (isinstance(error, KeyError) and _HEAD in str(error)):
            reason = f"it cannot be read ({type(error).__name__}: {printable(error, 200)})"
            raise damaged(path, reason) from None
        is_model = False
    if not is_model:
        hint = "confml predict CONFIG --save model.confml writes one"
        raise DataError("this is not a model file of confml", where=str(path), hint=hint)
    raise DataError(
        f"the model file has format {number} (written by confml {head.get('confml')}), and confml "
        f"{__version__} reads format {FORMAT}",
        where=str(path),
        hint=_AGAIN,
    )


def _loaded(content: bytes, path: Path, trust: Sequence[str]) -> Model:
    """Return the model in the format of skops. Raises DataError."""
    from skops.io import get_untrusted_types, loads
    from skops.io.exceptions import UntrustedTypesFoundException

    from confml.predictions.trees import check_tree_nodes
    from confml.predictions.trusted import check_objects, trusted_types

    trusted = [*trusted_types(), *trust]
    try:
        check_tree_nodes(content)
        model = loads(content, trusted=trusted)
        if not isinstance(model, Model):
            raise TypeError(f"it holds a {type(model).__name__}")
        check_objects(model)
        repr(model)
        return replace(model, file=path)
    except UntrustedTypesFoundException:
        foreign = set(get_untrusted_types(data=content)) - set(trusted)
        raise DataError(
            f"the model holds objects of types that are not trusted: {', '.join(sorted(foreign))}",
            where=str(path),
            hint=f"reading them executes their code; if you trust it and the file, {_trusting(foreign)}",
        ) from None
    except Exception as error:  # any value may be in the place of any other
        raise damaged(path, f"{type(error).__name__}: {printable(error, 300)}") from error


def _versions(model: Model) -> dict[str, int]:
    """Return the versions of the classes of the methods and steps in a model, by the name of the class."""
    from confml.predictions.trusted import objects_in

    versions = ((type(value).__name__, getattr(type(value), "version", None)) for value in objects_in(model))
    return {name: number for name, number in versions if isinstance(number, int)}


def _trusting(types: Iterable[str]) -> str:
    return f"add {' '.join(f'--trust {name}' for name in sorted(types))}"
