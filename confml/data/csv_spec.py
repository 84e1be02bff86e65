"""`CsvSpec`: the keys of a data set from a table file, and the check of the columns that they name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from confml.data.coding import SEPARATORS
from confml.data.table_files import table_name
from confml.data.text_table import TextTable, column_hint, short
from confml.errors import ConfigError, ConfigErrors

MISSING = ("error", "drop", "mean")  # values of the key missing
LISTS = ("ignore", "nominal", "id")  # keys that name columns, one or more
_SINGLE = ("label", "groups")


@dataclass(frozen=True)
class CsvSpec:
    """A table file and the keys that say how it is read; `confml.data.csv_table.load_csv` documents them."""

    csv: Path
    label: str
    name: str
    test: Path | None = None
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    groups: str | None = None
    missing: str = "error"
    separator: str | None = None
    encoding: str | None = None
    decimal: str = "."
    thousands: str | None = None
    header: bool = True
    sheet: str | None = None
    duplicates: str = "keep"
    drop_first: bool = False


def read_spec(given: Mapping[str, Any]) -> CsvSpec:
    """Return the spec of plain keys; hyphens and underscores are the same. Raises ConfigError for a wrong
    one.
    """
    values = {str(key).replace("-", "_"): value for key, value in given.items() if value is not None}
    known = CsvSpec.__dataclass_fields__
    for key in values:
        if key not in known:
            near = key.replace("_", "-"), sorted(other.replace("_", "-") for other in known)
            raise ConfigError(f"a data set from a CSV file has no key '{key}'", near=near)
    if "label" not in values:
        raise ConfigError(f"{values['csv']} needs label, the name of the column with the class")
    for key in ("csv", "test"):
        if key in values:
            values[key] = Path(values[key]).expanduser()
    values.setdefault("name", table_name(values["csv"]))
    for key in LISTS:
        if key in values:
            names = [values[key]] if isinstance(values[key], str | int) else values[key]
            values[key] = tuple(dict.fromkeys(str(name) for name in names))
    for key in _SINGLE:
        if key in values:
            values[key] = str(values[key])
    spec = CsvSpec(**values)
    if spec.missing not in MISSING:
        raise ConfigError(
            f"missing must be error, drop or mean, got '{spec.missing}'",
            hint="",
            near=(spec.missing, MISSING),
        )
    if spec.duplicates not in ("keep", "drop"):
        raise ConfigError(f"duplicates must be keep or drop, got '{spec.duplicates}'")
    check_decimal(spec.decimal)
    if spec.thousands is not None and (spec.thousands not in SEPARATORS or spec.thousands == spec.decimal):
        raise ConfigError(
            f"thousands must be a comma, a point, an apostrophe or a blank, got '{spec.thousands}'"
            + (", which is the decimal mark" if spec.thousands == spec.decimal else "")
        )
    return spec


def check_decimal(mark: str) -> None:
    """Raise ConfigError for a decimal mark that is neither a point nor a comma."""
    if mark not in (".", ","):
        raise ConfigError(f"decimal must be '.' or ',', got '{mark}'")


class NamesColumns(Protocol):
    """The keys of a table file that name columns; None for a key that is not given."""

    @property
    def label(self) -> str | None: ...
    @property
    def groups(self) -> str | None: ...
    @property
    def ignore(self) -> tuple[str, ...] | None: ...
    @property
    def nominal(self) -> tuple[str, ...] | None: ...
    @property
    def id(self) -> tuple[str, ...] | None: ...


def named_columns(spec: NamesColumns) -> Iterator[tuple[str, int | None, str]]:
    """Iterate over (key, position in its list or None, name) for every column that a key names."""
    for key in _SINGLE:
        if getattr(spec, key) is not None:
            yield key, None, getattr(spec, key)
    for key in LISTS:
        for at, name in enumerate(getattr(spec, key) or ()):
            yield key, at, name


def column_mistakes(
    spec: NamesColumns, names: Sequence[str], columns: Mapping[str, Sequence[str]] | None = None
) -> Iterator[tuple[str, int | None, str, str | None]]:
    """Iterate over (key, position in its list, message, hint) for every key that names a wrong column.

    names: the columns of the file. columns: their fields, where they are read.
    """
    there = set(names)
    used: dict[str, str] = {}  # the key that named a column first
    for key, at, name in named_columns(spec):
        if name not in there:
            what = "label column" if key == "label" else f"column of {key}:"
            yield key, at, f"there is no {what} '{short(name, 60)}'", column_hint(name, names, columns)
            continue
        other = used.setdefault(name, key)
        if other == key or {other, key} in ({"id", "ignore"}, {"id", "groups"}):
            continue  # an identifier is no feature anyway
        if other == "label":
            yield key, at, f"'{name}' is the label, it cannot be listed under {key} too", None
        else:
            yield key, at, f"column '{name}' is listed under {other} and {key}", "take it out of one of them"


def check_columns(spec: CsvSpec, table: TextTable) -> list[str]:
    """Return the names of the features, in the order of the file.

    Raises one ConfigErrors for all keys that name wrong columns, ConfigError where no feature is left.
    """
    where = str(table.path)
    found = [
        ConfigError(text, where=where, hint=hint)
        for _, _, text, hint in column_mistakes(spec, table.names, table.columns)
    ]
    if found:
        raise found[0] if len(found) == 1 else ConfigErrors(found)
    left_out = {spec.label, spec.groups, *spec.ignore, *spec.id}
    features = [name for name in table.columns if name not in left_out]
    if not features:
        raise ConfigError("no features are left besides the label", where=where)
    return features
