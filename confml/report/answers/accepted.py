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
    """Share of the predictions that are accepted at a risk of at most `RISK`.

    observed: largest coverage of the mean risk-coverage curves, with the label of its view. joint: the row of
    ``certified-jointly.csv`` for all classes together, with the label of the view chosen most often; empty
    for several runs, and for rows in groups, which have no guarantee.
    """

    observed: float = 0.0
    observed_label: str = ""
    joint: Mapping[str, Any] = {}
    label: str = ""

    @property
    def certified(self) -> float | None:
        """Mean coverage on new examples of the thresholds that are certified together; None without."""
        return float(self.joint["coverage"]) if self.joint else None

    @property
    def sentence(self) -> str:
        """The share as text: first the certified one, then the one that was chosen on the test rows."""
        chosen = "No accepted share has an observed risk of at most 1 %."
        if self.observed > 0:
            chosen = (
                f"{'Without a certificate, o' if self.joint else 'O'}n the test rows "
                f"{self.observed_label} has a risk of at most 1 % on {percent(self.observed)} of its "
                "predictions; method and threshold were chosen on these rows, so expect a higher risk."
            )
        if self.certified is None:
            return chosen
        views, splits, needed = (self.joint[name] for name in ("candidates", "splits", "needed"))
        if self.certified > 0:
            together = f" (certified together for all {views} views)" if views > 1 else ""
            risk = "of new predictions at a risk of at most 1 % with probability 95 %"
            share = percent(self.certified)
            if splits == 1:
                return f"A certified threshold of {self.label}{together} accepts {share} {risk}. {chosen}"
            has = "has" if self.joint["certified"] == 1 else "have"
            return (
                f"Certified thresholds{together} accept {share} {risk}, on average over all splits: "
                f"{self.joint['certified']} of {splits} splits {has} one, {self.joint['chosen']} of these of "
                f"{self.label}. {chosen}"
            )
        if (rows := self.joint["calibration_rows"]) < needed:
            why = (
                f"a certificate needs {needed} accepted rows without an error, and the calibration half of a "
                f"test part has {rows}"
            )
        else:
            why = (
                "the rows that the strictest thresholds accept have too many errors (a certificate needs "
                f"{needed} rows without an error, and a calibration half has {rows} rows)"
            )
        return f"No threshold is certified for a risk of at most 1 %: {why}. {chosen}"


def accepted_share(reports: Mapping[str, Report], comparisons: Comparisons, dataset: str) -> Accepted:
    """Return the share of a data set. reports: by the name of the run."""
    lines = comparisons.of_dataset(dataset)
    labels = {(comparisons.run_of[line], *comparisons.key(line)): comparisons.label(line) for line in lines}

    def label(run: str, row: Mapping[str, Any]) -> str:
        return labels.get((run, row["dataset"], row["method"], row["params"], row["view"]), "")

    observed = dict.fromkeys(labels.values(), 0.0)
    for run, report in reports.items():
        for row in report.dicts("rejection-curves.csv", dataset=dataset):
            if row["risk"] <= RISK + 1e-9:
                of_view = label(run, row)
                observed[of_view] = max(observed[of_view], 1 - float(row["rejection_rate"]))
    best = max(observed, key=lambda of_view: observed[of_view], default="")
    accepted = Accepted(observed[best], best) if observed.get(best) else Accepted()
    if len(reports) > 1:  # the best of several runs has no guarantee
        return accepted
    ((run, report),) = reports.items()
    rows = [] if report.run.has_groups(dataset) else report.dicts("certified-jointly.csv", dataset=dataset)
    for row in rows:
        if abs(row["limit"] - RISK) < 1e-12:
            accepted = accepted._replace(joint=row, label=label(run, row))
    return accepted
