"""Data sets of OpenML by name or number, fetched and kept in the cache by scikit-learn."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from confml.data.csv_table import load_tables
from confml.data.dataset import DataSet
from confml.data.files import download_folder
from confml.data.frame_table import frame_table
from confml.errors import DataError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Answers of the server that are neither a description nor an ARFF file end in all of these.
BROKEN = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


def load_openml(spec: Mapping[str, Any]) -> DataSet:
    """Return the data set of ``{"openml": "credit-g" or 31, ...}``, with further keys as of a CSV file.

    The label is the target of OpenML unless ``label`` is given. Columns that OpenML marks as row identifiers
    or as ignored are left out. Raises DataError if the server cannot be reached and nothing is in the cache,
    and for data that cannot be read.
    """
    fetched = fetch(str(spec["openml"]), spec.get("label"))
    label, about = label_of(spec, fetched), fetched.details
    if label is None:
        hint = "label: names the column with the class"
        raise DataError("OpenML names no single target", where=fetched.url, hint=hint)
    table = frame_table(fetched.frame, f"OpenML data set {about['id']}")
    table.notes.append(
        f"OpenML data set {about['id']}, {about['name']} version {about['version']} (licence "
        f"{about.get('licence', 'not given')}, MD5 {about['md5_checksum']}), "
        f"https://www.openml.org/d/{about['id']}"
    )
    left_out = {*spec.get("id", ()), *spec.get("ignore", ()), spec.get("groups"), label}
    categories = [column for column, kind in fetched.frame.dtypes.items() if kind == "category"]
    nominal = [*spec.get("nominal", ()), *(column for column in categories if column not in left_out)]
    keys = {key: value for key, value in spec.items() if key != "openml"}
    keys |= {"csv": str(table.path), "label": label, "name": spec.get("name", about["name"])}
    return load_tables({**keys, "nominal": list(dict.fromkeys(nominal))}, [table])


def label_of(spec: Mapping[str, Any], fetched: "Bunch | None" = None) -> str | None:
    """Return the name of the label column of a data set of OpenML. fetched: the data set, if it is loaded."""
    if "label" in spec:
        return spec["label"]
    names = (fetched or fetch(str(spec["openml"]))).target_names
    return str(names[0]) if len(names) == 1 else None


def fetch(name: str, label: str | None = None) -> "Bunch":
    """Return the answer of `sklearn.datasets.fetch_openml`; of a name, that of the oldest active version.

    label: name of the target column, by default that of OpenML. Raises DataError.
    """
    from sklearn.datasets import fetch_openml

    which = {"data_id": int(name)} if name.isdecimal() else {"name": name}
    target = "default-target" if label is None else label
    try:
        with warnings.catch_warnings():  # the error below says so
            warnings.filterwarnings("ignore", "A network error occurred|Invalid cache")
            return fetch_openml(**which, target_column=target, data_home=download_folder(), as_frame=True)
    except BROKEN as error:
        message = f"the data set cannot be fetched from OpenML: {' '.join(str(error).split())[:300]}"
        hint = "a number, as in openml: 31, names any version; fetched data are used again without a network"
        page = f"https://www.openml.org/{'d/' if name.isdecimal() else 'search?type=data&q='}{name}"
        raise DataError(message, where=page, hint=hint) from None
