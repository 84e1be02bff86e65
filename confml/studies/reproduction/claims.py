"""`Claim`: a statement of a source's text, with a verdict and the number behind it."""

import enum
from dataclasses import dataclass
from pathlib import Path

import yaml

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
