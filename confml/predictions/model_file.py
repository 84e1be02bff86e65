"""Model files: a ZIP archive with ``model.json`` and arrays, checked by SHA-256; no pickle.

``model.json`` holds the format's version, confml's version, the sections as `state_codec` encodes them, and
the checksum of every other member; ``model.json.sha256`` holds its own. Arrays are ``arrays/<number>.npy``
without Python objects. Estimators that need skops are ``estimators/<number>.skops``. Members are not
compressed. Checksums find damage; they do not prove who wrote the file.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from confml._version import __version__
from confml.errors import ConfmlError, DataError
from confml.predictions.declarations import Mismatch
from confml.predictions.state_codec import CannotStore, Decoder, Encoder

FORMAT = 3  # raised whenever a section, or an attribute of a stored class, changes
_HEAD, _DIGEST = "model.json", "model.json.sha256"
_KIND = "confml model"
_DATE = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes
_SKOPS = "pip install 'confml[models]'"


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


def write_model_file(
    path: Path | str, about: Mapping[str, Any], sections: Mapping[str, Any], trust: Sequence[str] = ()
) -> None:
    """Write sections of values; the file is complete and on disk, or absent.

    about: plain data for readers of ``model.json``. trust: types that skops may store besides those that it
    trusts. Raises ConfmlError for values that cannot be stored.
    """
    from confml.runner.store import open_atomically

    path = Path(path)
    encoder = Encoder()
    encoded = {name: encoder.section(value) for name, value in sections.items()}
    members = {f"arrays/{number}.npy": _npy(array) for number, array in enumerate(encoder.arrays)}
    packages = {"scikit-learn": _sklearn_version()} if encoder.uses_sklearn else {}
    for number, estimator in enumerate(encoder.estimators):
        members[f"estimators/{number}.skops"] = skops_bytes(estimator, trust)
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
    with (
        open_atomically(path, durable=True) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content)


class ModelFile:
    """A model file that was opened; its sections are read when they are asked for.

    about: ``model.json`` without the sections. notes: sentences on differences to this installation. trust:
    types of estimators that skops may make besides those that it trusts. Raises DataError for a file that is
    missing, no model, damaged, or of a newer format.
    """

    def __init__(self, path: Path | str, trust: Sequence[str] = ()):
        self.path, self._trust = Path(path), trust
        self._archive: zipfile.ZipFile | None = None  # open while a section is decoded
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
        """Return the value of a section; the same object each time. Raises DataError if it is damaged."""
        if name not in self._decoded:
            try:
                with zipfile.ZipFile(self.path) as self._archive:
                    self._decoded[name] = self._decoder.decode(self._sections[name])
            except ConfmlError as error:
                if error.where is not None:
                    raise
                raise DataError(error.message, where=str(self.path), hint=error.hint) from None
            except Mismatch as error:
                raise self.damaged(f"its section '{name}' cannot be decoded ({error})") from None
            except Exception as error:  # any value may be in the place of any other
                raise self.damaged(f"its section '{name}' cannot be decoded") from error
            finally:
                self._archive = None
        return self._decoded[name]

    @property
    def known_sizes(self) -> Mapping[int, Mapping[str, int]]:
        """The sizes of decoded objects by identity."""
        return self._decoder.sizes

    # ---- members

    def _head(self) -> dict[str, Any]:
        from confml.data.table_files import file_error

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
            raise (self.damaged("it is cut off") if is_archive else self._no_model()) from None
        if _HEAD not in names:
            raise self._no_model()
        text = self._member(_HEAD)
        try:
            head = json.loads(text)
        except (ValueError, RecursionError):
            raise self.damaged(f"{_HEAD} is not JSON") from None
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
            raise self.damaged(f"{_HEAD} does not have its checksum")
        if not isinstance(head.get("sections"), dict) or not isinstance(head.get("sha256"), dict):
            raise self.damaged(f"{_HEAD} has no sections")
        gone = [name for name in head["sha256"] if name not in names]
        if gone:
            raise self.damaged(f"{gone[0]} is missing")
        return head

    def _checked(self, name: str) -> bytes:
        content = self._member(name)
        if _sha256(content) != self._sums[name]:
            raise self.damaged(f"{name} does not have its checksum")
        return content

    def _member(self, name: str) -> bytes:
        try:
            with contextlib.ExitStack() as stack:
                archive = self._archive or stack.enter_context(zipfile.ZipFile(self.path))
                info = archive.getinfo(name)
                if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                    raise self.damaged(f"{name} is compressed")
                return archive.read(info)
        except (zipfile.BadZipFile, OSError, EOFError, KeyError, RuntimeError, NotImplementedError):
            raise self.damaged(f"{name} cannot be read") from None

    def _array(self, number: int) -> np.ndarray:
        return _from_npy(self._checked(f"arrays/{int(number)}.npy"))

    def _estimator(self, number: int) -> Any:
        return _from_skops(self._checked(f"estimators/{int(number)}.skops"), self.path, self._trust)

    def damaged(self, reason: str) -> DataError:
        """Return the error of a file that is not what was written."""
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
    """Return the array in the bytes of an .npy file, by one copy. Raises ValueError for Python objects."""
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


def skops_io(reason: Callable[[str], ConfmlError]) -> Any:
    """Return the module ``skops.io``; the error that ``reason`` makes of a text if it is not installed."""
    if importlib.util.find_spec("skops") is None:
        raise reason(f"an estimator of scikit-learn is stored with skops, which is not installed: {_SKOPS}")
    return importlib.import_module("skops.io")


def skops_bytes(estimator: Any, trust: Sequence[str] = ()) -> bytes:
    """Return a fitted estimator in the format of skops, after a check that it can be read back."""
    io_ = skops_io(lambda text: CannotStore(text))
    name = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
    try:
        content = io_.dumps(estimator)
        untrusted = set(map(str, io_.get_untrusted_types(data=content))) - set(trust)
    except Exception as error:
        raise CannotStore(f"skops cannot store {name}: {error}") from None
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


def _from_skops(content: bytes, path: Path, trust: Sequence[str]) -> Any:
    io_ = skops_io(lambda text: DataError(text, where=str(path)))
    found = set(map(str, io_.get_untrusted_types(data=content)))
    if untrusted := found - set(trust):
        raise DataError(
            f"the model holds objects of types that are not trusted: {', '.join(sorted(untrusted))}",
            where=str(path),
            hint=f"reading them executes their code; if you trust it and the file, {_trusting(untrusted)}",
        )
    return io_.loads(content, trusted=sorted(found))


def _trusting(types: set[str]) -> str:
    return f"add {' '.join(f'--trust {name}' for name in sorted(types))}"
