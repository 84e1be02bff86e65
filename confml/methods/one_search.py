"""`evaluate_with_one_search`: all points of a grid by one search for the nearest neighbours."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from confml.measures.prediction import Prediction
from confml.methods.base import Method, Views


def evaluate_with_one_search(
    grid: Sequence[Mapping[str, Any]],
    points: Sequence[Method],
    fit: Callable[[], object],
    search: Callable[[], Any],
    predict: Callable[[Any, Any], Mapping[str, Prediction]],
) -> Iterator[tuple[dict[str, Any], Views]]:
    """Iterate over (parameters, `Views`) of a grid; each point is charged an equal part of the time.

    points: the method with the parameters of each point of the grid. fit, search: called once, for all
    points. predict: called with the result of ``search`` and each point.
    """
    started = time.thread_time()
    fit()
    fitted = time.thread_time()
    found = search()
    searched = time.thread_time()
    fit_seconds, search_seconds = (fitted - started) / len(grid), (searched - fitted) / len(grid)
    for given, point in zip(grid, points, strict=True):
        before = time.thread_time()
        views = predict(found, point)
        predict_seconds = search_seconds + time.thread_time() - before
        yield dict(given), Views(views, fit_seconds, predict_seconds, point.fit_metrics_)
