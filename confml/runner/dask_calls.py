"""Functions that a dask cluster calls: the nannies that start workers, and its workers.

Imports nothing heavy. The scheduler reads the function and the arguments of each task, and would import all
modules that they name: items are bytes to it.
"""

import gc
import pickle
import threading
from typing import Any

_one_item = threading.Lock()


def call_alone(message: bytes) -> Any:
    """Call a function in a dask worker, with its threads, while no other thread of its process does.

    message: the pickled function and its item.
    """
    from distributed import get_worker

    from confml._threads import threads

    function, item = pickle.loads(message)
    with _one_item, threads(get_worker().state.nthreads):
        return function(item)


def dask_setup(nanny: Any) -> None:
    """Import what tasks need, before a nanny forks workers: ``--preload-nanny confml.runner.dask_calls``."""
    gc.disable()
    import confml.runner.first_kernel
    import confml.runner.tasks  # noqa: F401

    gc.freeze()  # workers do not write to the pages that they share, nor collect what is imported as they end
    gc.enable()
