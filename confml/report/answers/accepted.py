"""`Accepted`: the predictions that can be accepted at a risk, certified, or chosen on the test rows.

A threshold that is chosen on the test rows has a higher risk on new rows (1.4 to 3.7 % in place of 1 % for
the best of 5 to 20 methods on 50 to 1,000 rows), so the certified share comes first.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from confml.report.answers.comparisons import Comparisons
from confml.report.answers.text import percent
from confml.report.report import Report

RISK = 0.01


class Accepted(NamedTuple):
    """Share of the predictions that are accepted at a small risk.

    observed: largest coverage of the mean risk-coverage curves at a risk of `RISK`, with the label of its
    view. joint: the row of ``certified-jointly.csv`` with the smallest limit that is certified on half of the
    splits, or else with the limit `RISK`, with the label of the view chosen most often; empty for rows in
    groups, which have no guarantee. strictest: the row with the limit `RISK`.
    """

    observed: float = 0.0
    observed_label: str = ""
    joint: Mapping[str, Any] = {}
    label: str = ""
    strictest: Mapping[str, Any] = {}

    @property
    def certified(self) -> float | None:
        """Mean coverage on new examples of the thresholds that are certified together; None without."""
        if not self.joint:
            return None
        return float(self.joint["coverage"]) if 2 * self.joint["certified"] >= self.joint["splits"] else 0.0

    @property
    def certificate(self) -> str:
        """The certified share, and what a risk of 1 % would take; "" where nothing can be certified."""
        if self.certified is None:
            return ""
        text = "No threshold is certified."
        if self.certified:
            limit, splits = percent(self.joint["limit"]), self.joint["splits"]
            what = f"A certified threshold of {self.label} accepts"
            if splits > 1:
                what = f"Certified thresholds, most often of {self.label}, accept"
            text = f"{what} {percent(self.certified)} of new predictions at a risk of at most {limit}."
            if self.joint["limit"] <= RISK:
                return text
        needed, rows = self.strictest["needed"], self.strictest["calibration_rows"]
        if rows < needed:
            return f"{text} A risk of 1 % needs {needed} held-out rows without an error. A split has {rows}."
        return f"{text} The most confident predictions have too many errors to certify 1 %."

    @property
    def sentence(self) -> str:
        """The share as text: first the certified one, then the one that was chosen on the test rows."""
        chosen = "No threshold has an observed risk of at most 1 %."
        if self.observed > 0:
            chosen = (
                f"At a risk of at most 1 % {self.observed_label} accepts {percent(self.observed)} of the "
                "test rows. Method and threshold were chosen on these rows, so expect a higher risk."
            )
        return f"{self.certificate} {chosen}".strip()


def accepted_share(report: Report, comparisons: Comparisons, dataset: str) -> Accepted:
    """Return the share of a data set."""
    labels = {comparisons.key(line): comparisons.label(line) for line in comparisons.of_dataset(dataset)}

    def label(row: Mapping[str, Any]) -> str:
        return labels.get((row["dataset"], row["method"], row["params"], row["view"]), "")

    observed = dict.fromkeys(labels.values(), 0.0)
    for row in report.dicts("rejection-curves.csv", dataset=dataset):
        if row["risk"] <= RISK + 1e-9:
            observed[label(row)] = max(observed[label(row)], 1 - float(row["rejection_rate"]))
    best = max(observed, key=lambda of_view: observed[of_view], default="")
    accepted = Accepted(observed[best], best) if observed.get(best) else Accepted()
    rows = [] if report.run.has_groups(dataset) else report.dicts("certified-jointly.csv", dataset=dataset)
    if not rows:
        return accepted
    strictest = min(rows, key=lambda row: row["limit"])
    certified = [row for row in rows if 2 * row["certified"] >= row["splits"]]
    joint = min(certified, key=lambda row: row["limit"], default=strictest)
    return accepted._replace(joint=joint, label=label(joint), strictest=strictest)
