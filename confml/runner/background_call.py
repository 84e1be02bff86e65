"""`BackgroundCall`: a call in a thread of the main process while it waits for its workers."""

import threading
from collections.abc import Callable

_SECONDS_TO_END = 10.0


class BackgroundCall:
    """One call of a function in a thread, after all workers have an item; errors are ignored.

    The function must not matter for the results: it imports modules that the main process needs later.
    workers: number of items that are handed out first; 0 if items run in this process, which leaves no time
    to use.
    """

    def __init__(self, function: Callable[[], None] | None, workers: int):
        self._function, self._left = function, workers
        self._thread: threading.Thread | None = None

    def handed_out(self, something: bool) -> None:
        """Note that a worker got an item, or that there is none left."""
        if self._function is None or self._thread is not None or self._left == 0:
            return
        self._left = self._left - 1 if something else 0
        if self._left == 0:
            self._thread = threading.Thread(target=self._call, name="meanwhile", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Wait until the function has returned, so that no thread imports a module while the process ends."""
        if self._thread is not None:
            self._thread.join(_SECONDS_TO_END)

    def _call(self) -> None:
        try:
            assert self._function is not None
            self._function()
        except Exception:  # the main process has the same error when it needs the module
            return
