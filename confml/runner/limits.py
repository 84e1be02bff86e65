"""`Limits`: the time and memory that one task may take."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confml.errors import ConfmlError

_SECONDS = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86400}
_BYTES = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


@dataclass(frozen=True)
class Limits:
    """The seconds of wall time and the bytes of memory that one task may take; None for no limit.

    memory: bytes on top of those that the worker process held when the task began.
    """

    timeout: float | None = None
    memory: int | None = None

    def __bool__(self) -> bool:
        return self.timeout is not None or self.memory is not None

    def over(self, fallback: "Limits") -> "Limits":
        """Return these limits, with those of ``fallback`` for limits that are None."""
        return Limits(
            fallback.timeout if self.timeout is None else self.timeout,
            fallback.memory if self.memory is None else self.memory,
        )

    @property
    def memory_message(self) -> str:
        """Message of a failure by the memory limit."""
        return (
            f"needs more memory than its limit of {(self.memory or 0) / 10**6:g} MB; raise the limit with "
            "--memory, or limits: memory in the config"
        )

    @property
    def timeout_message(self) -> str:
        """Message of a failure by the time limit."""
        return (
            f"took longer than its limit of {self.timeout or 0:g} s and was stopped; raise the limit with "
            "--timeout, or limits: timeout in the config"
        )


NO_LIMITS = Limits()


def parse_limits(timeout: str | float | None, memory: str | None) -> Limits:
    """Return the limits for ``90``, ``90s``, ``10min``, ``2h`` or ``1d``, and ``500MB``, ``4GB`` or ``1TB``.

    Raises ConfmlError, which names the options --timeout and --memory, for other values.
    """
    seconds, size = _amount(timeout, _SECONDS), _amount(memory, _BYTES)
    if seconds is not None and not 0 < seconds <= 10**9:
        raise ConfmlError(f"--timeout must be a time such as 90s, 10min or 2h, got {timeout!r}")
    if size is not None and not 0 < size < 2**62:
        raise ConfmlError(f"--memory must be an amount of memory such as 500MB or 4GB, got {memory!r}")
    return Limits(seconds, None if size is None else int(size))


def _amount(text: str | float | None, units: Mapping[str, int]) -> float | None:
    """Return a number with a unit in the smallest unit, 0 for another text, None for None."""
    if text is None:
        return None
    match = re.fullmatch(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(units)})\s*", str(text).lower())
    return float(match[1]) * units[match[2]] if match else 0.0


def limits_of(entry: Any) -> Limits:
    """Return the limits of a method entry of a config."""
    limits = entry.limits
    return NO_LIMITS if limits is None else parse_limits(limits.timeout, limits.memory)
