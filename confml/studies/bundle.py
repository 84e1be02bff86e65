"""Bundles: a run as one ZIP archive without absolute paths, which another machine computes again.

An archive holds ``bundle.json`` (SHA-256 of every member, checksum of every data set), ``config.json``,
``requirements.txt``, the cards of data sets, the files of the config if they may be given away, and the
reports of the run in ``results/``.
"""

import hashlib
import json
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from confml.data.cards import known_cards, read_card
from confml.data.files import sha256_of
from confml.errors import ConfmlError, DataError, printable
from confml.report.run.stored import open_run
from confml.runner.manifest import read_manifest

ABOUT, FORMAT = "bundle.json", 1
STORE = ("cells", "inner", "packs", "rows", "failures", "manifest.json")
"""Parts of a run's folder that are no report."""
COMPARED = (".csv", ".json", ".md", ".tex", ".zip")
TIMES = ("timings", "answer.json", "summary.md")
"""Parts of the names of files with times, which no two runs share."""
LARGEST = 1 << 33  # bytes of an unpacked archive
BROKEN = (OSError, KeyError, ValueError, zipfile.BadZipFile, RuntimeError, EOFError)
_DATE = (1980, 1, 1, 0, 0, 0)


class Checked(NamedTuple):
    """A file of a bundle after the run was computed again. state: ``same``, ``differs`` or ``missing``."""

    name: str
    state: str


def write_bundle(run: Path, target: Path, with_data: bool = False) -> list[str]:
    """Write the bundle of a finished run; return the names of its members.

    with_data: also the data files that the config names, and files with probabilities. Raises ConfmlError for
    a run with cells to compute, and for a data file that is not there.
    """
    manifest = read_manifest(run)
    results = open_run(run)
    if len(results.results) < len(results.cells):
        left = len(results.cells) - len(results.results)
        message = f"{left} of {len(results.cells)} cells have no result"
        raise ConfmlError(message, where=str(run), hint="run it again")
    config, files = _moved(manifest["config"])
    members = {"config.json": _json(config), "requirements.txt": _requirements(manifest).encode()}
    for name in {spec.card or spec.name for spec in results.config.datasets} & set(known_cards()):
        members[f"cards/{name}.yaml"] = read_card(name).path.read_bytes()
    for name, path in files.items():
        if not path.is_file():
            raise DataError("there is no such file, and the bundle needs its checksum", where=str(path))
        if with_data:
            members[name] = path.read_bytes()
    hidden = {str(path): name for name, path in files.items()} | {str(run.resolve()): run.name}
    for path in _reports(run):
        content = path.read_bytes()
        for place, name in hidden.items():
            content = content.replace(place.encode(), name.encode())
        members[f"results/{path.relative_to(run).as_posix()}"] = content
    about = {
        "format": FORMAT,
        "name": manifest["name"],
        "confml": manifest["provenance"].get("confml"),
        "python": manifest["provenance"].get("python"),
        "depends_on_processor": manifest["provenance"].get("depends_on_processor", []),
        "datasets": {info["name"]: info["checksum"] for info in manifest["datasets"]},
        "files": {name: sha256_of(path) for name, path in files.items()},
        "members": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(members.items())},
    }
    members[ABOUT] = _json(about)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(members.items()):
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    part.replace(target)
    return sorted(members)


def verify_bundle(
    bundle: Path, work: Path, compute: Callable[[Path, Path], Any], data: Path | None = None
) -> list[Checked]:
    """Unpack a bundle into ``work``, compute its run again, and compare the bytes of its results.

    compute: called with the config and the folder of the run. data: folder with the data files that the
    bundle lacks. Raises DataError for a damaged bundle and for missing or other data.
    """
    about = unpack_bundle(bundle, work)
    for name, digest in about["files"].items():
        path = work / name
        if not path.exists():
            own = None if data is None else next(data.rglob(PurePosixPath(name).name), None)
            if own is None:
                hint = "--data FOLDER names the folder that has it"
                message = f"{PurePosixPath(name).name} is not in the bundle"
                raise DataError(message, where=str(bundle), hint=hint)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(own, path)
        if sha256_of(path) != digest:
            raise DataError("this is not the file of the run: its SHA-256 differs", where=str(path))
    compute(work / "config.json", work / "run")
    found = {info["name"]: info["checksum"] for info in read_manifest(work / "run")["datasets"]}
    if other := [name for name, checksum in about["datasets"].items() if found.get(name) != checksum]:
        message = f"data set '{other[0]}' is not the one of the run: its checksum differs"
        raise DataError(message, where=str(bundle))
    return [
        Checked(name, _state(work / "run" / name.removeprefix("results/"), digest))
        for name, digest in about["members"].items()
        if name.startswith("results/") and is_compared(name)
    ]


def unpack_bundle(bundle: Path, folder: Path) -> dict[str, Any]:
    """Unpack a bundle after checking the name and SHA-256 of every member; return ``bundle.json``.

    Raises DataError for others.
    """
    try:
        with zipfile.ZipFile(bundle) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            if len(infos) < len(archive.infolist()) or sum(one.file_size for one in infos.values()) > LARGEST:
                raise _damaged(bundle, "two members have one name, or it is too large")
            about = json.loads(archive.read(ABOUT))
            _check_about(about, bundle)
            for name in infos.keys() ^ {*about["members"], ABOUT}:
                where = "is missing" if name in about["members"] else "is not listed in it"
                raise _damaged(bundle, f"{printable(name, 80)} {where}")
            for name, digest in about["members"].items():
                if not _is_safe(name) or stat.S_ISLNK(infos[name].external_attr >> 16):
                    raise _damaged(bundle, f"the path of {printable(name, 80)} leads out of it")
                content = archive.read(name)
                if hashlib.sha256(content).hexdigest() != digest:
                    raise _damaged(bundle, f"the SHA-256 of {printable(name, 80)} differs")
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
    except FileNotFoundError:
        raise DataError("there is no such file", where=str(bundle)) from None
    except BROKEN as error:
        if isinstance(error, ConfmlError):
            raise
        raise _damaged(bundle, printable(error, 200)) from None
    return about


def is_compared(name: str) -> bool:
    """Return whether two computations of a run give the same bytes of a member."""
    path = PurePosixPath(name)
    timed = any(part in path.name for part in TIMES)
    return path.suffix in COMPARED and not timed and "figures" not in path.parts


# ---- parts


def _moved(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Path]]:
    """Return a config whose files are in ``data/``, and the files by their names there."""
    files: dict[str, Path] = {}

    def moved(value: str) -> str:
        path = Path(value)
        name = f"data/{path.name}"
        number = 2
        while files.setdefault(name, path) != path:
            name, number = f"data/{number}-{path.name}", number + 1
        return name

    plain = json.loads(json.dumps(config))
    for entry in plain["datasets"]:
        entry.update({key: moved(entry[key]) for key in ("csv", "test") if key in entry})
    for entry in plain["methods"]:
        for holder in (entry, entry.get("params", {}), entry.get("sweep", {})):
            value = holder.get("probabilities")
            if isinstance(value, str):
                holder["probabilities"] = moved(value)
            elif isinstance(value, list):
                holder["probabilities"] = [moved(one) for one in value]
    return plain, files


def _requirements(manifest: Mapping[str, Any]) -> str:
    about = manifest["provenance"]
    versions = {"confml": about.get("confml"), **about.get("packages", {})}
    known = [(name, one) for name, one in sorted(versions.items()) if one not in (None, "missing")]
    lines = [f"{name}=={version}" for name, version in known]
    return f"# Python {about.get('python')}\n" + "\n".join(lines) + "\n"


def _reports(run: Path) -> Iterator[Path]:
    for path in sorted(run.rglob("*")):
        parts = path.relative_to(run).parts
        if path.is_file() and parts[0] not in STORE and not any(part.startswith(".") for part in parts):
            yield path


def _check_about(about: Any, bundle: Path) -> None:
    def of_texts(value: Any) -> bool:
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())

    keys = ("datasets", "files", "members")
    if not isinstance(about, dict) or not all(of_texts(about.get(key)) for key in keys):
        raise _damaged(bundle, "bundle.json does not have the form that confml bundle writes")
    if about.get("format") != FORMAT:
        raise _damaged(bundle, f"its format is {about.get('format')!r}, expected {FORMAT}")
    if not all(map(_is_safe, about["files"])) or "config.json" not in about["members"]:
        raise _damaged(bundle, "a path leads out of it, or it has no config.json")


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name)
    outside = {"..", ""} & {*path.parts} or set("\\:") & {*name}
    return bool(name) and not path.is_absolute() and not outside


def _state(path: Path, digest: str) -> str:
    if not path.is_file():
        return "missing"
    return "same" if sha256_of(path) == digest else "differs"


def _damaged(bundle: Path, why: str) -> DataError:
    return DataError(f"this is not a bundle of confml, or it is damaged: {why}", where=str(bundle))


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
