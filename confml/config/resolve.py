"""Stage 5: resolve relative paths and the seeds of synthetic data."""

from __future__ import annotations

from confml.config.dataset_spec import DatasetSpec
from confml.config.draft import Draft
from confml.config.schema import Config


def resolve(config: Config, draft: Draft) -> Config:
    """Return the config with absolute paths and a seed for every generated data set."""
    datasets = tuple(_resolved(dataset, config.seed, draft) for dataset in config.datasets)
    return config.model_copy(update={"datasets": datasets}).from_file(draft.path)


def _resolved(dataset: DatasetSpec, seed: int, draft: Draft) -> DatasetSpec:
    if dataset.kind == "generate" and dataset.params.get("seed") is None:
        return dataset.model_copy(update={"params": {**dataset.params, "seed": seed}})
    paths = {key: getattr(dataset, key) for key in ("csv", "test")}
    files = {key: str(draft.file(path)) for key, path in paths.items() if path is not None}
    return dataset.model_copy(update=files) if files else dataset
