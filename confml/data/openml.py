"""Data sets of OpenML by name or number: fetched once, checked by their MD5, and read from ARFF files.

The cache has a folder ``openml/<number>`` for each data set, with its description and its file, and the
number of each name that was looked up, so that a run is repeated without a network.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from confml.data.cards import CardFile
from confml.data.csv_table import load_tables
from confml.data.dataset import DataSet
from confml.data.download import ATTEMPTS, TIMEOUT, Transfers, workspace
from confml.data.files import download_folder
from confml.data.text_table import TextTable, short
from confml.errors import DataError

SERVER = "https://www.openml.org"
PAUSE = 1.0
_FIELD = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"][^,]*?|))\s*(?:,|$)""")
_NAME = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+)"""
_ATTRIBUTE = re.compile(rf"@attribute\s+(?:{_NAME})\s+(.+)", re.IGNORECASE)


class Description(NamedTuple):
    """Facts of OpenML about a data set.

    target: name of the class column, None without a single one. md5: of the file at ``address``. place: its
    folder in the cache.
    """

    number: int
    name: str
    version: int
    licence: str
    address: str
    md5: str
    target: str | None
    row_ids: tuple[str, ...]
    ignored: tuple[str, ...]
    place: Path

    @property
    def citation(self) -> str:
        """One sentence that identifies the data."""
        return (
            f"OpenML data set {self.number}, {self.name} version {self.version} (licence {self.licence}, MD5 "
            f"{self.md5}), https://www.openml.org/d/{self.number}"
        )


def load_openml(spec: Mapping[str, Any]) -> DataSet:
    """Return the data set of ``{"openml": "credit-g" or 31, ...}``, with further keys as of a CSV file.

    The label is the target of OpenML unless ``label`` is given; its row identifiers are identifiers, and the
    columns that it ignores are left out. Raises DataError if the server cannot be reached and nothing is in
    the cache, and for answers and files that are not what they should be.
    """
    found = describe(str(spec["openml"]))
    table, nominal = read_arff(_file(found))
    label = spec.get("label", found.target)
    if label is None:
        hint = "label: names the column with the class"
        raise DataError("OpenML names no single target", where=str(found.place), hint=hint)
    table.notes.append(found.citation)
    own = {key: value for key, value in spec.items() if key != "openml"}
    of_columns = {"id": found.row_ids, "ignore": found.ignored, "nominal": nominal}
    for key, names in of_columns.items():
        kept = [name for name in names if name in table.columns and name != label]
        own[key] = list(dict.fromkeys([*own.get(key, ()), *kept]))
    own["ignore"] = [name for name in own["ignore"] if name not in own["id"]]
    left_out = {*own["id"], *own["ignore"], own.get("groups")}
    own["nominal"] = [name for name in own["nominal"] if name not in left_out]
    own |= {"csv": str(table.path), "label": label, "name": spec.get("name", found.name)}
    return load_tables(own, [table])


def label_of(spec: Mapping[str, Any]) -> str | None:
    """Return the name of the label column of a data set of OpenML."""
    return spec.get("label") or describe(str(spec["openml"])).target


def describe(name: str) -> Description:
    """Return the description of a data set by its number or name, from the cache or the server."""
    number = name if name.isdecimal() else str(_number_of(name))
    place = download_folder() / "openml" / number
    address = f"{SERVER}/api/v1/json/data/{number}"
    text = _cached(place / "description.json", address)
    try:
        return _description(json.loads(text), int(number), place)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        (place / "description.json").unlink(missing_ok=True)
        raise _malformed(address, error) from None


def _number_of(name: str) -> int:
    """Return the number of the oldest active version of a name."""
    query = quote(name, safe="")
    address = f"{SERVER}/api/v1/json/data/list/data_name/{query}/status/active/limit/100"
    path = download_folder() / "openml" / "names" / f"{query}.json"
    try:
        listed = json.loads(_cached(path, address))["data"]["dataset"]
        same = [one for one in listed if one["name"].lower() == name.lower()]
        versions = {int(one["did"]): int(one["version"]) for one in same}
        return min(versions, key=lambda number: (versions[number], number))
    except DataError as error:
        if "412" in error.message or "404" in error.message:
            message = f"OpenML has no active data set '{short(name)}'"
            hint = "a number, as in openml: 31, names any data set"
            raise DataError(message, where=address, hint=hint) from None
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        path.unlink(missing_ok=True)
        raise _malformed(address, error) from None


def _description(answer: Any, number: int, place: Path) -> Description:
    about = answer["data_set_description"]
    address, md5 = str(about["url"]), str(about["md5_checksum"]).lower()
    if int(about["id"]) != number:
        raise ValueError(f"it is the one of data set {about['id']}")
    if about["format"].lower() != "arff":
        raise ValueError(f"the format is {about['format']}, expected ARFF")
    if not re.fullmatch(r"https?://\S+", address) or not re.fullmatch(r"[0-9a-f]{32}", md5):
        raise ValueError("it has no address or MD5 of the file")
    target = about.get("default_target_attribute")
    return Description(
        number,
        str(about["name"]),
        int(about["version"]),
        str(about.get("licence") or "not given"),
        address,
        md5,
        target if isinstance(target, str) and target and "," not in target else None,
        _names(about.get("row_id_attribute")),
        _names(about.get("ignore_attribute")),
        place,
    )


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    return tuple(str(name).strip() for name in value or () if str(name).strip())


def _file(found: Description) -> Path:
    """Return the data file, fetched unless it is in the cache with the right MD5."""
    path = found.place / "data.arff"
    for attempt in range(2):
        data = _cached(path, found.address)
        got = hashlib.md5(data, usedforsecurity=False).hexdigest()
        if got == found.md5:
            return path
        path.unlink(missing_ok=True)  # of the cache; what the server sends now is the last word
        if attempt:
            raise DataError(f"expected MD5 {found.md5}, got {got}; nothing was kept", where=found.address)
    raise AssertionError


def _cached(path: Path, address: str) -> bytes:
    """Return the bytes of a file of the cache; it is fetched if it is not there."""
    try:
        return path.read_bytes()
    except OSError:
        pass
    with workspace() as folder:
        transfers = Transfers(folder, lambda text: None, ATTEMPTS, PAUSE, TIMEOUT)
        served = transfers.get(CardFile.model_construct(name=path.name, folder="openml", address=address))
        data = served.read_bytes()
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(served, path)
    return data


def _malformed(address: str, error: Exception) -> DataError:
    return DataError(f"the answer of OpenML is not a description of data: {error!r:.200}", where=address)


# ---- ARFF


def read_arff(path: Path) -> tuple[TextTable, list[str]]:
    """Return the table of an ARFF file, and the names of its nominal attributes. Raises DataError."""
    try:
        lines = path.read_bytes().decode("utf-8").splitlines()
    except UnicodeDecodeError:
        lines = path.read_bytes().decode("latin-1").splitlines()
    names: list[str] = []
    nominal: list[str] = []
    begin = next((n for n, line in enumerate(lines) if line.strip().lower().startswith("@data")), None)
    if begin is None:
        raise DataError("not an ARFF file: it has no line @data", where=str(path))
    for line in lines[:begin]:
        if found := _ATTRIBUTE.match(line.strip()):
            names.append(next(_plain(one) for one in found.groups()[:3] if one is not None))
            nominal += [names[-1]] if found[4].startswith("{") else []
    if not names:
        raise DataError("the ARFF header declares no attribute", where=str(path))
    rows, places = [], []
    for place, line in enumerate(lines[begin + 1 :], start=begin + 2):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if text.startswith("{"):
            raise DataError("sparse ARFF rows are not read", where=f"{path}, line {place}")
        row = _fields(text)
        if len(row) != len(names):
            message = f"expected {len(names)} values, got {len(row)}"
            raise DataError(message, where=f"{path}, line {place}")
        rows.append(row)
        places.append(place)
    if not rows:
        raise DataError("the ARFF file has no rows", where=str(path))
    columns = list(map(list, zip(*rows, strict=True)))
    return TextTable.of(path, names, columns, places, str(path)), nominal


def _fields(text: str) -> list[str]:
    if "'" not in text and '"' not in text:
        return [field.strip() for field in text.split(",")]
    fields, at = [], 0
    while (found := _FIELD.match(text, at)) is not None:
        fields.append(next(_plain(one) for one in found.groups() if one is not None))
        if not found[0].endswith(","):
            return fields
        at = found.end()
    return []


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text).strip()
