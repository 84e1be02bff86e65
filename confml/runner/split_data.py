"""`SplitData`: training and test examples of one outer split or inner fold, after noise and steps."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from confml._seeds import derived_generator, stable_generator
from confml.data.dataset import DataSet
from confml.data.memory import dense, is_sparse
from confml.data.noise import apply_noise, irrelevant_names, nominal_columns
from confml.errors import ConfigError, ConfmlError
from confml.methods.base import Method, Views
from confml.methods.nominal import nominal_mask
from confml.methods.registry import build, method_class
from confml.methods.validation import takes_sparse
from confml.methods.wrapper_method import WrapperMethod
from confml.methods.wrappers import wrapper_of
from confml.plugins.by import BEST_OF, BY_KEYS, names_in
from confml.runner.external_files import open_table
from confml.runner.splits import Split, inner_folds, split_identity, split_rows
from confml.runner.workspace import open_dataset
from confml.steps.pipeline import StepPipeline
from confml.steps.registry import build_pipeline, step_class

if TYPE_CHECKING:
    from confml.data.probability_table import ProbabilityTable


class _Transformed(NamedTuple):
    """Examples after the steps ``chain``. kept: rows of the training part that the steps keep."""

    chain: StepPipeline
    X: np.ndarray
    y: np.ndarray
    kept: np.ndarray
    X_test: np.ndarray


class SplitData:
    """Training and test examples of a task. The steps are fitted at the first access to the examples.

    train_rows, test_rows: rows of the data set; under protocol online, in the order of the examples.
    X (m, d), y (m,): training examples after noise and steps; steps may drop rows.
    X_test (n, d), y_test (n,): test examples. reported_rows: (n,) row numbers for reports.

    A method that takes nominal features gets the codes of their categories if the data set has both codes and
    dummy columns, unless a point of ``grid`` has ``nominal: dummy``. All other methods get the columns of the
    data set; see `form_of_rows`. If a card codes categories as integers, methods treat them as numbers.

    The columns that ``by`` of a point names are the last columns of X, before the steps; the method takes
    them off. A conformal or Venn-Abers method gets the examples before the steps, and the steps (see
    `method`). A
    method with ``takes_rows`` gets the numbers of the rows of the data set (m, 1), without steps.
    """

    def __init__(
        self,
        context,
        data: DataSet,
        train_rows: np.ndarray,
        test_rows: np.ndarray,
        outer_rows: np.ndarray | None = None,
        grid: Sequence[Mapping[str, Any]] = (),
    ):
        self.context, self.data = context, data
        self.train_rows, self.test_rows = train_rows, test_rows
        self._outer_rows = outer_rows
        self._nominal = _nominal_of(context.method, grid)
        self._steps_in_method = any(wrapper_of(point) for point in grid)
        self.by = by_places(data, grid)  # places of the columns of ``by`` in the table
        self._form = form_of_rows(data, context.method, grid, context.steps, context.noise)

    @classmethod
    def of(cls, context, grid: Sequence[Mapping[str, Any]] = (), fold: int | None = None) -> "SplitData":
        """Return the examples of the outer split, or of inner fold ``fold`` of its training part."""
        data = open_dataset(context.data_file)
        train, test = _outer_rows(data, context.protocol, context.split, context.seed)
        if fold is None:
            return cls(context, data, train, test, grid=grid)
        parts = inner_folds(data, train, context.protocol, context.split, context.seed)[fold]
        return cls(context, data, *parts, train, grid)

    def method(self, point: Mapping[str, Any]) -> Method:
        """Return the method with the parameters of a point.

        A conformal or Venn-Abers method also gets the groups, and the steps, which it fits to each of its
        training parts.
        """
        method: Any = build(self.context.method, point)
        if self.context.decides:
            method.in_run(decides=True)
        if self.by:
            names, categories = self.data.table_attributes, self.data.categories
            set_columns = method.in_run if isinstance(method, WrapperMethod) else method.set_params
            set_columns(by_columns=[(names[column], categories[column]) for column in self.by])
        if self._form == "numbers":
            of_file: Any = getattr(method, "estimator", method)  # the one inside a conformal method
            of_file.use_table(self._table(point), self.context.split.repeat, self.context.split.fold)
            return method
        if self._steps_in_method and self.data.groups is not None:
            method.in_run(groups=np.asarray(self.data.groups)[self.train_rows])
        if self._steps_in_method and self.context.steps:
            nominal = self._columns(self._raw["X"].shape[1])
            method.in_run(steps=_StepsPerPart(self.context.steps, nominal, self._generator("steps")))
        return method

    def evaluate(
        self, points: Sequence[Mapping[str, Any]], rng: np.random.Generator | None, state: Any = None
    ) -> Iterator[tuple[dict[str, Any], Views]]:
        """Return the path of the method on `with_nominal_columns` points, or its predictions one by one under
        protocol online."""
        method: Any = self.method(points[0])
        if self.context.split.kind == "online":
            data = self.X, self.y, self.X_test, self.y_test, self.data.classes
            return method.evaluate_online(*data, points, rng)
        return method.evaluate_path(self.X, self.y, self.X_test, points, rng, state)

    def with_nominal_columns(self, points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the points of a grid, each with the columns of ``X`` that hold codes as ``nominal``."""
        if self._nominal is None:
            return [dict(point) for point in points]
        columns = np.flatnonzero(self._transformed.chain.nominal_).tolist()
        return [{**point, "nominal": columns} for point in points]

    @property
    def reported_rows(self) -> np.ndarray:
        """(n,) row numbers from 0: in the provider's part for a fixed split, else in the pooled data set."""
        if self.context.split.kind == "fixed-split":
            return self.data.part_row(self.test_rows)
        return np.asarray(self.test_rows)

    @property
    def X(self) -> np.ndarray:
        return self.with_by(self._transformed.X, self.train_rows[self._transformed.kept])

    @property
    def y(self) -> np.ndarray:
        return self._transformed.y

    @property
    def X_test(self) -> np.ndarray:
        return self.with_by(self._transformed.X_test, self.test_rows)

    @property
    def y_test(self) -> np.ndarray:
        return self._raw["y_test"]

    @cached_property
    def learnt_classes(self) -> dict[Any, int]:
        """Number of examples of each class that are learnt before the last prediction."""
        learnt = self.y
        if self.context.split.kind == "online":
            learnt = np.concatenate([learnt, self.y_test[:-1]])
        labels, counts = np.unique(learnt, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @property
    def untransformed(self) -> tuple[np.ndarray, np.ndarray]:
        """Training examples after noise and before the steps: X (m, d) and y (m,)."""
        return self._raw["X"], self._raw["y"]

    @property
    def kept(self) -> np.ndarray:
        """Indices of the ``untransformed`` examples that the steps keep."""
        return self._transformed.kept

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return further examples (n, d), transformed by the steps fitted to the training part."""
        return self._transformed.chain.transform(X if self._form == "sparse" else dense(X))

    def with_by(self, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return examples X (m, d) of rows of the data set with the columns of ``by``."""
        return np.column_stack([X, self.data.table[rows][:, self.by]]) if self.by else X

    @property
    def steps(self) -> StepPipeline:
        """The steps, fitted to the training part; none for a conformal method, which has its own."""
        return self._transformed.chain

    @property
    def dropped_rows(self) -> np.ndarray:
        """Rows of the training part that the steps drop, numbered as in ``reported_rows``."""
        is_selected = np.zeros(len(self.train_rows), dtype=bool)
        is_selected[self._transformed.kept] = True
        rows = np.asarray(self.train_rows)[~is_selected]
        return self.data.part_row(rows) if self.context.split.kind == "fixed-split" else rows

    @property
    def dropped_attributes(self) -> tuple[str, ...]:
        """Names of the features that the steps drop; empty if a step replaces features by new ones."""
        left = self._transformed.chain.columns_
        if left is None or self._form == "numbers":
            return ()
        data = self.data
        names = data.table_attributes if self.takes_codes else data.attributes
        names += irrelevant_names(names, (self.context.noise or {}).get("irrelevant") or 0)
        columns = set(left.tolist())
        return tuple(name for column, name in enumerate(names) if column not in columns)

    @property
    def step_metrics(self) -> dict[str, float]:
        """Metrics of the steps, by name."""
        return self._transformed.chain.fit_metrics_

    @property
    def drops_rows(self) -> bool:
        """Whether a step drops training rows."""
        return len(self._transformed.kept) != len(self.train_rows)

    @property
    def takes_codes(self) -> bool:
        """Whether the examples are rows of the data set's table of codes instead of its dummy-coded X."""
        return self._form == "codes"

    @property
    def _mask(self) -> np.ndarray:
        """(d,) bool: the columns with codes before noise and steps."""
        if self.takes_codes:
            return self.data.nominal
        return nominal_mask("auto" if self._nominal is None else self._nominal, self.data.X.shape[1])

    def _columns(self, number: int) -> np.ndarray:
        """Return (number,) bool: the columns with codes; features that noise appends are numbers."""
        mask = np.zeros(number, dtype=bool)
        mask[: len(self._mask)] = self._mask
        return mask

    def _with_noise(self, rows, noise, rng) -> tuple[np.ndarray, np.ndarray]:
        """Return rows with noise, which is the same on codes and on the dummy columns of a category."""
        nominal = None if self.takes_codes else nominal_columns(self.data)
        return apply_noise(self._coded(rows), self.data.y[rows], noise, rng, nominal)

    def _coded(self, rows: np.ndarray | slice) -> Any:
        """Return rows of the data set before noise and steps; sparse only where the method takes them so."""
        X = (self.data.table if self.takes_codes else self.data.X)[rows]
        return dense(X) if self._form == "dense" else X

    @cached_property
    def _raw(self) -> dict[str, np.ndarray]:
        """Examples after noise, which applies to the whole data set (``on: all``) or the training part."""
        data, noise = self.data, self.context.noise
        train, test = self.train_rows, self.test_rows
        if not noise:
            X, X_test = self._coded(train), self._coded(test)
            return {"X": X, "y": data.y[train], "X_test": X_test, "y_test": data.y[test]}
        # The seed does not depend on the amount of noise: rows noised at 5 % are among those noised at 10 %.
        rng = self._generator("noise", repeat_only=noise["on"] == "all")
        if noise["on"] == "all":
            X, y = self._with_noise(slice(None), noise, rng)
            return {"X": X[train], "y": y[train], "X_test": X[test], "y_test": y[test]}
        return self._training_with_noise(noise, rng)

    def _training_with_noise(self, noise, rng) -> dict[str, np.ndarray]:
        """Return examples with noise on the outer training part, and irrelevant features in both parts.

        Inner folds divide the noised outer training part, so their validation rows have noise too.
        """
        outer = self.train_rows if self._outer_rows is None else self._outer_rows
        X, y = self._with_noise(outer, noise, rng)
        if self._outer_rows is not None:
            train, test = np.searchsorted(outer, self.train_rows), np.searchsorted(outer, self.test_rows)
            return {"X": X[train], "y": y[train], "X_test": X[test], "y_test": y[test]}
        test_noise = {"on": "train", "irrelevant": noise.get("irrelevant") or 0}
        X_test, y_test = self._with_noise(self.test_rows, test_noise, rng)
        return {"X": X, "y": y, "X_test": X_test, "y_test": y_test}

    @cached_property
    def _transformed(self) -> "_Transformed":
        """Examples after the steps, which are fitted to the training part; a table gets numbers of rows."""
        raw = self._raw
        X, X_test = raw["X"], raw["X_test"]
        mask, steps = self._columns(X.shape[1]), () if self._steps_in_method else self.context.steps
        if self._form == "numbers":
            X, X_test = self.train_rows[:, None], self.test_rows[:, None]
            mask, steps = np.zeros(1, dtype=bool), ()
        chain = build_pipeline(steps)
        rng = self._generator("steps") if chain.steps else None
        groups = None if self.data.groups is None else np.asarray(self.data.groups)[self.train_rows]
        return _Transformed(
            chain, *chain.fit_training(X, raw["y"], rng, mask, groups), chain.transform(X_test)
        )

    def _table(self, point: Mapping[str, Any]) -> "ProbabilityTable":
        context = self.context
        fixed = context.split.kind == "fixed-split"
        return open_table(context.files, point["probabilities"], self.data, fixed)

    def _generator(self, purpose: str, repeat_only: bool = False) -> np.random.Generator:
        context = self.context
        identity = context.split.repeat if repeat_only else split_identity(context.protocol, context.split)
        return stable_generator(purpose, context.seed, context.checksum, identity)


@functools.lru_cache(maxsize=2)
def _outer_rows(data: DataSet, protocol: Any, split: Split, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `split_rows`, read-only; the tasks of a batch that share a split follow each other."""
    train, test = (rows.view() for rows in split_rows(data, protocol, split, seed))
    train.flags.writeable = test.flags.writeable = False
    return train, test


def form_of_rows(
    data: DataSet,
    method: str,
    grid: Sequence[Mapping[str, Any]],
    steps: Sequence[tuple[str, Mapping[str, Any]]],
    noise: Any,
) -> Literal["numbers", "codes", "sparse", "dense"]:
    """Return the form in which a method gets the rows of a data set.

    ``codes`` are rows of its table, ``numbers`` the numbers of rows. Rows of ``X`` are ``sparse`` if ``X``
    is, the steps and the method at every point of the grid take sparse rows, and there is neither noise nor
    ``by``; else they are ``dense``.
    """
    if method_class(method).takes_rows:
        return "numbers"
    if _nominal_of(method, grid) == "auto" and data.attributes != data.table_attributes:
        return "codes"
    if not (is_sparse(data.X) and grid and all(step_class(name).takes_sparse for name, _ in steps)):
        return "dense"
    if noise or by_places(data, grid):
        return "dense"
    return "sparse" if all(takes_sparse(build(method, point)) for point in grid) else "dense"


@dataclass(frozen=True)
class _StepsPerPart:
    """Steps of a run that a conformal or Venn-Abers method fits to each of its training parts."""

    steps: Sequence[tuple[str, Mapping[str, Any]]]
    nominal: np.ndarray
    rng: np.random.Generator

    def __sklearn_clone__(self) -> Self:
        return self

    def learn(
        self, X: np.ndarray, y: np.ndarray, *part: Any, groups: np.ndarray | None = None
    ) -> tuple[StepPipeline, np.ndarray, np.ndarray, np.ndarray]:
        """Fit to X (m, d), y (m,) and return (chain, X (m', d'), y (m',), kept rows (m',)).

        part: identifies the training part; each part has its own random generator. groups: (m,) or None.
        """
        chain = build_pipeline(self.steps)
        X, y, rows = chain.fit_training(X, y, derived_generator(self.rng, *part), self.nominal, groups)
        return chain, X, y, rows


def by_places(data: DataSet, grid: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Return the places of the columns that ``by`` of the points of a grid names, in the table of a data set.

    Raises ConfigError for a column that the data set does not have.
    """
    names = names_in(value for point in grid for key, value in point.items() if key in BY_KEYS)
    for name in names:
        if name not in data.table_attributes:
            message = f"by: data set '{data.name}' has no column '{name}'"
            raise ConfigError(message, near=(name, data.table_attributes))
    return tuple(data.table_attributes.index(name) for name in names)


def _nominal_of(method: str, grid: Sequence[Mapping[str, Any]]) -> str | tuple[int, ...] | None:
    """Return the value of ``nominal`` in a grid; None for a method without nominal features."""
    mixed = any(point.get(BEST_OF) for point in grid)  # all candidates get the same columns
    if mixed or not method_class(method).takes_nominal:
        return None
    forms = [point.get("nominal", "auto") for point in grid] or ["auto"]
    if any(form != forms[0] for form in forms):
        raise ConfmlError(f"nominal of {method} differs within one tuning grid", hint="sweep it instead")
    return forms[0] if isinstance(forms[0], str) else tuple(forms[0])
