"""A method that misbehaves on request; tests install it as a package that a run can find."""

import ctypes
import errno
import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.methods.details import FitDetails
from confml.plugins.parameters import Parameter


class AnyText(Parameter):
    def expected(self):
        return "text"

    def accepts(self, value):
        return isinstance(value, str)


class NoText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


ERRORS = {
    "exit": SystemExit(3),
    "generator-exit": GeneratorExit(),
    "keyboard-interrupt": KeyboardInterrupt(),
    "leave": type("Leave", (BaseException,), {})("at once"),
    "surrogate": ValueError("label \udce9 is odd"),
    "escape": ValueError("\x1b[31mred\x1b]0;title\x07"),
    "long": ValueError("x" * 5 * 10**6),
    "lines": ValueError("\x1b[31m\x85\n" * 10**6),
    "no-text": NoText(),
    "formula": type("=HYPERLINK", (Exception,), {})("click"),
    "disk-full": OSError(errno.ENOSPC, "No space left on device", "/somewhere/full"),
}


class Hostile(Method):
    """Misbehaves as its parameter says."""

    name = "hostile"
    views = ("probability",)
    parameters = {"kind": AnyText("how it misbehaves")}

    def __init__(self, kind="none"):
        self.kind = kind

    def fit(self, X, y):
        self.check_fit_data(X, y)
        if self.kind in ERRORS:
            raise ERRORS[self.kind]
        getattr(self, f"do_{self.kind.replace('-', '_')}", lambda: None)()
        return self

    def do_abort(self):
        os.abort()

    def do_print(self):
        print("by Python")
        ctypes.CDLL(None).puts(b"by C")

    def do_hang(self):
        time.sleep(1000)

    def do_hang_in_c(self):
        ctypes.PyDLL(None).sleep(1000)  # holds the interpreter's lock

    def do_memory(self):
        self.rows_ = [np.ones(10**7) for _ in range(1000)]

    def do_thread(self):
        threading.Thread(target=time.sleep, args=(600,)).start()

    def do_wait(self):
        time.sleep(float(os.environ.get("HOSTILE_WAIT", "1")))

    @property
    def fit_details_(self):
        return FitDetails(other={"bad": {1, 2}} if self.kind == "details" else {})

    def confident_predict(self, X, rng=None):
        X = self.check_predict_data(X)
        n, c = len(X), len(self.classes_)
        scores = np.full((n, c), 1.0 / c)
        extra = {}
        if self.kind == "nan":
            scores[3] = np.nan
        if self.kind == "complex":
            scores = scores + 0.5j
        if self.kind == "masked":
            scores = np.ma.masked_less(scores, 2.0)
        if self.kind == "objects":
            extra = {"thing": np.array([object()] * n)}
        return {"probability": Prediction(self.classes_, scores, "probability", None, extra)}


def install(folder: Path) -> dict[str, str]:
    """Install the package in ``folder`` and return the environment variables of a process that finds it."""
    shutil.copy(__file__, folder)
    about = folder / "hostile_method-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile-method\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[confml.methods]\nhostile = hostile_method:Hostile\n")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}
