"""`Finding`: one finding of an audit of a data set."""

from dataclasses import dataclass

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
