"""`Config`: the schema of configs as a pydantic model, with its smaller parts.

To add a key: add a field with a type of `values`, a description and an example to the model that it belongs
to; if it changes the results, make sure that ``as_dict`` returns it (it does so for plain values).
Names, parameters and files are checked in `check`. Fields are written with hyphens in a config.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import Field, PrivateAttr

from confml.config.dataset_spec import DatasetSpec
from confml.config.lists import NameList
from confml.config.method_entry import MethodEntry
from confml.config.part import Part
from confml.config.protocol import Protocol
from confml.config.values import Between, Name, Seed, Share, Whole, Words, one_of


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
