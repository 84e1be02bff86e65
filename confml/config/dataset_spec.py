"""`DatasetSpec`: an entry of ``datasets`` in a config."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from confml.config.part import Part
from confml.config.values import Name, NameList, Separator, Switch, TextList, Words, one_of, wrong
from confml.data.table_files import table_name


def folder_name(text: str) -> str:
    """Return a valid name of a folder made from any text."""
    return re.sub(r"[^\w.+-]+", "-", text).lstrip("._+-").rstrip(".")[:100] or "unnamed"


def _path(path: Any) -> str:
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        raise wrong("the path of a file")
    return path


def _openml(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise wrong("the name or number of a data set of OpenML, such as credit-g or 31")
    if isinstance(value, int) and value < 1:
        raise wrong("a number of a data set of OpenML, from 1")
    return str(value).strip()


FilePath = Annotated[str, BeforeValidator(_path)]


class DatasetSpec(Part):
    """One data set: a card of `confml data list` by its name, your own CSV file, or generated data."""

    short = "name"
    rest = "params"

    name: Name = Field(
        description="Name in the results; also that of the card without card, csv, openml or generate."
    )
    card: Words | None = Field(None, description="The card, if its name is different.", examples=["usps"])
    openml: Annotated[str, BeforeValidator(_openml)] | None = Field(
        None, description="A data set of OpenML by name or number.", examples=["credit-g", 31]
    )
    csv: FilePath | None = Field(
        None,
        description="A table file: CSV (also .gz, .bz2, .zst), .parquet or .xlsx; relative paths count "
        "from the config's folder.",
        examples=["mine.csv"],
    )
    test: FilePath | None = Field(None, description="A table file with the test part.", examples=["new.csv"])
    label: Words | None = Field(None, description="Column of the file with the class.", examples=["y"])
    id: NameList | None = Field(
        None, description="Columns that identify a row; they are not features.", examples=[["customer"]]
    )
    ignore: NameList | None = Field(None, description="Columns to leave out.", examples=[["id"]])
    nominal: NameList | None = Field(
        None,
        description="Columns of categories; non-numeric columns are always categorical.",
        examples=[["colour"]],
    )
    groups: Words | None = Field(
        None,
        description="Column of groups; the rows of a group stay in one part of a split.",
        examples=["site"],
    )
    missing: Annotated[str, one_of("error", "drop", "mean")] | None = Field(
        None,
        description="Treatment of missing values: error (default), drop the row, or the feature's mean.",
        examples=["drop"],
    )
    missing_values: TextList | None = Field(
        None,
        description="Texts of missing values; [] for none besides empty fields. By default ?, NA, nan, None "
        "and others.",
        examples=[["?", -999], []],
    )
    separator: Separator | None = Field(
        None, description="Separator between columns of the CSV file.", examples=[";"]
    )
    encoding: Words | None = Field(None, description="Encoding of the CSV file.", examples=["latin-1"])
    decimal: Annotated[str, one_of(".", ",")] | None = Field(
        None, description="Decimal sign of the CSV file."
    )
    thousands: Words | None = Field(
        None, description="Separator of thousands in the numbers of the file; detected by default."
    )
    header: Switch | None = Field(
        None, description="false for a file without a header line; its columns are column-1, column-2, ..."
    )
    sheet: Words | None = Field(None, description="Sheet of a workbook; the first one by default.")
    duplicates: Annotated[str, one_of("keep", "drop")] | None = Field(
        None, description="keep (default), or drop training rows that repeat an earlier one, label included."
    )
    drop_first: Switch | None = Field(
        None, description="Code nominal columns with one column fewer than categories."
    )
    generate: Words | None = Field(
        None, description="Generator of synthetic data.", examples=["five-gaussians"]
    )
    params: dict[str, Any] = Field(
        {}, description="Parameters of the generator whose names are also keys of a data set."
    )

    OF_FILES: ClassVar[Sequence[str]] = (
        *("test", "separator", "encoding", "decimal", "thousands", "header", "sheet"),
    )

    @classmethod
    def table_keys(cls, openml: bool) -> list[str]:
        """Return the keys that go with ``csv``: the fields after it; those that go with ``openml`` too."""
        fields = list(cls.model_fields)
        of_tables = fields[fields.index("csv") + 1 : fields.index("generate")]
        return [key for key in of_tables if not (openml and key in cls.OF_FILES)]

    @classmethod
    def _collect(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        if values.get("generate") is None:  # unknown keys are errors, not parameters
            own = cls._own()
            values = {key: value for key, value in values.items() if key not in own or value is not None}
        else:
            values = super()._collect(values)
        if values.get("name") is None:
            if isinstance(values.get("csv"), str):
                values["name"] = folder_name(table_name(values["csv"]))
            elif isinstance(values.get("openml"), int | str):
                given = str(values["openml"])
                values["name"] = f"openml-{given}" if given.isdecimal() else folder_name(given)
            else:
                name = next((values[key] for key in ("generate", "card") if values.get(key)), None)
                if name is not None:
                    values["name"] = name
        return values

    @property
    def kind(self) -> str:
        """``csv``, ``openml``, ``generate`` or ``card``."""
        kinds = ("csv", "openml", "generate")
        return next((kind for kind in kinds if getattr(self, kind) is not None), "card")

    def spec(self) -> dict[str, Any]:
        """Return the specification for `confml.data.load`."""
        return self.as_dict()
