"""A function for the tests of engines, and processes that they look for."""

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np


def work(item):
    """Return the square of a number, or misbehave as the kind of the item says."""
    kind, value = item
    match kind:
        case "random":
            time.sleep(0.5)  # so that every worker takes one
            return os.getpid(), random.random(), np.random.random()
        case "slow":
            time.sleep(0.05)
        case "hang":
            append(value, "once\n")
            time.sleep(600)
        case "alone":
            append(value, "(")
            time.sleep(0.05)
            append(value, ")")
        case "allocate":
            return np.ones(value * 10**6, dtype=np.uint8).nbytes
        case "environment":
            print("printed")
            return dict(os.environ)
        case "unwritable":
            return threading.Lock()
        case "exit":
            sys.exit(value)
        case "raise":
            raise RuntimeError(f"no {value}")
        case "leave-child":  # a copy of this process holds its connection open
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            os._exit(1)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "die-once" | "kill-parent-once" if not os.path.exists(value):
            append(value, "")
            os.kill(os.getpid() if kind == "die-once" else os.getppid(), signal.SIGKILL)
            time.sleep(30)
    return value if isinstance(value, str) else value * value


def append(path, text):
    with open(path, "a") as file:
        file.write(text)


def results_of(engine, items, limits=None, after: Callable[[int], object] = lambda number: None) -> dict:
    """Run items on an engine; return the result of each. ``after`` gets the number of results so far."""
    feed, results = iter(items), {}
    keywords = {} if limits is None else {"limits": lambda item: limits}
    for item, result in engine.run(lambda: next(feed, None), work, **keywords):
        results[item] = result
        after(len(results))
    return results


def all_ended(processes: list[int], seconds: float = 20) -> bool:
    """Wait until processes have ended; return whether they have."""
    limit = time.monotonic() + seconds
    while any(map(is_alive, processes)) and time.monotonic() < limit:
        time.sleep(0.1)
    return not any(map(is_alive, processes))


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
