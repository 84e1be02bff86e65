"""`Finding`: one finding of an audit of a data set."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from confml.data.text_table import quoted

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


def of_columns(code: str, names: Sequence[str], verbs: tuple[str, str], rest: str, remedy: str) -> Finding:
    """Return a finding on columns. verbs: for one column and for several."""
    subject = (
        f"column {quoted(names)} {verbs[0]}" if len(names) == 1 else f"columns {quoted(names)} {verbs[1]}"
    )
    return Finding(code, f"{subject} {rest}", remedy, columns=tuple(names[:MOST]))
