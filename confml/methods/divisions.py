"""`Divisions`: groups of rows in which p-values are to be valid, by columns, bins, predicted label and label.

A division puts each row into one group. Its parts are columns, bins of a numeric column, ``predicted`` (the
label that the fitted classifier predicts) and ``label``; a group is a combination of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from confml.data.large_integers import rounded_integer
from confml.data.text_table import number_text
from confml.errors import ConfigError, in_quotes
from confml.methods.validation import is_frame
from confml.plugins.by import LABEL, PREDICTED, Part, divisions_in, names_in

BINS = 4  # of a numeric column without a number of bins
FEW_VALUES = 10  # numeric columns with at most this many distinct values have no bins
UNKNOWN = -1  # code of a row whose combination no calibration row has
GROUP = "group"  # in ``extra`` of a prediction: (n, D) the group of each row in each division
DIVISION = "division"  # in ``extra``: the division of the largest p-value; such p-values have no band
DIVISIONS = "divisions"  # in the details of a fit


class Column(NamedTuple):
    """A column that groups are made of. texts: those of its codes, None for numbers."""

    name: Any
    texts: tuple[str, ...] | None = None


def split_columns(
    X: Any, by: Any, columns: Sequence[Sequence[Any]] | None, fitted_columns: Sequence[Column] = ()
) -> tuple[Any, np.ndarray, list[Column]]:
    """Return the features of examples X, the values (m, k) of the columns of ``by``, and the columns.

    columns: names and texts of the last columns of X, which are not features; None if ``by`` names columns of
    X itself, by name (data frame) or number. fitted_columns: those of the fit, whose
    texts have codes.
    """
    if columns is not None:
        k = len(columns)
        named = [Column(name, None if texts is None else tuple(texts)) for name, texts in columns]
        X = np.asarray(X)
        return X[:, : X.shape[1] - k], X[:, X.shape[1] - k :].astype(np.float64), named
    if by is None:
        return X, np.empty((0, 0)), []
    texts = {column.name: column.texts for column in fitted_columns}
    cut = {part.name for parts in divisions_in(by) for part in parts if part.bins is not None}
    values, named = [], []
    for name in names_in([by]):
        rounds = name in cut or bool(fitted_columns)
        numbers, column = _numbers(_column(X, name), name, texts.get(name), rounds)
        values.append(numbers)
        named.append(column)
    rows = len(X) if hasattr(X, "__len__") else X.shape[0]
    return X, np.column_stack(values) if values else np.empty((rows, 0)), named


def _column(X: Any, name: Any) -> np.ndarray:
    if is_frame(X):
        if name not in list(X.columns):
            raise ConfigError(f"by: there is no column {in_quotes(str(name))}", near=(name, X.columns))
        return np.asarray(X[name])
    X = np.asarray(X)
    if isinstance(name, str) or not -X.shape[1] <= name < X.shape[1]:
        raise ConfigError(
            f"by: the array has {X.shape[1]} columns and none is {in_quotes(str(name))}",
            hint="give the number of a column, or a data frame",
        )
    return X[:, name]


def _numbers(
    values: np.ndarray, name: Any, fitted_texts: Sequence[str] | None, rounds: bool
) -> tuple[np.ndarray, Column]:
    """Return numbers as they are, or codes of texts, `UNKNOWN` for a text that is not in ``fitted_texts``.

    rounds: whether integers that float64 changes are numbers too; otherwise each is a text.
    """
    if fitted_texts is None and values.dtype.kind in "iufb" and (rounds or rounded_integer(values) is None):
        return values.astype(np.float64), Column(name)
    texts = np.array([str(value) for value in values.tolist()], dtype=str)
    distinct = np.unique(texts) if fitted_texts is None else np.array(fitted_texts, dtype=str)
    code_of = {text: code for code, text in enumerate(distinct.tolist())}
    codes = np.array([code_of.get(text, UNKNOWN) for text in texts.tolist()], dtype=np.float64)
    return codes, Column(name, tuple(distinct.tolist()))


class Divisions:
    """The groups of one fit.

    by: as the parameter, or None for one group of all examples. columns: those of the values (m, k) that
    `learn` and `codes` get. classes: (c,) labels. cuts_: for each division and part the cuts of a numeric
    column, None for values. keys_: for each division the combinations that occur, (G, parts).
    """

    def __init__(self, by: Any, columns: Sequence[Column], classes: np.ndarray):
        self.by, self.columns, self.classes = by, list(columns), classes
        self.cuts_: list[list[np.ndarray | None]] = []
        self.keys_: list[np.ndarray] = []

    @property
    def parts(self) -> tuple[tuple[Part, ...], ...]:
        """The parts of each division."""
        return ((),) if self.by is None else divisions_in(self.by)

    def __len__(self) -> int:
        return len(self.parts)

    def has_label(self, division: int) -> bool:
        """Return whether the groups of a division depend on the label."""
        return any(part.name == LABEL for part in self.parts[division])

    @property
    def label_conditional(self) -> bool:
        """Whether the groups of some division depend on the label."""
        return any(map(self.has_label, range(len(self))))

    @property
    def uses_predictions(self) -> bool:
        """Whether a group depends on the predicted label."""
        return any(part.name == PREDICTED for parts in self.parts for part in parts)

    def cut(self, values: np.ndarray, quantiles: bool) -> None:
        """Choose the cuts of numeric columns from the values (m, k) of the proper training part.

        quantiles: whether there is such a part. ConfigError without one for a column that has to be cut.
        """
        self.cuts_ = [[self._cuts(part, values, quantiles) for part in parts] for parts in self.parts]

    def _cuts(self, part: Part, values: np.ndarray, quantiles: bool) -> np.ndarray | None:
        if part.name in (PREDICTED, LABEL):
            return None
        index = self._index(part.name)
        if self.columns[index].texts is not None:
            if part.bins is not None:
                raise ConfigError(f"by: {part.name} has categories, not numbers", hint=f"write {part.name}")
            return None
        if isinstance(part.bins, tuple):
            return np.array(part.bins)
        numbers = values[:, index]
        numbers = numbers[~np.isnan(numbers)]
        if part.bins is None and len(np.unique(numbers)) <= FEW_VALUES:
            return None
        if not quantiles:
            raise ConfigError(
                f"by: {part.name} has {len(np.unique(numbers))} values, and quantiles of the rows that "
                "p-values are computed from would break the guarantee",
                hint=f"name the cuts, such as by: {{{part.name}: [10, 20]}}, or use conformal: split",
            )
        bins = BINS if part.bins is None else part.bins
        return np.unique(np.quantile(numbers, np.arange(1, bins) / bins)) if len(numbers) else np.empty(0)

    def _index(self, name: Any) -> int:
        return next(index for index, column in enumerate(self.columns) if column.name == name)

    def learn(self, values: np.ndarray, predicted: np.ndarray | None) -> None:
        """Store the groups that occur among calibration examples; predicted: (m,) codes or None."""
        self.keys_ = [
            np.zeros((1, len(parts))) if self._is_whole(parts) else np.unique(rows, axis=0)
            for parts, rows in zip(self.parts, self._combinations(values, predicted), strict=True)
        ]

    @staticmethod
    def _is_whole(parts: Sequence[Part]) -> bool:
        """Return whether all examples have one code, because no part but the label divides them."""
        return all(part.name == LABEL for part in parts)

    def codes(self, values: np.ndarray, predicted: np.ndarray | None) -> np.ndarray:
        """Return the group (n, D) of examples in each division, `UNKNOWN` if no calibration row is in it.

        Divisions that contain the label have groups of the other parts here.
        """
        codes = np.empty((len(values), len(self)), dtype=np.int64)
        for division, combinations in enumerate(self._combinations(values, predicted)):
            if self._is_whole(self.parts[division]):
                codes[:, division] = 0
                continue
            keys = self.keys_[division]
            rows = np.concatenate([keys, combinations])
            numbered = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
            code_of = np.full(int(numbered.max(initial=-1)) + 1, UNKNOWN, dtype=np.int64)
            code_of[numbered[: len(keys)]] = np.arange(len(keys))
            codes[:, division] = code_of[numbered[len(keys) :]]
        return codes

    def _combinations(self, values: np.ndarray, predicted: np.ndarray | None) -> Iterator[np.ndarray]:
        for parts, cuts in zip(self.parts, self.cuts_, strict=True):
            combinations = np.zeros((len(values), len(parts)))
            for column, (part, edges) in enumerate(zip(parts, cuts, strict=True)):
                if part.name == PREDICTED:
                    combinations[:, column] = predicted
                elif part.name != LABEL:
                    numbers = values[:, self._index(part.name)]
                    bins = numbers if edges is None else np.searchsorted(edges, numbers, side="right")
                    combinations[:, column] = np.where(np.isnan(numbers), -np.inf, bins)
            yield combinations

    def groups(self, division: int) -> np.ndarray:
        """Return the number of the group of each code of a division under each label (codes + 1, c).

        The last row is that of the code `UNKNOWN`, and has no groups. Groups of a division with the label
        are numbered ``code * c + label``.
        """
        codes, classes = len(self.keys_[division]), len(self.classes)
        groups = np.full((codes + 1, classes), UNKNOWN)
        groups[:codes] = np.arange(codes)[:, None]
        if self.has_label(division):
            groups[:codes] = np.arange(codes * classes).reshape(codes, classes)
        return groups

    def size(self, division: int) -> int:
        """Return the number of groups of a division."""
        return len(self.keys_[division]) * (len(self.classes) if self.has_label(division) else 1)

    def details(self, rows: Sequence[np.ndarray]) -> list[dict[str, Any]]:
        """Return the name of each division, whether it has the label, and its groups with their numbers of
        calibration examples ``rows``, as plain data."""
        return [
            {
                "name": " and ".join(map(_part_name, parts, self.cuts_[division])),
                "label": self.has_label(division),
                "groups": list(self._names(division)),
                "rows": np.asarray(rows[division]).tolist(),
            }
            for division, parts in enumerate(self.parts)
        ]

    def _names(self, division: int) -> Iterator[str]:
        parts, cuts = self.parts[division], self.cuts_[division]
        for key in self.keys_[division].tolist():
            entries = [entry for entry in zip(parts, cuts, key, strict=True) if entry[0].name != LABEL]
            words = [self._word(*entry) for entry in entries]
            for label in self.classes.tolist() if self.has_label(division) else [None]:
                of_label = [] if label is None else [f"{LABEL} = {label}"]
                yield ", ".join([*words, *of_label])

    def _word(self, part: Part, cuts: np.ndarray | None, value: float) -> str:
        if part.name == PREDICTED:
            return f"{PREDICTED} = {self.classes[int(value)]}"
        if value == -np.inf:
            return f"{part.name} missing"
        if cuts is not None:
            if not isinstance(part.bins, tuple):
                return f"{part.name} bin {int(value) + 1} of {len(cuts) + 1}"
            low = f"{number_text(cuts[int(value) - 1])} <= " if value > 0 else ""
            return f"{low}{part.name}" + (f" < {number_text(cuts[int(value)])}" if value < len(cuts) else "")
        texts = self.columns[self._index(part.name)].texts
        if texts is not None:
            return f"{part.name} = {texts[int(value)] if value >= 0 else '?'}"
        return f"{part.name} = {number_text(value)}"


def _part_name(part: Part, cuts: np.ndarray | None) -> str:
    if cuts is None:
        return str(part.name)
    if isinstance(part.bins, tuple):
        return f"{part.name} cut at {', '.join(map(number_text, part.bins))}"
    return f"{part.name} in {len(cuts) + 1} bins"
