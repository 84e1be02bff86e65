"""`DatasetSpec`: an entry of ``datasets`` in a config."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from confml.config.lists import NameList
from confml.config.part import Part
from confml.config.values import Name, Separator, Switch, Words, one_of, wrong
from confml.data.text_table import table_name


def folder_name(text: str) -> str:
    """A name that can be a folder's, made of any text."""
    return re.sub(r"[^\w.+-]+", "-", text).lstrip("._+-").rstrip(".")[:100] or "unnamed"


def _path(path: Any) -> str:
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        raise wrong("the path of a file")
    return path


FilePath = Annotated[str, BeforeValidator(_path)]


class DatasetSpec(Part):
    """One data set: a card of `confml data list` by its name, your own CSV file, or generated data."""

    short = "name"
    rest = "params"

    name: Name = Field(
        description="Its name in the results; also the card's unless card, csv or generate says."
    )
    card: Words | None = Field(None, description="The card, where the name is another.", examples=["usps"])
    csv: FilePath | None = Field(
        None,
        description="A table file: CSV (also .gz, .bz2, .zst), .parquet or .xlsx; relative paths count "
        "from the config's folder.",
        examples=["mine.csv"],
    )
    test: FilePath | None = Field(None, description="A table file with the test part.", examples=["new.csv"])
    label: Words | None = Field(None, description="The file's column with the class.", examples=["y"])
    id: NameList | None = Field(
        None, description="Columns that identify a row: no features, kept with it.", examples=[["customer"]]
    )
    ignore: NameList | None = Field(None, description="Columns to leave out.", examples=[["id"]])
    nominal: NameList | None = Field(
        None,
        description="Columns of categories; a column without numbers is one in any case.",
        examples=[["colour"]],
    )
    groups: Words | None = Field(
        None, description="A column of groups whose rows stay together in a split.", examples=["site"]
    )
    missing: Annotated[str, one_of("error", "drop", "mean")] | None = Field(
        None,
        description="Missing values: an error (unless said), drop the row, or the attribute's mean.",
        examples=["drop"],
    )
    separator: Separator | None = Field(None, description="Between the CSV file's columns.", examples=[";"])
    encoding: Words | None = Field(None, description="Of the CSV file.", examples=["latin-1"])
    decimal: Annotated[str, one_of(".", ",")] | None = Field(
        None, description="The decimal sign of the CSV file."
    )
    drop_first: Switch | None = Field(
        None, description="Code nominal columns with one column fewer than categories."
    )
    generate: Words | None = Field(None, description="A generator of data.", examples=["five-gaussians"])
    params: dict[str, Any] = Field({}, description="The generator's parameters, where names would clash.")

    CSV_KEYS: ClassVar[tuple[str, ...]] = (
        "test",
        "label",
        "id",
        "ignore",
        "nominal",
        "groups",
        "missing",
        "separator",
        "encoding",
        "decimal",
        "drop_first",
    )

    @classmethod
    def _collect(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        if values.get("generate") is None:  # then a key that is not known is a mistake, no parameter
            own = cls._own()
            values = {key: value for key, value in values.items() if key not in own or value is not None}
        else:
            values = super()._collect(values)
        if values.get("name") is None:
            if isinstance(values.get("csv"), str):
                values["name"] = folder_name(table_name(values["csv"]))
            else:
                name = next((values[key] for key in ("generate", "card") if values.get(key)), None)
                if name is not None:
                    values["name"] = name
        return values

    @property
    def kind(self) -> str:
        """``csv``, ``generate`` or ``card``."""
        return next((kind for kind in ("csv", "generate") if getattr(self, kind) is not None), "card")

    def spec(self) -> dict[str, Any]:
        """What `confml.data.load` takes."""
        return self.as_dict()
