"""`DatasetSpec`: an entry of ``datasets`` in a config."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator

from confml.config.part import Part
from confml.config.values import Name, NameList, Rule, Separator, Switch, TextList, Words, one_of, wrong
from confml.data.table_files import is_table_name, table_name
from confml.plugins.parameters import FilePath


def folder_name(text: str) -> str:
    """Return a valid name of a folder made from any text."""
    return re.sub(r"[^\w.+-]+", "-", text).lstrip("._+-").rstrip(".")[:100] or "unnamed"


def _openml(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise wrong("the name or number of a data set of OpenML, such as credit-g or 31")
    if isinstance(value, int) and value < 1:
        raise wrong("a number of a data set of OpenML, from 1")
    return str(value).strip()


Path = Annotated[str, Rule(FilePath(""))]


class DatasetSpec(Part):
    """One data set: a card of `confml data list` by its name, your own CSV file, or generated data.

    name: Name in the results; also that of the card without card, csv, openml or generate.
    card: The card, if its name is different. Example: usps
    openml: A data set of OpenML by name or number. Example: credit-g or 31
    csv: A table file: CSV (also .gz, .bz2, .zst), .parquet or .xlsx; relative paths count from the config's
        folder. Example: mine.csv
    test: A table file with the test part. Example: new.csv
    label: Column of the file with the class. Example: y
    id: Columns that identify a row; they are not features. Example: [customer]
    ignore: Columns to leave out. Example: [id]
    nominal: Columns of categories; non-numeric columns are always categorical. Example: [colour]
    groups: Column of groups; the rows of a group stay in one part of a split. Example: site
    missing: Treatment of missing values: error (default), drop the row, or the feature's mean. Example: drop
    missing_values: Texts of missing values; [] for none besides empty fields. By default ?, NA, nan, None and
        others. Example: ['?', -999] or []
    separator: Separator between columns of the CSV file. Example: ';'
    encoding: Encoding of the CSV file. Example: latin-1
    decimal: Decimal sign of the CSV file.
    thousands: Separator of thousands in the numbers of the file; detected by default.
    header: false for a file without a header line; its columns are column-1, column-2, ...
    sheet: Sheet of a workbook; the first one by default.
    duplicates: keep (default), or drop training rows that repeat an earlier one, label included.
    drop_first: Code nominal columns with one column fewer than categories.
    generate: Generator of synthetic data. Example: five-gaussians
    params: Parameters of the generator whose names are also keys of a data set.
    """

    short = "name"
    rest = "params"

    name: Name
    card: Words | None = None
    openml: Annotated[str, BeforeValidator(_openml)] | None = None
    csv: Path | None = None
    test: Path | None = None
    label: Words | None = None
    id: NameList | None = None
    ignore: NameList | None = None
    nominal: NameList | None = None
    groups: Words | None = None
    missing: Annotated[str, one_of("error", "drop", "mean")] | None = None
    missing_values: TextList | None = None
    separator: Separator | None = None
    encoding: Words | None = None
    decimal: Annotated[str, one_of(".", ",")] | None = None
    thousands: Words | None = None
    header: Switch | None = None
    sheet: Words | None = None
    duplicates: Annotated[str, one_of("keep", "drop")] | None = None
    drop_first: Switch | None = None
    generate: Words | None = None
    params: dict[str, Any] = {}

    FILE_KEYS: ClassVar = ("test", "separator", "encoding", "decimal", "thousands", "header", "sheet")

    @classmethod
    def table_keys(cls, openml: bool) -> list[str]:
        """Return the keys that go with ``csv``: the fields after it; those that go with ``openml`` too."""
        fields = list(cls.model_fields)
        keys = fields[fields.index("csv") + 1 : fields.index("generate")]
        return [key for key in keys if not (openml and key in cls.FILE_KEYS)]

    @classmethod
    def _collect(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        word = values.get("name")
        if len(values) == 1 and isinstance(word, str) and is_table_name(word):
            raise wrong("the name of a card or a mapping", hint=f"write {{csv: {word}, label: COLUMN}}")
        if values.get("generate") is not None:
            values = super()._collect(values)
        csv, openml = values.get("csv"), values.get("openml")
        name = values.get("generate") or values.get("card")
        if isinstance(csv, str):
            name = folder_name(table_name(csv))
        elif isinstance(openml, int | str):
            name = f"openml-{openml}" if str(openml).isdecimal() else folder_name(str(openml))
        fields = {key: value for key, value in values.items() if value is not None or key not in cls._names()}
        return ({"name": name} if name else {}) | fields

    @property
    def kind(self) -> str:
        """``csv``, ``openml``, ``generate`` or ``card``."""
        kinds = ("csv", "openml", "generate")
        return next((kind for kind in kinds if getattr(self, kind) is not None), "card")
