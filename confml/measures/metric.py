"""`Metric`: the declaration of a number that a run reports: heading, unit, digits, direction, definition.

Every metric is declared once, in the module that computes it: metrics of predictions in the ``MEASURE`` of
a module of `confml.measures`, quantities of a method or step in its class attribute ``metrics``, and metrics
of a report beside the table that has them. `confml.report.declared` collects them.
"""

import functools
import math
from dataclasses import dataclass, replace

HIGHER, LOWER = "higher", "lower"
OWN = "defined by confml"
"""Source of a metric without a publication."""
SHARE = "%"
"""Unit of a fraction, which tables show in per cent."""
LEVEL, THRESHOLD = "level", "threshold"
"""Numbers per significance level of regions, and per threshold of acceptance."""
SHORT, RESULTS, PAGE = "short", "results", "page"
"""Tables: the one that ``confml run`` prints, ``tables/results`` and ``acceptance``, those of the page."""


@dataclass(frozen=True)
class Metric:
    """The declaration of a metric.

    about: one sentence, without a full stop. direction: ``"higher"`` or ``"lower"``, whichever is better;
    None if neither is (``k_mean``, coverage). formula: with n test examples i, p-values p_i^y, region G_i and
    true label y_i. source: publication.

    heading: of columns and axes; by default the key with blanks. unit: `SHARE`, another unit, or "". digits:
    after the decimal point; by default 2 for a share, else 3. per: `LEVEL` or `THRESHOLD` of a metric with
    one number for each of them, else "". tables: those with a column for the metric, of `SHORT`, `RESULTS`
    and `PAGE`. key: name of the metric, set where it is registered under one (`named`).
    """

    about: str
    direction: str | None
    formula: str = ""
    source: str = ""
    heading: str = ""
    unit: str = ""
    digits: int = -1
    per: str = ""
    tables: tuple[str, ...] = ()
    key: str = ""

    def __post_init__(self):
        if self.direction not in (HIGHER, LOWER, None):
            raise ValueError(f"direction must be 'higher', 'lower' or None, got {self.direction!r}")
        if self.digits < 0:
            object.__setattr__(self, "digits", 2 if self.unit == SHARE else 3)

    def named(self, key: str) -> "Metric":
        """Return the declaration under a key, with a heading."""
        return replace(self, key=key, heading=self.heading or key.replace("_", " "))

    @property
    def label(self) -> str:
        """Heading of a column of numbers, with "(%)" for a share."""
        return f"{self.heading} (%)" if self.unit == SHARE else self.heading

    @property
    def factor(self) -> float:
        """Factor of the numbers that tables and figures show: 100 for a share, else 1."""
        return 100.0 if self.unit == SHARE else 1.0

    def text(self, mean: float, sd: float = math.nan) -> str:
        """Return mean and sd as tables show them; "-" if the mean is NaN, and no sd if the sd is NaN."""
        if math.isnan(mean):
            return "-"
        shown = f"{self.factor * mean:.{self.digits}f}"
        return shown if math.isnan(sd) else f"{shown} ± {self.factor * sd:.{self.digits}f}"

    @property
    def sign(self) -> int:
        """1 if higher is better, -1 if lower is better. Raises ValueError if neither is."""
        if self.direction is None:
            raise ValueError(f"neither higher nor lower is better for this metric: {self.about}")
        return 1 if self.direction == HIGHER else -1


share = functools.partial(Metric, unit=SHARE)
share_per_level, share_per_threshold = (functools.partial(share, per=per) for per in (LEVEL, THRESHOLD))
