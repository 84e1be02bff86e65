"""Guarantees of confml, and reasons why the bound of p-values is approximate. All outputs ask this module."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Promise(NamedTuple):
    """A guarantee. promise: what is bounded. whom: the rows it is for. condition: when it holds. exact: for
    how many rows. source: of the proof. simulated: entries of ``make validity``."""

    promise: str
    whom: str
    condition: str
    exact: str
    source: str
    simulated: tuple[str, ...]


GUARANTEE = """The guarantee of regions for new rows, which confml predict prints in two lines.

First line. At level 0.05, a region misses the true label with probability at most 0.05. It is an
average over training sets and new rows: it is not guaranteed for a single row. It is not guaranteed for a
single class either, unless p-values are label-conditional (--mondrian), nor for other groups of rows.

Second line. The bound needs new rows that are exchangeable with the training rows: their joint distribution
must not depend on the order of the rows. Labels must be of the training classes; a region cannot contain
another label. If some training rows are the only ones of their class, a line estimates how many new rows
are of other classes.

"Approximate" means that a step was fitted, or a parameter was selected, on the rows from which p-values are
computed. With --selection-part 0.3, steps and parameters use other rows. With --conformal split, p-values
use the calibration part. The bound then holds for any number of rows. The bound of --conformal oob is always
approximate: the trees that score a training row are not all trees of the ensemble.

A p-value that is computed from n rows is at least 1 / (n + 1), unless it is smoothed. A warning says so if
a level is smaller. Probabilities, votes and envelopes have regions without a guarantee of coverage.

The tests do not show that rows are exchangeable. They can show that rows are not: a warning names a test
with a small p-value. The test of atypical rows needs p-values, and the test of coverage also needs labels.
The test of values outside the training range needs neither. --drift tests each feature, and all features
together.

The key "guarantee" of --json, and the attribute guarantee in Python, have the same lines. The key "tests"
and the attribute tests have the tests."""
OUT_OF_BAG = "new rows are scored by all trees, and each training row by the trees that did not see it"
ANY_ROWS, EXCHANGEABLE = "for any number of rows", "exchangeable rows"
MISSES = "region misses the label with probability at most the level"
PROMISES: Mapping[str, Promise] = {
    "marginal-coverage": Promise(
        MISSES, "all new rows", f"{EXCHANGEABLE}; `tcm-nn` or `conformal: split`", ANY_ROWS,
        "Vovk, Gammerman, Shafer 2005", ("tcm-nn", "split"),
    ),
    "cross-coverage": Promise(
        "region misses the label with probability at most about twice the level", "all new rows",
        f"{EXCHANGEABLE}; `conformal: cross`", ANY_ROWS, "Vovk, Wang 2020", ("cross",),
    ),
    "out-of-bag-coverage": Promise(
        "region misses the label with probability about the level", "all new rows",
        f"{EXCHANGEABLE}; an ensemble of many bags; `conformal: oob`", "approximate: no bound is proved",
        "Johansson et al. 2014", ("oob", "oob-mondrian"),
    ),
    "class-coverage": Promise(
        MISSES, "rows of each class", f"{EXCHANGEABLE}; `mondrian`, `by: label`",
        ANY_ROWS, "Vovk et al. 2005", ("tcm-nn-mondrian", "split-mondrian"),
    ),
    "group-coverage": Promise(
        MISSES, "rows of each group of `by`", f"{EXCHANGEABLE}; groups of columns, predicted label and label",
        ANY_ROWS, "Vovk et al. 2005", ("groups-split", "groups-tcm-nn"),
    ),
    "coverage-of-several-divisions": Promise(
        MISSES, "rows of each group of each division of `by`", f"{EXCHANGEABLE}; largest p-value, all levels",
        f"{ANY_ROWS}; conservative", "the largest of p-values is one", ("groups-largest",),
    ),
    "coverage-after-choice": Promise(
        MISSES, "all new rows, after one of several methods is chosen for its small regions",
        f"{EXCHANGEABLE}; `best-of`, `split`", ANY_ROWS, "Liang, Zhu, Barber 2024", ("best-of",),
    ),
    "coverage-under-shift": Promise(
        MISSES, "all new rows, of another distribution", "known weights; `shift` estimates them",
        f"{ANY_ROWS} if the weights are known, else approximate",
        "Tibshirani et al. 2019; Podkopaev, Ramdas 2021", ("shift-known", "shift-estimated", "shift-bbse"),
    ),
    "certified-threshold": Promise(
        "error probability of an accepted row at most the risk", "rows above a certified threshold",
        "independent rows, with probability 95 % over held-out rows", ANY_ROWS, "Geifman, El-Yaniv 2017",
        ("certified", "predict-risk"),
    ),
    "venn-calibration": Promise(
        "one of the probabilities of a Venn predictor is calibrated", "all new rows, on average",
        f"{EXCHANGEABLE}; `venn: inductive`", ANY_ROWS, "Vovk, Petej 2014", ("venn-abers",),
    ),
}  # fmt: skip
"""Every guarantee by name: who is promised what, under which condition, proved where, simulated how."""


class RegionPromise(NamedTuple):
    """Whether the bound of p-values holds.

    broken: the reason why it does not hold, None if it holds. approximate: the reasons why it does not hold
    for every number of rows.
    """

    broken: str | None
    approximate: list[str]


def region_promise(
    conformal: str | None,
    breaking: Sequence[str],
    fitted: Sequence[str],
    selected: Sequence[str],
    noise: bool,
) -> RegionPromise:
    """Return whether the bound of p-values holds, for runs and for predictions of new rows.

    The bound needs p-values that treat the new example and the examples that they are computed from alike.
    Steps that are fitted to these examples, and parameters that are selected with their labels, do not: with
    39 examples of random labels and k of TCM-NN selected from 1 to 12, regions at level 0.1 miss 10.6 % of
    the labels.

    conformal: kind of a conformal method; split and cross fit their steps and select their parameters
    without the examples that p-values are computed from. breaking, fitted: names of steps that
    break exchangeability, and that are fitted to rows. selected: names of parameters that are selected with
    labels. noise: whether noise is added to the training rows only.
    """
    if conformal in ("split", "cross"):
        breaking = fitted = selected = []
    broken = None
    if noise:
        broken = "the config adds noise to the training rows"
    elif breaking:
        verb = "lowers" if len(breaking) == 1 else "lower"
        broken = f"{joined(breaking)} {verb} the nonconformity scores of training rows"
    reasons = [OUT_OF_BAG] if conformal == "oob" else []
    if selected:
        reasons.append(f"{joined(selected)} {_is(selected)} selected with the labels of the training rows")
    if fitted:
        reasons.append(f"{joined(fitted)} {_is(fitted)} fitted to the training rows but not to the new rows")
    return RegionPromise(broken, reasons)


def joined(names: Sequence[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
