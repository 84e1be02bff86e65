# puncc APS with a classifier that is always certain, and right for 80 % of the rows (5 classes, level 0.1).
import numpy as np
from deel.puncc.api.prediction import BasePredictor
from deel.puncc.classification import APS

Given = type("Given", (BasePredictor,), {"predict": lambda self, X, **options: X})
rng, hits = np.random.default_rng(0), []
for _ in range(50):
    y = rng.integers(5, size=1200)
    P = np.eye(5)[np.where(rng.random(1200) < 0.8, y, (y + 1) % 5)]
    model = APS(Given(object(), is_trained=True), train=False)
    model.fit(X_fit=P[:1], y_fit=y[:1], X_calib=P[:200], y_calib=y[:200])
    hits += [
        label in chosen for label, chosen in zip(y[200:], model.predict(P[200:], alpha=0.1)[1], strict=True)
    ]
print(f"coverage {np.mean(hits):.3f}, promised 0.9")
