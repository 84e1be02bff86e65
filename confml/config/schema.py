"""`Config`: the schema of configs as a pydantic model, with its smaller parts.

To add a key: add a field with a type of `values`, a description and an example to the model that it belongs
to; if it changes the results, make sure that ``as_dict`` returns it (it does so for plain values).
Names, parameters and files are checked in ``check_*.py``. Fields are written with hyphens in a config.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import Field, PrivateAttr, WithJsonSchema

from confml.config.dataset_spec import DatasetSpec
from confml.config.method_entry import MethodEntry
from confml.config.part import Part, underscored
from confml.config.protocol import Protocol
from confml.config.values import Level, Name, NameList, Seed, Share, Switch, Threshold, Whole, Words, one_of
from confml.config.warnings import WARNINGS
from confml.methods import BASELINE

_COSTS = {"anyOf": [{"type": "object"}, {"type": "string"}, {"type": "null"}], "default": None}


class StepSpec(Part):
    """A step before every method, fitted to training data only: its name and parameters.

    name: A step of `confml describe`, or a transformer with scikit-learn's interface by its dotted name.
        Example: row-standardise or sklearn.decomposition.PCA
    params: Parameters of the step whose names are also keys of a step.
    """

    short = "name"
    rest = "params"
    one_key = True

    name: Words
    params: dict[str, Any] = {}


class NoiseSpec(Part):
    """Noise that is added to the data.

    on: Add noise to the whole data set before it is split, or to training parts only.
    labels: Fraction of rows that get another class. Example: 0.1
    attributes: Fraction of feature values replaced by the value of another row. Example: 0.05
    irrelevant: Number of random features that are added. Example: 10
    """

    on: Annotated[str, one_of("all", "train")] = "all"
    labels: Share = 0
    attributes: Share = 0
    irrelevant: Whole = 0


class FigureSpec(Part):
    """A figure: its name and options.

    name: The figure. Example: error-against
    options: Options whose names are also keys of a figure.
    """

    short = "name"
    rest = "options"
    one_key = True

    name: Words
    options: dict[str, Any] = {}


class PaperSpec(Part):
    """Published results to compare with.

    table: A published table, or several. Example: tcm-nn-table3
    """

    short = "table"

    table: NameList


AIMS = ("error", "cost", "regions", "certified")


class Config(Part):
    """An experiment: data sets, methods, a protocol, and settings of the report.

    name: Name of the results folder; by default the name of the file. Example: usps
    about: Purpose of the experiment.
    datasets: Data sets: cards by name, CSV files, or generated ones. Example: [usps] or [{name: mine, csv:
        mine.csv, label: y}]
    steps: Steps before every method, in order, fitted to training data only. Example: [row-standardise]
    noise: Noise in labels or features. Example: {labels: 0.1}
    methods: Methods with their parameters. Example: [{name: tcm-nn, k: 1}, {name: knn, sweep: {k: [1, 3,
        5]}}]
    protocol: Division of the data sets; a single word is the kind. Example: {kind: holdout, test-size: 0.3,
        repeats: 20}
    levels: Significance levels of region predictions.
    thresholds: Acceptance thresholds of the reject option.
    figures: Figures to draw. Example: [error-against]
    figure_formats: Formats of the files of figures, besides SVG, which the page shows. Example: [pdf]
    costs: Costs of decisions: matrix (for each true class the cost of each prediction) and abstain (the price
        of no decision), or the path of a YAML or CSV file. A run reports the mean cost of every method, and
        `confml predict` decides by them. Example: {matrix: {good: {bad: 1}, bad: {good: 5}}, abstain: 0.8}
    aim: Aim of the advice in the report: error (lowest error), cost (lowest cost), regions (smallest regions
        at the level closest to 0.05 whose coverage is not shown to be too low) or certified (smallest
        certified risk, with its share); by default cost if costs are given, else error. Example: regions
    seed: Random seed of the run.
    paper: Published tables beside the results. Example: {table: tcm-nn-table3}
    baseline: Whether a run adds the method majority-class, unless the config has it; by default it does, but
        not with paper. Example: false
    silence: Codes of warnings that are not shown (confml describe --type warning lists them). Example:
        [duplicate-rows]
    """

    name: Name
    about: Words | None = None
    datasets: Annotated[tuple[DatasetSpec, ...], Field(min_length=1)]
    steps: tuple[StepSpec, ...] = ()
    noise: NoiseSpec | None = None
    methods: Annotated[tuple[MethodEntry, ...], Field(min_length=1)]
    protocol: Protocol
    levels: tuple[Level, ...] = (0.01, 0.05)
    thresholds: tuple[Threshold, ...] = (0.8, 0.95, 0.99)
    figures: tuple[FigureSpec, ...] = ()
    figure_formats: tuple[Annotated[str, one_of("svg", "png", "pdf")], ...] = ("png",)
    costs: Annotated[dict[str, Any] | None, WithJsonSchema(_COSTS)] = None
    aim: Annotated[str, one_of(*AIMS)] | None = None
    seed: Seed = 1
    paper: PaperSpec | None = None
    baseline: Switch | None = None
    silence: tuple[Annotated[str, one_of(*WARNINGS)], ...] = ()
    _path: Path | None = PrivateAttr(None)

    @property
    def path(self) -> Path | None:
        """The file of the config, or None."""
        return self._path

    def from_file(self, path: Path | None) -> "Config":
        """Return the same config with ``path`` as its file."""
        config = self.model_copy()
        config._path = path
        return config

    def with_baseline(self) -> "Config":
        """Return the config of a run: with the method ``majority-class``, unless it has it or wants none."""
        adds = self.paper is None if self.baseline is None else self.baseline
        if not adds or any(entry.name == BASELINE for entry in self.methods):
            return self
        config = self.model_copy(update={"methods": (*self.methods, MethodEntry(name=BASELINE))})
        config._path = self._path
        return config

    @property
    def noise_values(self) -> dict[str, Any] | None:
        """Settings for `confml.data.noise.apply_noise`; None without noise."""
        noise = self.noise
        return noise.as_dict() if noise and (noise.labels or noise.attributes or noise.irrelevant) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the complete config as plain values for `make_config`, in the order of the schema.

        Defaults are included, grids are expanded, paths are absolute; the path of the config is omitted.
        """
        plain = super().as_dict()
        for key in ("aim", "silence"):
            if not plain.get(key):
                plain.pop(key, None)
        return plain


def part_at(loc: Sequence[str | int]) -> type[Part] | None:
    """Return the model of the mapping, or of the entries of a list, at a location of a config, or None."""
    model: type[Part] | None = Config
    for key in loc:
        if model is not None and isinstance(key, str):
            field = model.model_fields.get(underscored(key))
            model = _model_in(field.annotation) if field else None
    return model


def _model_in(annotation: Any) -> type[Part] | None:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)
