# puncc RAPS: the coverage depends on how many rows are predicted in one call (10 classes, level 0.1).
import numpy as np
from deel.puncc.api.prediction import BasePredictor
from deel.puncc.classification import RAPS

Given = type("Given", (BasePredictor,), {"predict": lambda self, X, **options: X})
rng = np.random.default_rng(0)
for rows in (2, 5, 20, 200):
    hits = []
    for _ in range(3000 // rows):
        P = rng.dirichlet(np.full(10, 0.5), size=200 + rows)
        y = (P.cumsum(1) > rng.random((len(P), 1))).argmax(1)
        model = RAPS(Given(object(), is_trained=True), train=False, k_reg=2, lambd=1)
        model.fit(X_fit=P[:1], y_fit=y[:1], X_calib=P[:200], y_calib=y[:200])
        hits += [
            label in chosen
            for label, chosen in zip(y[200:], model.predict(P[200:], alpha=0.1)[1], strict=True)
        ]
    print(f"{rows} rows a call: coverage {np.mean(hits):.3f}, promised 0.9")
