"""`Claim`: a statement of a source's text, with a verdict and the number behind it."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from confml.report.files import read_csv
from confml.studies.reproduction.numbers import Stored, is_as_printed, is_chance

FOLDER = Path(__file__).parent / "claims"


class Verdict(enum.StrEnum):
    """Whether a statement holds in the runs of confml, or that a question has an answer."""

    HOLDS = "holds"
    PART = "holds in part"
    FAILS = "does not hold"
    UNCHECKED = "cannot be checked"
    ANSWERED = "answered"


@dataclass(frozen=True)
class Claim:
    """A statement or a question of a source.

    section: where it stands. sentence: the statement in short. ours: numbers of confml, or why it cannot be
    checked. shown: files below ``results/reference``, tests, configs, or commands that show it. is_counted:
    false for arithmetic, such as a root or a sum.
    """

    section: str
    sentence: str
    verdict: Verdict
    ours: str
    shown: tuple[str, ...]
    is_counted: bool = True


def read_claims(key: str) -> list[Claim]:
    """Return the claims of a source in the order of its text. Raises ValueError for a wrong entry."""
    path = FOLDER / f"{key}.yaml"
    claims = []
    for place, one in enumerate(yaml.safe_load(path.read_text(encoding="utf-8")), start=1):
        try:
            section, claim, ours = (" ".join(str(one[name]).split()) for name in ("section", "claim", "ours"))
            shown = one["shown"] if isinstance(one["shown"], list) else [one["shown"]]
            verdict = Verdict(one["verdict"])
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path.name}: entry {place}: {error}") from None
        claims.append(Claim(section, claim, verdict, ours, tuple(shown), not one.get("arithmetic", False)))
    return claims


@dataclass(frozen=True)
class Explanation:
    """A setting that gives a printed number, or comes near to it.

    number: name of the printed number. stored: mean, standard deviation and number of splits of confml, with
    the file that has them.
    """

    number: str
    setting: str
    stored: Stored

    def match(self, paper: str, paper_splits: int) -> str:
        """Return how the number of confml compares with the printed one."""
        if is_as_printed(self.stored.mean, paper):
            return "as printed"
        return "within chance" if is_chance(self.stored, paper, paper_splits) else "differs"


def explanations(folder: Path) -> list[Explanation]:
    """Return the explanations with their numbers stored in ``folder``; ValueError without a single row."""
    path = Path(__file__).parent / "explanations.yaml"
    return [_explanation(entry, folder) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]


def _explanation(entry: Mapping, folder: Path) -> Explanation:
    rows = [row for row in read_csv(folder / entry["stored"]) if entry["row"].items() <= row.items()]
    if len(rows) != 1:
        raise ValueError(f"{entry['stored']}: {len(rows)} rows have {entry['row']}")
    factor = float(entry.get("factor", 100))
    mean, sd = (float(rows[0][name]) * factor if rows[0][name] else None for name in ("mean", "sd"))
    assert mean is not None
    stored = Stored(round(mean, 10), sd, int(rows[0]["n"]), entry["stored"])
    return Explanation(entry["number"], entry["setting"], stored)
