# MAPIE APS with a classifier that is always certain, and right for 80 % of the rows (5 classes, level 0.1).
# All labels have the cumulated probability 1, as the quantile has, and the set ends at the first of them.
import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.naive_bayes import GaussianNB

rng, coverage = np.random.default_rng(0), []
model = GaussianNB(var_smoothing=1e-12).fit(np.arange(5.0)[:, None].repeat(2, 0), np.arange(5).repeat(2))
for _ in range(50):
    y = rng.integers(5, size=1200)
    X = np.where(rng.random(1200) < 0.8, y, (y + 1) % 5)[:, None].astype(float)
    sets = SplitConformalClassifier(model, confidence_level=0.9, conformity_score="aps").conformalize(
        X[:200], y[:200]
    )
    coverage.append(sets.predict_set(X[200:])[1][np.arange(1000), y[200:], 0].mean())
print(f"coverage {np.mean(coverage):.3f}, promised 0.9")
