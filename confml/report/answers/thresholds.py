"""`Decided`: the predictions that can be accepted at a risk, certified, or chosen on the test rows.

A threshold that is chosen on the test rows has a higher risk on new rows (1.4 to 3.7 % in place of 1 % for
the best of 5 to 20 methods on 50 to 1,000 rows), so the certified share comes first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confml.report.answers.text import percent

RISK = 0.01
Key = tuple[str, str, str, str]  # data set, method, params, view


@dataclass(frozen=True)
class Decided:
    """Share of the predictions that are accepted at a risk of at most `RISK`.

    certified: mean coverage on new examples of the thresholds that are certified together for all ``views``
    of a run (0 for splits without one), and the label of the view chosen most often; None for several runs,
    and for rows in groups, which have no guarantee. needed, rows: accepted examples without error that a
    certificate needs, and examples of a calibration half. splits, with_one, chosen: number of splits, of
    those with a certified threshold, and of those where the view is the chosen one.
    observed: largest coverage of the mean risk-coverage curves, with the label of its view.
    """

    observed: float = 0.0
    observed_label: str = ""
    certified: float | None = None
    certified_label: str = ""
    views: int = 0
    needed: int = 0
    rows: int = 0
    splits: int = 1
    with_one: int = 0
    chosen: int = 0

    @property
    def sentence(self) -> str:
        """The share as text: first the certified one, then the one that was chosen on the test rows."""
        chosen = "No accepted share has an observed risk of at most 1 %."
        if self.observed > 0:
            chosen = (
                f"{'O' if self.certified is None else 'Without a certificate, o'}n the test rows "
                f"{self.observed_label} has a risk of at most 1 % on {percent(self.observed)} of its "
                "predictions; method and threshold were chosen on these rows, so expect a higher risk."
            )
        if self.certified is None:
            return chosen
        if self.certified > 0:
            together = f" (certified together for all {self.views} views)" if self.views > 1 else ""
            risk = "of new predictions at a risk of at most 1 % with probability 95 %"
            share = percent(self.certified)
            if self.splits == 1:
                of = self.certified_label
                return f"A certified threshold of {of}{together} accepts {share} {risk}. {chosen}"
            has = "has" if self.with_one == 1 else "have"
            found = f"{self.with_one} of {self.splits} splits {has} one, {self.chosen} of these of"
            return (
                f"Certified thresholds{together} accept {share} {risk}, on average over all splits: {found} "
                f"{self.certified_label}. {chosen}"
            )
        if self.rows < self.needed:
            why = (
                f"a certificate needs {self.needed} accepted rows without an error, and the calibration half "
                f"of a test part has {self.rows}"
            )
        else:
            why = (
                f"the rows that the strictest thresholds accept have too many errors (a certificate needs "
                f"{self.needed} rows without an error, and a calibration half has {self.rows} rows)"
            )
        return f"No threshold is certified for a risk of at most 1 %: {why}. {chosen}"


def observed_shares(curves: Iterable[Mapping[str, Any]]) -> dict[Key, float]:
    """Return the largest coverage with a risk of at most `RISK` for each view of ``rejection-curves.csv``."""
    found: dict[Key, float] = {}
    for row in curves:
        key = (row["dataset"], row["method"], row["params"], row["view"])
        found.setdefault(key, 0.0)
        if row["risk"] <= RISK + 1e-9:
            found[key] = max(found[key], 1 - float(row["rejection_rate"]))
    return found


def decided(
    observed: Mapping[str, float], joint: Iterable[Mapping[str, Any]], labels: Mapping[Key, str]
) -> Decided:
    """Return the shares of a data set.

    observed: of each view by label. joint: rows of ``certified-jointly.csv`` for all classes together, none
    where there is no guarantee. labels: of the views.
    """
    best = max(observed, key=lambda label: observed[label], default="")
    found = Decided(observed.get(best, 0.0), best if observed.get(best, 0.0) > 0 else "")
    for row in joint:
        if abs(row["limit"] - RISK) < 1e-12:
            key = (row["dataset"], row["method"], row["params"], row["view"])
            names = ("candidates", "needed", "calibration_rows", "splits", "certified", "chosen")
            numbers = (int(row[name]) for name in names)
            found = Decided(
                found.observed, found.observed_label, float(row["coverage"]), labels.get(key, ""), *numbers
            )
    return found
