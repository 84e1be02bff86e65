"""The config of rows to be predicted without one."""

from collections.abc import Mapping, Sequence
from typing import Any

LEVELS = (0.01, 0.05, 0.1)  # significance levels


def config_values(
    dataset: Mapping[str, Any],
    method: str,
    params: Mapping[str, Any] | None = None,
    steps: Sequence[Any] | None = None,
    levels: Sequence[float] = LEVELS,
    seed: int = 1,
) -> dict[str, Any]:
    """Return the values of a config with one data set and one method, for rows to be predicted."""
    return {
        "name": "predict",
        "datasets": [dict(dataset)],
        "steps": ["standardise"] if steps is None else list(steps),
        "methods": [{"name": method, "params": dict(params or {})}],
        "protocol": {"kind": "k-fold"},
        "levels": [float(level) for level in levels],
        "seed": seed,
    }
