"""Model files: a ZIP archive with ``model.json`` and arrays, checked by SHA-256; no pickle.

``model.json`` holds the format's version, confml's version, the sections as `state_codec` encodes them, and
the checksum of every other member; ``model.json.sha256`` holds its own. Arrays are ``arrays/<number>.npy``
without Python objects. Estimators of scikit-learn are ``estimators/<number>.skops``. Members are not
compressed. Checksums find damage; they do not prove who wrote the file.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from confml._version import __version__
from confml.errors import ConfmlError, DataError
from confml.predictions.state_codec import CannotStore, Decoder, Encoder

FORMAT = 2  # raised whenever a section, or an attribute of a stored class, changes
_HEAD, _DIGEST = "model.json", "model.json.sha256"
_KIND = "confml model"
_DATE = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes
_SKOPS = "pip install 'confml[models]'"


def is_model_file(path: Path | str) -> bool:
    """Whether a path is to be read as a model file: it ends in ``.confml``, or is a ZIP archive with a
    model."""
    path = Path(path)
    if path.suffix.lower() == ".confml":
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return _HEAD in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return False


def write_model_file(path: Path | str, about: Mapping[str, Any], sections: Mapping[str, Any]) -> None:
    """Write sections of values; the file is complete or absent.

    about: plain data for readers of ``model.json``. Raises ConfmlError for values that cannot be stored.
    """
    path = Path(path)
    encoder = Encoder()
    encoded = {name: encoder.section(value) for name, value in sections.items()}
    members = {f"arrays/{number}.npy": _npy(array) for number, array in enumerate(encoder.arrays)}
    packages = {}
    for number, estimator in enumerate(encoder.estimators):
        packages["scikit-learn"] = _sklearn_version()
        members[f"estimators/{number}.skops"] = _skops_bytes(estimator)
    head = {
        "kind": _KIND,
        "format": FORMAT,
        "confml": __version__,
        "packages": packages,
        **about,
        "sections": encoded,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    text = json.dumps(head, separators=(",", ":"), allow_nan=False).encode()
    members = {_HEAD: text, _DIGEST: hashlib.sha256(text).hexdigest().encode(), **members}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name, _DATE), content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


class ModelFile:
    """A model file that was opened; its sections are read when they are asked for.

    about: ``model.json`` without the sections. notes: sentences on differences to this installation. Raises
    DataError for a file that is missing, no model, damaged, or of a newer format.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        head = self._head()
        self._sections, self._sums = head.pop("sections"), head.pop("sha256")
        self.about = head
        self._decoder = Decoder(self._array, self._estimator)
        self._decoded: dict[str, Any] = {}

    @property
    def notes(self) -> list[str]:
        stored = self.about.get("packages", {}).get("scikit-learn")
        if stored is None or stored == _sklearn_version():
            return []
        return [
            f"{self.path.name} was fitted with scikit-learn {stored}, and {_sklearn_version()} is installed: "
            "predictions may differ"
        ]

    def section(self, name: str) -> Any:
        """The value of a section; the same object each time."""
        if name not in self._decoded:
            try:
                self._decoded[name] = self._decoder.decode(self._sections[name])
            except ConfmlError as error:
                if error.where is not None:
                    raise
                raise DataError(error.message, where=str(self.path), hint=error.hint) from None
            except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
                raise self._damaged(f"its section '{name}' cannot be decoded") from None
        return self._decoded[name]

    # ---- members

    def _head(self) -> dict[str, Any]:
        from confml.data.text_table import file_error

        try:
            with zipfile.ZipFile(self.path) as archive:
                names = set(archive.namelist())
        except IsADirectoryError:
            raise DataError("this is a folder, not a model file", where=str(self.path)) from None
        except OSError as error:
            raise file_error(self.path, error) from None
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            with open(self.path, "rb") as file:
                is_archive = file.read(2) == b"PK"
            raise (self._damaged("it is cut off") if is_archive else self._no_model()) from None
        if _HEAD not in names:
            raise self._no_model()
        text = self._member(_HEAD)
        try:
            head = json.loads(text)
        except (ValueError, RecursionError):
            raise self._damaged(f"{_HEAD} is not JSON") from None
        if not isinstance(head, dict) or head.get("kind") != _KIND or type(head.get("format")) is not int:
            raise self._no_model()
        if head["format"] > FORMAT:
            raise DataError(
                f"the model has format {head['format']} (written by confml {head.get('confml')}), and confml "
                f"{__version__} reads formats up to {FORMAT}",
                where=str(self.path),
                hint="install a newer confml (pip install --upgrade confml), or fit the model again here",
            )
        if _DIGEST not in names or self._member(_DIGEST).decode("ascii", "replace") != _sha256(text):
            raise self._damaged(f"{_HEAD} does not have its checksum")
        if not isinstance(head.get("sections"), dict) or not isinstance(head.get("sha256"), dict):
            raise self._damaged(f"{_HEAD} has no sections")
        gone = [name for name in head["sha256"] if name not in names]
        if gone:
            raise self._damaged(f"{gone[0]} is missing")
        return head

    def _checked(self, name: str) -> bytes:
        content = self._member(name)
        if _sha256(content) != self._sums[name]:
            raise self._damaged(f"{name} does not have its checksum")
        return content

    def _member(self, name: str) -> bytes:
        try:
            with zipfile.ZipFile(self.path) as archive:
                info = archive.getinfo(name)
                if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                    raise self._damaged(f"{name} is compressed")
                return archive.read(info)
        except (zipfile.BadZipFile, OSError, EOFError, KeyError, RuntimeError, NotImplementedError):
            raise self._damaged(f"{name} cannot be read") from None

    def _array(self, number: int) -> np.ndarray:
        return _from_npy(self._checked(f"arrays/{int(number)}.npy"))

    def _estimator(self, number: int) -> Any:
        return _from_skops(self._checked(f"estimators/{int(number)}.skops"), self.path)

    def _damaged(self, reason: str) -> DataError:
        return DataError(
            f"the model file is damaged: {reason}",
            where=str(self.path),
            hint="copy it again, or fit it again with --save",
        )

    def _no_model(self) -> DataError:
        return DataError(
            "this is not a model file of confml",
            where=str(self.path),
            hint="confml predict CONFIG --save model.confml writes one",
        )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return file.getvalue()


def _from_npy(content: bytes) -> np.ndarray:
    """The array in the bytes of an .npy file, by one copy. Raises ValueError for Python objects."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read_header:  # names of fields that are not Latin-1, which no model has
        raise ValueError(f"unknown version {version} of an .npy file")
    shape, is_fortran, dtype = read_header[version](file)
    if dtype.hasobject:
        raise ValueError("an array of Python objects")
    values = np.frombuffer(content, dtype, int(np.prod(shape, dtype=np.int64)), file.tell())
    return values.reshape(shape, order="F" if is_fortran else "C").copy(order="K")


def _sklearn_version() -> str:
    from importlib.metadata import version

    return version("scikit-learn")


def _skops_io(reason: Callable[[str], ConfmlError]) -> Any:
    if importlib.util.find_spec("skops") is None:
        raise reason(f"an estimator of scikit-learn is stored with skops, which is not installed: {_SKOPS}")
    return importlib.import_module("skops.io")


def _skops_bytes(estimator: Any) -> bytes:
    """A fitted estimator in the format of skops, after a check that it can be read back."""
    io_ = _skops_io(lambda text: CannotStore(text))
    name = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    try:
        content = io_.dumps(estimator)
        untrusted = io_.get_untrusted_types(data=content)
    except Exception as error:
        raise CannotStore(f"skops cannot store {name}: {error}") from None
    if untrusted:
        raise CannotStore(
            f"{name} cannot be stored: it holds objects of types that skops does not trust "
            f"({', '.join(sorted(map(str, untrusted)))})",
            hint="choose another classifier, or predict without --save",
        )
    return content


def _from_skops(content: bytes, path: Path) -> Any:
    io_ = _skops_io(lambda text: DataError(text, where=str(path)))
    untrusted = io_.get_untrusted_types(data=content)
    if untrusted:
        raise DataError(
            "the model holds objects of types that are not trusted: "
            f"{', '.join(sorted(map(str, untrusted)))}",
            where=str(path),
            hint="fit it again with --save",
        )
    return io_.loads(content, trusted=[])
