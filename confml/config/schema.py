"""The schema of configs as pydantic models.

To add a key: add a field with a type of `values`, a description and an example to the model that it belongs
to; if it changes what is computed, make sure that ``as_dict`` returns it (it does so for plain values).
Names, parameters and files are checked in `check`. Fields are written with hyphens in a config.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args, get_origin

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    PrivateAttr,
    WithJsonSchema,
)

from confml.config import grids
from confml.config.part import Part, hyphenated, underscored
from confml.config.values import (
    Between,
    Count,
    Duration,
    Folds,
    Memory,
    Name,
    Seed,
    Separator,
    Share,
    Switch,
    Whole,
    Words,
    one_of,
    wrong,
)
from confml.data.text_table import table_name

PROTOCOLS = {
    "fixed-split": "the provider's training and test part, as they are",
    "holdout": "repeats random divisions into a training and a test part of size test-size",
    "k-fold": "folds parts, each the test part once; repeats times",
    "online": "one example after another, each predicted from all before it and then learnt (tcm-nn)",
}
SELECT_BY = ("accuracy", "error", "ari")


def folder_name(text: str) -> str:
    """A name that can be a folder's, made of any text."""
    return re.sub(r"[^\w.+-]+", "-", text).lstrip("._+-").rstrip(".")[:100] or "unnamed"


def _expand(grid: Any) -> tuple[Any, ...]:
    try:
        return tuple(grids.expand(grid))
    except grids.GridError as error:
        if error.expected:
            raise wrong(str(error), hint=error.hint) from None
        raise ValueError(str(error)) from None


def _names(values: Any) -> Any:
    """A list of names; a single one may stand without the list."""
    return [values] if isinstance(values, str) else values


def _labels(values: Any) -> tuple[str, ...]:
    """Labels of classes as text, each once: a whole number may stand without quotes."""
    values = [values] if isinstance(values, str | int) else values
    fits = isinstance(values, list | tuple) and all(isinstance(one, str | int) for one in values)
    if not fits or any(isinstance(one, bool) or one == "" for one in values):
        raise wrong("a list of class labels")
    return tuple(dict.fromkeys(map(str, values)))


def _path(path: Any) -> str:
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        raise wrong("the path of a file")
    return path


Grid = Annotated[tuple[Any, ...], BeforeValidator(_expand)]
_NAMES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
NameList = Annotated[tuple[Words, ...], BeforeValidator(_names), WithJsonSchema(_NAMES)]
_LABEL = {"type": ["string", "integer"]}
_LABELS = {"anyOf": [_LABEL, {"type": "array", "items": _LABEL}]}
LabelList = Annotated[tuple[str, ...], PlainValidator(_labels), WithJsonSchema(_LABELS)]
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


class StepSpec(Part):
    """A step ahead of every method, learnt on training data only: its name, and its parameters if any."""

    short = "name"
    rest = "params"
    one_key = True

    name: Words = Field(description="The step.", examples=["row-standardise"])
    params: dict[str, Any] = Field({}, description="Its parameters, where names would clash.")


class NoiseSpec(Part):
    """Noise on purpose."""

    on: Annotated[str, one_of("all", "train")] = Field(
        "all", description="Noise the whole data set before it is split, or training parts only."
    )
    labels: Share = Field(0, description="Share of rows given another class.", examples=[0.1])
    attributes: Share = Field(
        0, description="Share of attribute values replaced by another row's.", examples=[0.05]
    )
    irrelevant: Whole = Field(0, description="Number of attributes added that mean nothing.", examples=[10])


class ConformalSpec(Part):
    """Settings of conformal prediction; `confml describe conformal` has the defaults."""

    short = "kind"

    kind: Annotated[str, one_of("split", "cross")] = Field(
        "split",
        description="split: calibrate on a part of the training set; cross: on each of its folds in turn.",
    )
    nonconformity: Annotated[str, one_of("lac", "aps", "raps", "margin", "knn-ratio")] | None = Field(
        None,
        description="Nonconformity score; by default lac if there are probabilities, else margin.",
        examples=["aps"],
    )
    calibration: Between | None = Field(
        None,
        description="Fraction of examples in the calibration part, for split (default 0.3).",
    )
    folds: Folds | None = Field(None, description="Number of folds, for cross (default 5).")
    mondrian: Switch | None = Field(
        None, description="Label-conditional p-values, which are valid for each class (default false)."
    )
    smoothed: Switch | None = Field(None, description="Break ties between scores at random (default false).")
    randomised: Switch | None = Field(
        None,
        description="Count a random fraction of the label's probability, for aps and raps (default true).",
    )
    penalty: Share | None = Field(None, description="Penalty per rank after k-reg, for raps (default 0.01).")
    k_reg: Whole | None = Field(None, description="Number of ranks without a penalty, for raps (default 1).")
    k: Count | None = Field(None, description="Number of neighbours, for knn-ratio (default 1).")

    def as_params(self) -> dict[str, Any]:
        """Return the given settings as parameters of the method: ``conformal``, ``conformal__folds``."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name != "kind"}
        others = {f"conformal__{name}": value for name, value in given.items() if value is not None}
        return {"conformal": self.kind, **others}


class LimitsSpec(Part):
    """The time and memory that one task of a method may take; they do not decide results."""

    timeout: Duration | None = Field(
        None, description="Wall time of one task: seconds, or 90s, 10min, 2h.", examples=["10min"]
    )
    memory: Memory | None = Field(
        None, description="Memory that one task may take on top of its worker's.", examples=["4GB"]
    )


class MethodEntry(Part):
    """A method by name; its parameters are fixed, swept (each value is reported) or tuned (one is chosen)."""

    short = "name"
    rest = "params"

    name: Words = Field(
        description="A method of `confml methods`, or a scikit-learn classifier by its dotted name.",
        examples=["tcm-nn", "sklearn.ensemble.RandomForestClassifier"],
    )
    params: dict[str, Any] = Field(
        {}, description="Parameters, where their names clash with keys of a method."
    )
    sweep: dict[str, Grid] = Field(
        {}, description="Grids of values, each reported as a variant.", examples=[{"k": [1, 3, 5]}]
    )
    tune: dict[str, Grid] = Field(
        {},
        description="Grids that inner cross-validation chooses from.",
        examples=[{"C": {"log2": [-18, 18, 2]}}],
    )
    select_by: Annotated[str, one_of(*SELECT_BY)] = Field("accuracy", description="What tuning goes by.")
    conformal: ConformalSpec | None = Field(
        None,
        description="Conformal prediction with this method, with p-values; a single word is the kind.",
        examples=["split", {"kind": "cross", "nonconformity": "aps"}],
    )
    label: Words | None = Field(None, description="Its name in tables and figures.", examples=["1-NN"])
    limits: LimitsSpec | None = Field(
        None,
        description="Limits of one task; a task that exceeds one becomes a failure. They go before --timeout "
        "and --memory.",
        examples=[{"timeout": "10min", "memory": "4GB"}],
    )

    @classmethod
    def _collect(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._collect(values)
        for key in ("sweep", "tune"):
            if isinstance(values.get(key), Mapping):
                values[key] = {underscored(name): grid for name, grid in values[key].items()}
        return values

    @property
    def given(self) -> dict[str, Any]:
        """The parameters that all variants share, those that make the method conformal among them."""
        return {**self.params, **(self.conformal.as_params() if self.conformal else {})}

    def variants(self) -> list[dict[str, Any]]:
        """The combinations of swept values, in order; one empty one where nothing is swept."""
        return grids.product(self.sweep)

    def tune_grid(self) -> list[dict[str, Any]]:
        """The combinations of values to choose from; one empty one where nothing is tuned."""
        return grids.product(self.tune)

    def as_dict(self) -> dict[str, Any]:
        plain = super().as_dict()
        if not self.tune:
            plain.pop("select-by")
        return plain


class Protocol(Part):
    """How data sets are divided into training and test parts."""

    short = "kind"

    kind: Annotated[str, one_of(*PROTOCOLS)] = Field(
        description="; ".join(f"{kind}: {about}" for kind, about in PROTOCOLS.items()), examples=["k-fold"]
    )
    repeats: Count = Field(1, description="How many random divisions (holdout) or rounds of folds (k-fold).")
    test_size: Between = Field(0.2, description="The test part's share of the rows, for holdout.")
    folds: Folds = Field(10, description="How many folds, for k-fold.")
    inner_folds: Folds = Field(10, description="How many folds inside a training part, for tuning.")
    stratify: Switch = Field(True, description="Keep the shares of the classes in every part.")
    absent: LabelList = Field(
        (), description="Classes that no training part has, and test parts have.", examples=[["9"]]
    )
    order: Annotated[str, one_of("given", "shuffled")] = Field(
        "given",
        description="Of online: rows as they stand, training part first, or at random by the seed.",
    )
    start: Whole = Field(
        0, description="How many examples are only learnt ahead of the first step, for online."
    )

    ONLY_FOR: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "repeats": ("holdout", "k-fold", "online"),
        "test_size": ("holdout",),
        "folds": ("k-fold",),
        "inner_folds": ("fixed-split", "holdout", "k-fold"),
        "stratify": ("fixed-split", "holdout", "k-fold"),
        "absent": ("fixed-split", "holdout", "k-fold"),
        "order": ("online",),
        "start": ("online",),
    }

    def as_dict(self) -> dict[str, Any]:
        idle = {hyphenated(key) for key, kinds in self.ONLY_FOR.items() if self.kind not in kinds}
        return {key: value for key, value in super().as_dict().items() if key not in idle}


class FigureSpec(Part):
    """A figure by name, and its options if any."""

    short = "name"
    rest = "options"
    one_key = True

    name: Words = Field(description="The figure.", examples=["error-against-k"])
    options: dict[str, Any] = Field({}, description="Its options, where names would clash.")


class PaperSpec(Part):
    """Published figures to show beside ours."""

    short = "table"

    table: NameList = Field(description="A published table, or several.", examples=["tcm-nn-table3"])


class Config(Part):
    """An experiment: data sets, methods and a protocol, and what to report."""

    name: Name = Field(
        description="Name of the results folder; the config file's unless given.", examples=["usps"]
    )
    about: Words | None = Field(None, description="What this experiment is for, in words.")
    datasets: Annotated[tuple[DatasetSpec, ...], Field(min_length=1)] = Field(
        description="Data sets: cards by name, CSV files, or generated ones.",
        examples=[["usps"], [{"name": "mine", "csv": "mine.csv", "label": "y"}]],
    )
    steps: tuple[StepSpec, ...] = Field(
        (),
        description="Steps ahead of every method, in order, learnt on training data only.",
        examples=[["row-standardise"]],
    )
    noise: NoiseSpec | None = Field(None, description="Noise on purpose.", examples=[{"labels": 0.1}])
    methods: Annotated[tuple[MethodEntry, ...], Field(min_length=1)] = Field(
        description="Methods with their parameters.",
        examples=[[{"name": "tcm-nn", "k": 1}, {"name": "knn", "sweep": {"k": [1, 3, 5]}}]],
    )
    protocol: Protocol = Field(
        description="How data sets are divided; a single word is its kind.",
        examples=[{"kind": "holdout", "test-size": 0.3, "repeats": 20}],
    )
    levels: tuple[Between, ...] = Field(
        (0.01, 0.05), description="Significance levels of region predictions."
    )
    thresholds: tuple[Share, ...] = Field(
        (0.8, 0.95, 0.99), description="Acceptance thresholds of the reject option."
    )
    figures: tuple[FigureSpec, ...] = Field(
        (), description="Figures to draw.", examples=[["error-against-k"]]
    )
    seed: Seed = Field(1, description="The one number that all chance in the run derives from.")
    paper: PaperSpec | None = Field(
        None, description="Published figures to show beside ours.", examples=[{"table": "tcm-nn-table3"}]
    )
    _path: Path | None = PrivateAttr(None)

    @property
    def path(self) -> Path | None:
        """The file that it was loaded from."""
        return self._path

    def from_file(self, path: Path | None) -> Config:
        """Return the same config with ``path`` as the file that it was loaded from."""
        config = self.model_copy()
        config._path = path
        return config

    @property
    def noise_values(self) -> dict[str, Any] | None:
        """What `confml.data.noise` takes; None where there is no noise to make."""
        noise = self.noise
        return noise.as_dict() if noise and (noise.labels or noise.attributes or noise.irrelevant) else None

    def as_dict(self) -> dict[str, Any]:
        """The config in full as plain values that `make_config` reads again: defaults said, grids expanded,
        paths absolute, in the order of the schema. It does not say where the config came from."""
        return super().as_dict()


def part_at(place: Sequence[str | int]) -> type[Part] | None:
    """The model of the mapping that stands at a place of a config; None where there is none."""
    model: type[Part] | None = Config
    in_list = False
    for part in place:
        if isinstance(part, int):
            in_list = False
            continue
        field = model.model_fields.get(str(part).replace("-", "_")) if model and not in_list else None
        model = _model_in(field.annotation) if field else None
        in_list = field is not None and get_origin(field.annotation) is tuple
    return None if in_list else model


def _model_in(annotation: Any) -> type[Part] | None:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
