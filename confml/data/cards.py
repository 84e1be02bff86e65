"""Cards: descriptions of data sets in YAML files of ``datasets/``, and their schema.

A card gives the sources of the files of a data set, their format, and the expected counts. A variant is a
card with ``base: <card>``, which inherits all keys of the other card that it does not set.
"""

import functools
import json
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from confml._version import resource_folder
from confml.errors import ConfigError, ConfigErrors, DataError
from confml.yaml import Located, read_file

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Size = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]
# A name of a file or folder inside the cache; it cannot contain a path.
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=100)]
# A class label as a card writes it: compared as text, so that 2 and "2" are the same.
Label = Annotated[Text, BeforeValidator(lambda value: str(value) if type(value) is int else value)]


def column_names(written: tuple[str, ...]) -> tuple[str, ...]:
    """Expand column names of a card: ``a[1..3]`` becomes a1, a2, a3."""
    names: list[str] = []
    for text in written:
        match = re.fullmatch(r"(.*)\[(\d+)\.\.(\d+)\](.*)", text)
        if match is None:
            names.append(text)
            continue
        before, low, high, after = match.groups()
        names += [f"{before}{number}{after}" for number in range(int(low), int(high) + 1)]
    return tuple(names)


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=lambda field: field.replace("_", "-"),
    )


class CardFile(_Strict):
    """One file of a data set as confml stores it, and how to get it.

    name, folder: the file is searched as ``<folder>/<name>``; by default the folder is that of the card.
    sha256, bytes: of the stored file.
    content_sha256: of the content of a stored gzip file; a file with this content is accepted with any own
        SHA-256, because the same content can be compressed in many ways.
    address: URL, pinned to a commit. ``original_sha256`` is that of the downloaded file if it differs from
        the stored file, which ``unpack`` extracts: ``compress-z`` uncompresses it, ``shar-member`` extracts
        ``member``.
    manual: how to get the file if there is no address.
    part: part of the provider's split, ``train`` or ``test``; None without a split.
    rows: number of data rows, if given.
    """

    name: FileName
    folder: FileName | Literal[""] = ""
    sha256: Digest | None = None
    bytes: Size | None = None
    content_sha256: Digest | None = None
    address: Annotated[str, Field(pattern=r"^https?://\S+$")] | None = None
    original_sha256: Digest | None = None
    unpack: Literal["compress-z", "shar-member"] | None = None
    member: Text | None = None
    manual: Text | None = None
    part: Literal["train", "test"] | None = None
    rows: Count | None = None


class Delimited(_Strict):
    """Text with one row per line; with ``header`` the line after ``skip-lines`` has the column names."""

    kind: Literal["delimited"]
    separator: Literal["blanks", "comma", "semicolon"]
    skip_lines: Count = 0
    header: bool = False
    compressed: Literal["gzip"] | None = None


class Keel(_Strict):
    """KEEL's format: ``@`` lines declare names, types and categories; rows are comma-separated.

    member: name of the file in a zip file. Columns, nominal features and the label are read from the file.
    """

    kind: Literal["keel"]
    member: Text | None = None


class Idx(_Strict):
    """MNIST's format, compressed with gzip: in each part a file of images, then a file of their labels."""

    kind: Literal["idx"]


class Sklearn(_Strict):
    """A data set of scikit-learn. ``labels: names`` uses the class names as labels."""

    kind: Literal["sklearn"]
    set: Literal["iris", "digits", "wine", "breast_cancer"]
    labels: Literal["names", "codes"] = "codes"


class Inline(_Strict):
    """Rows that the card itself holds under ``rows``, each with a value for every column."""

    kind: Literal["inline"]


class Expect(_Strict):
    """Expected counts of the loaded data set.

    attributes: features before coding; columns: columns of X, if dummy coding changes their number.
    """

    rows: Size
    attributes: Size
    columns: Size | None = None
    train_rows: Size | None = None
    test_rows: Size | None = None
    classes: dict[Text, Size]


class Paper(_Strict):
    """The publication that a variant follows, and the changes to the data set."""

    source: Text
    changed: tuple[Text, ...]


class Card(_Strict):
    """The description of one data set or variant.

    columns: names of all columns of the file; ``a[1..34]`` is expanded to a1, ..., a34.
    label: column of the class. ignore: columns to leave out. nominal: columns of categories, or ``all``.
    ordinal: columns of ordered categories, coded as 1, 2, ...
    missing_values: texts of missing values. missing: their treatment: ``drop`` drops the row, ``mean`` keeps
    NaN for a later step, ``error`` raises an error.
    rows: the rows of a small data set, for the reader ``inline``.
    coding: coding of nominal columns in X: ``dummy`` (one 0/1 column per category that occurs),
    ``dummy-drop-first`` (one fewer) or ``integer`` (index among the sorted categories, from 0).
    drop_classes: classes whose rows are dropped. merge: new label <- old labels. label_as_attribute: name of
    a feature that repeats the label, which reproduces an error of a published study.
    train_first: number of rows, from the first, of the training part; the others are the test part.
    """

    name: Text
    path: Path
    base: Text | None = None
    title: Text
    about: Text
    provider: Text
    licence: Text
    citation: Text
    page: Annotated[str, Field(pattern=r"^https?://\S+$")]
    folder: FileName
    files: tuple[CardFile, ...] = ()
    reader: Annotated[Delimited | Keel | Idx | Sklearn | Inline, Field(discriminator="kind")]
    rows: tuple[tuple[Label, ...], ...] = ()
    columns: Annotated[tuple[Text, ...], AfterValidator(column_names)] | None = None
    label: Text | None = None
    ignore: tuple[Text, ...] = ()
    nominal: tuple[Text, ...] | Literal["all"] = ()
    ordinal: dict[Text, tuple[Text, ...]] = {}
    coding: Literal["dummy", "dummy-drop-first", "integer"] = "dummy"
    missing_values: tuple[Text, ...] = ()
    missing: Literal["error", "drop", "mean"] = "error"
    drop_classes: tuple[Label, ...] = ()
    merge: dict[Text, tuple[Label, ...]] = {}
    label_as_attribute: Text | None = None
    train_first: Size | None = None
    expect: Expect
    paper: Paper | None = None
    notes: tuple[Text, ...] = ()


def known_cards() -> list[str]:
    """Return the names of all cards, sorted."""
    return sorted(path.stem for path in resource_folder("datasets").glob("*.yaml"))


@functools.cache
def read_card(name: str) -> Card:
    """Return the card of this name.

    Raises ConfigError for an unknown name, DataError with file:line for a card with an error.
    """
    hint = "confml data list shows them; a config loads a data set of OpenML as {openml: NAME}"
    if os.path.isfile(name):  # False for any text, too long ones included
        hint = f"confml data check {name} describes a file"
    if name not in (cards := known_cards()):
        raise ConfigError(f"unknown data set '{name}'", hint=hint, near=(name, cards))
    return read_card_file(resource_folder("datasets") / f"{name}.yaml")


def read_card_file(path: Path) -> Card:
    """Read the card in a file; its base is in the same folder. Raises DataError with file:line:column."""
    return _read_with_base(path)[0]


def read_document(path: Path) -> Located:
    """Return the values of a card with their positions. Raises DataError with file:line:column."""
    try:
        document = read_file(path, str(path), "card", "title: Wine")
        document.problems.raise_any()
    except ConfigErrors as errors:
        first = errors.errors[0]
        raise DataError(first.message, where=first.where, hint=first.hint) from None
    return document


def _read_with_base(path: Path) -> tuple[Card, dict[str, Any]]:
    """Return a card, and its values with those of its base."""
    document = read_document(path)
    values = document.values
    if "base" in values:
        inherited = _read_with_base(path.with_name(f"{values['base']}.yaml"))[1]
        values = {**inherited, "paper": None, **values}  # variants do not inherit the paper
    values = {"folder": path.stem, **values, "name": path.stem, "path": str(path)}
    for file in values["files"] if isinstance(values.get("files"), list) else ():
        if isinstance(file, dict):
            file.setdefault("folder", values["folder"])
    try:
        return Card.model_validate_json(json.dumps(values)), values
    except ValidationError as errors:
        error = errors.errors()[0]
        key_path, message = ".".join(map(str, error["loc"])), error["msg"].removeprefix("Value error, ")
        got = "" if error["type"] in ("missing", "value_error") else f", got {error['input']!r}"
        where = str(document.mark_of(error["loc"], at_key=True))
        raise DataError(f"{key_path}: {message}{got}" if key_path else message, where=where) from None
