"""`Answers`: the DataFrame of predictions of new rows, with its guarantee, warnings and tests."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

import pandas as pd

FACTS = ("guarantee", "warnings", "notes", "tests", "score")


class Answers(pd.DataFrame):
    """Predictions of new rows, one row per new row, as `confml.predict` returns them.

    It is a DataFrame with these attributes; a selection of its rows or columns is a plain DataFrame.

    guarantee: sentences on the fit, the guarantee and what weakens it.
    warnings: sentences on the data, such as values that are filled in and rows that do not look exchangeable.
    notes: sentences on the data set of the fit, and on columns that are not used.
    tests: for each test of exchangeability its name, sentence, p-value (None if nothing is tested) and
        whether the new rows differ.
    score: a sentence on the new rows that have labels, None without any.
    """

    guarantee: list[str]
    warnings: list[str]
    notes: list[str]
    tests: list[dict[str, Any]]
    score: str | None
    _metadata = list(FACTS)

    @classmethod
    def of(cls, frame: pd.DataFrame, facts: Mapping[str, Any]) -> "Answers":
        """Return answers with the facts of a batch, named as the attributes."""
        answers = cls(frame)
        for name in FACTS:
            object.__setattr__(answers, name, facts.get(name))
        return answers

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def _repr_html_(self) -> str:
        texts: list[str] = [*(f"Warning: {text}" for text in self.warnings or ()), *(self.guarantee or ())]
        texts += [text for text in (self.score,) if text]
        shown = self.to_html(max_rows=20, show_dimensions=True)
        return f"{shown}{''.join(f'<p>{escape(text)}</p>' for text in texts)}"


def json_rows(frame: pd.DataFrame, classes: Iterable[Any]) -> Iterator[str]:
    """Iterate over the rows of answers as JSON objects; absent values are null.

    classes: of the training rows. Labels have their type in all columns.
    """
    label_of = {text: label for label in classes for text in (str(label), label)}
    names = list(map(str, frame.columns))
    of_labels = [name in ("label", "prediction", "runner_up", "decision") for name in names]
    for values in zip(*(frame[name].tolist() for name in frame.columns), strict=True):
        row = {
            name: _plain(label_of.get(value, value) if is_label else value)
            for name, value, is_label in zip(names, values, of_labels, strict=True)
        }
        yield json.dumps(row, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(element) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is pd.NA or value is pd.NaT:
        return None
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)
