"""`computed_once`: keeps the results of functions of standings."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Answer = TypeVar("Answer", bound=Callable[..., Any])


def computed_once(function: Answer) -> Answer:
    """Decorate a function of `Standings` and other arguments: it is computed once for each of them."""

    @functools.wraps(function)
    def found(standings: Any, *given: Any) -> Any:
        key = function.__qualname__, *given
        if key not in standings.kept:
            standings.kept[key] = function(standings, *given)
        return standings.kept[key]

    return cast(Answer, found)
