"""`Claim`: a statement of a source's text, with a verdict and the number behind it."""

from __future__ import annotations

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
    checked. shown: a file below ``results/reference``, a test, or a command that shows it.
    """

    section: str
    sentence: str
    verdict: Verdict
    ours: str
    shown: str


def read_claims(key: str) -> list[Claim]:
    """Return the claims of the source ``key`` in the order of its text."""
    path = FOLDER / f"{key}.yaml"
    claims = []
    for place, one in enumerate(yaml.safe_load(path.read_text(encoding="utf-8")), start=1):
        try:
            texts = {name: " ".join(str(one[name]).split()) for name in ("section", "claim", "ours", "shown")}
            verdict = Verdict(one["verdict"])
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path.name}: entry {place}: {error}") from None
        claims.append(Claim(texts["section"], texts["claim"], verdict, texts["ours"], texts["shown"]))
    return claims
