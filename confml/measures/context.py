"""`Context`: the training part and the parameters behind a prediction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Context:
    """The training part and the parameters behind a prediction.

    train_rows: number of training examples; train_class_counts: number per class. params: parameters of the
    method that the config sets. costs: `Costs` of decisions, None without.
    """

    train_rows: int = 0
    train_class_counts: Mapping = field(default_factory=dict)
    params: Mapping = field(default_factory=dict)
    costs: Any = None
