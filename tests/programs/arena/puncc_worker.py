"""Answer requests for sets of puncc, in an environment of its own with numpy below 2.

A request is pickled: class of puncc, calibration probabilities (k, c) and labels (k,), test probabilities
(n, c), levels. So is the answer: sets {level: nested lists}, the last error, and CPU seconds.
"""

import pickle
import sys
import time

import numpy as np
from deel.puncc import classification
from deel.puncc.api.prediction import BasePredictor


class Given(BasePredictor):
    """Probabilities that were computed before, as the logits of a model."""

    def predict(self, X, **options):
        """Return the probabilities X (n, c) themselves."""
        return X


SETTINGS = {"RAPS": {"k_reg": 2, "lambd": 1}}  # of the example in its documentation
requests, answers = sys.stdin.buffer, sys.stdout.buffer
sys.stdout = sys.stderr
while True:
    try:
        name, calibration, truth, probabilities, levels = pickle.load(requests)
    except EOFError:
        break
    sets, refusal, started = {}, None, time.process_time()
    for level in levels:
        try:
            np.random.seed(0)
            model = getattr(classification, name)(
                Given(object(), is_trained=True), train=False, **SETTINGS.get(name, {})
            )
            model.fit(X_fit=calibration[:1], y_fit=truth[:1], X_calib=calibration, y_calib=truth)
            _, labels = model.predict(probabilities, alpha=level)
            inside = np.zeros(probabilities.shape, bool)
            for row, chosen in enumerate(labels):
                inside[row, [int(label) for label in chosen]] = True
            sets[level] = inside.tolist()
        except Exception as error:  # every refusal is an answer
            refusal = f"{type(error).__name__}: {error}"
    pickle.dump((sets, refusal, time.process_time() - started), answers)
    answers.flush()
