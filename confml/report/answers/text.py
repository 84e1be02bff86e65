"""Numbers, lists of names and verdicts as text, in the same words everywhere."""

import math
from collections.abc import Iterable, Sequence

from confml.data.text_table import counted

STAR = "shown to be worse than the lowest"
RULE = "5 %, Holm's correction over all pairs"


def percent(value: float) -> str:
    """Return a share in per cent, without decimals."""
    return f"{100 * value:.0f} %"


def points(value: float) -> str:
    """Return a share or a difference of shares in per cent, without the sign."""
    digits = 1 if abs(value) >= 0.001 or value == 0 else 2
    return f"{100 * value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return names joined by commas and "and"; some of them if there are many."""
    names = list(names)
    if len(names) > most:
        return ", ".join(names[: most - 1]) + f" and {len(names) - most + 1} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def capitalised(text: str) -> str:
    """Return a text with a capital first letter; the others stay."""
    return text[:1].upper() + text[1:]


def best_on(pairs: Iterable[tuple[str, str]], nouns: tuple[str, str] = ("method", "data sets")) -> str:
    """Return which methods are the best on which data sets, from pairs of both, most wins first."""
    wins: dict[str, list[str]] = {}
    for method, name in pairs:
        wins.setdefault(method, []).append(name)
    order = sorted(wins, key=lambda method: -len(wins[method]))
    texts = [f"{method} on {listed(wins[method])}" for method in order[:4]]
    if len(order) > 4:
        texts.append(f"{counted(len(order) - 4, f'other {nouns[0]}')} on the other {nouns[1]}")
    return "; ".join(texts)


def some(texts: Sequence[str], noun: str, most: int = 5) -> list[str]:
    """Return at most so many sentences, and the number of the others with their noun in the plural."""
    rest = len(texts) - most
    return list(texts) if rest <= 1 else [*texts[:most], f"{rest} more {noun}"]


TERMS = {
    "shown to be worse": "The error is above the lowest one of the data set. The t test of the test rows "
    "has p < 0.05 after Holm's correction over all pairs of methods and views. Marked by a star.",
    "no significant difference": "The test does not show a difference from the lowest error. The methods "
    "may differ by less than the detectable difference.",
    "detectable difference": "Difference of errors that the run finds with a power of at least 80 %, at the "
    "significance of one of all pairs.",
    "too low": "The coverage is below 1 - level with p <= 0.01, after Holm's correction over the data "
    "sets of the method. Promised coverages are tested with the beta-binomial distribution, others "
    "with the test rows.",
    "mondrian": "p-values that count only examples of the label, so the guarantee holds for each class.",
    "certified": "Share of new predictions that are accepted at a threshold whose risk is bounded. The bound "
    "holds with probability 95 % for all methods of a data set and all limits (1 to 20 %) together.",
    "chosen": "Largest share of the test predictions with an observed risk of at most 1 %. Method and "
    "threshold are chosen on the same rows, so the risk of new rows is higher.",
}
"""Words of the answers of a report, by name."""
SAME = "the methods are wrong on the same rows, so there is no test"


def plain_number(value: float) -> str:
    """Return a number with three significant digits."""
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def p_text(value: float) -> str:
    """Return a p-value with three decimals; "" without one."""
    return "" if math.isnan(value) else f"{value:.3f}" if value >= 5e-4 else "<0.001"


def detectable_text(values: Sequence[float], best: float = math.nan, unit: str = "points") -> str:
    """Return the difference that a run would have detected, as text.

    values: of the data sets; inf where no possible difference could be detected. best: mean of the best
    method. unit: "points" of a share, or another one.
    """
    possible = sorted(value for value in values if math.isfinite(value))
    if not possible:
        reason = ": too few test rows" * (math.inf in values)
        return f"no difference could have been detected with 80 % power{reason}"
    shares, most = unit == "points", possible[-1]
    text = f"a difference of {points(most) if shares else plain_number(most)} {unit}".rstrip()
    where = ""
    if len(values) > 1:
        enough = len(possible) == len(values)
        where = " on every data set" if enough else " on the data sets with enough test rows"
    rest = ", more than the best error itself" if shares and most > best else ""
    return f"{text} or more would probably have been detected{where} (80 % power){rest}"


def caution(splits: int, few: int) -> str:
    """Return a caution against few splits; "" with enough of them."""
    if splits == 1:
        return (
            "one split: the tests are about these fitted models; other training rows may give other results"
        )
    if splits < few:
        return f"{splits} splits: fewer than {few} estimate the variation between splits poorly"
    return ""
