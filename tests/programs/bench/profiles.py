"""Profiles of slow paths as text: ``python tests/programs/bench/profiles.py`` writes ``profiles.txt``.

CPU time of the main thread by function, kernels included, without worker processes.
"""

import cProfile
import io
import os
import pstats
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

LINES = 14


def split_conformal() -> Callable[[], object]:
    from sklearn.naive_bayes import GaussianNB

    from confml import Conformal

    rng = np.random.default_rng(0)
    y = rng.integers(10, size=600_000)
    X = rng.normal(size=(600_000, 9)) + y[:, None] * np.linspace(0.1, 0.5, 9)
    X, y, T = X[:300_000], y[:300_000], X[300_000:]
    return lambda: Conformal(GaussianNB(), random_state=1).fit(X, y).predict_p_values(T)


def tcm_nn_prediction() -> Callable[[], object]:
    from bench_tcm_nn import real

    from confml import TCMNN

    X, y, T = real("usps")
    method = TCMNN().fit(X, y)
    return lambda: method.confident_predict(T)


def tcm_nn_online() -> Callable[[], object]:
    from confml.methods.tcm_nn.online_pass import OnlinePass

    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 10_000)
    X = rng.normal(size=(10_000, 16)) + rng.normal(size=(10, 16))[y]
    return lambda: OnlinePass(16, 10, (1,)).step(X, y, predicts=True)


def predict_csv() -> Callable[[], object]:
    import confml

    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 100_000)
    frame = pd.DataFrame(np.round(rng.normal(size=(100_000, 6)) + 0.8 * y[:, None], 6)).add_prefix("x")
    folder = Path(tempfile.mkdtemp())
    frame.to_csv(folder / "new.csv", index=False)
    train = frame[:2000].assign(y=y[:2000])
    return lambda: confml.predict(train, folder / "new.csv", label="y", method="naive-bayes")


def quick_start() -> Callable[[], object]:
    import confml

    return lambda: confml.run("quickstart", out=tempfile.mkdtemp(), jobs=1)


PATHS = (split_conformal, tcm_nn_prediction, tcm_nn_online, predict_csv, quick_start)


def profile(function: Callable[[], object]) -> str:
    """Return the functions with the largest own times, in the second call."""
    function()
    found, text = cProfile.Profile(time.thread_time), io.StringIO()
    found.runcall(function)
    pstats.Stats(found, stream=text).sort_stats("tottime").print_stats(LINES)
    lines = [line.rstrip() for line in text.getvalue().splitlines() if line.strip()]
    return "\n".join(
        re.sub(r"\S*/(site-packages/|(?=confml/)|lib/python[\d.]*/)", "", line) for line in lines
    )


def main() -> None:
    """Profile the paths that are named, by default all; the profiles of the others are kept."""
    path = Path(__file__).with_name("profiles.txt")
    kept = {text.partition("\n")[0]: text.strip() for text in path.read_text(encoding="utf-8").split("\n\n")}
    for function in PATHS:
        name = function.__name__
        if not sys.argv[1:] or name in sys.argv[1:]:
            kept[name] = f"{name}\n{profile(function())}"
            texts = [kept[one.__name__] for one in PATHS if one.__name__ in kept]
            path.write_text("\n\n".join(texts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
