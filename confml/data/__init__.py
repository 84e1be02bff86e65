"""Data sets from cards, from a user's own table files and from generators, all as `DataSet`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confml.data.dataset import DataSet

__all__ = ["load"]


def load(spec: Mapping[str, Any]) -> DataSet:
    """Load the data set of a plain mapping, one of

    - ``{"name": "usps"}``, or with ``"card": "usps"`` under another name: a card;
    - ``{"name": ..., "csv": PATH, "label": COLUMN, ...}``: a table file (`confml.data.csv_table`);
    - ``{"name": ..., "openml": NAME or NUMBER, ...}``: OpenML (`confml.data.openml`);
    - ``{"name": ..., "generate": GENERATOR, ...}``: synthetic data (`confml.data.generators`).

    Raises DataError for data that are missing or broken, ConfigError for a name or key that is not known.
    """
    load_spec: Callable[[Mapping[str, Any]], DataSet]
    if "csv" in spec:
        from confml.data.csv_table import load_csv as load_spec
    elif "openml" in spec:
        from confml.data.openml import load_openml as load_spec
    elif "generate" in spec:
        from confml.data.generators import load_generated as load_spec
    else:
        from confml.data.from_card import load_card as load_spec
    return load_spec(spec)
