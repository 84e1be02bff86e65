"""`Finding`: one finding of an audit of a data set."""

from dataclasses import asdict, dataclass
from typing import Any

MOST = 20  # lines and columns that a finding lists
HAS = ("has", "have")


@dataclass(frozen=True)
class Finding:
    """One finding of an audit.

    code: a name that does not change. sentence: the fact. remedy: what to do about it.
    columns: the first features that it is about. lines: the first lines of the file (row numbers from 1 where
    the data set has no file); of a test part, lines of the test file.
    """

    code: str
    sentence: str
    remedy: str
    columns: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain values, for JSON."""
        given = asdict(self).items()
        return {key: list(value) if isinstance(value, tuple) else value for key, value in given}
