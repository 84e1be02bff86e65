"""`Metric`: the declaration of a number that a run reports, with the direction that is better.

Every metric is declared once, in the module that computes it: metrics of predictions in the ``MEASURE`` of
a module of `confml.measures`, quantities of a method or step in its class attribute ``metrics``, and metrics
of a report in its sections. `confml.report.declared` collects them.
"""

from __future__ import annotations

from dataclasses import dataclass

HIGHER, LOWER = "higher", "lower"
OWN = "defined by confml"
"""Source of a metric without a publication."""


@dataclass(frozen=True)
class Metric:
    """The declaration of a metric.

    about: one sentence, without a full stop. direction: ``"higher"`` or ``"lower"``, whichever is better;
    None if neither is (``k_mean``, coverage). formula: with n test examples i, p-values p_i^y, region G_i and
    true label y_i. source: publication.
    """

    about: str
    direction: str | None
    formula: str = ""
    source: str = ""

    def __post_init__(self):
        if self.direction not in (HIGHER, LOWER, None):
            raise ValueError(f"direction must be 'higher', 'lower' or None, got {self.direction!r}")

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better. Raises ValueError if neither is."""
        if self.direction is None:
            raise ValueError(f"neither higher nor lower is better for this metric: {self.about}")
        return 1 if self.direction == HIGHER else -1
