# MAPIE's cross-conformal sets with its default agg_scores="mean", ten neighbours, 200 rows, level 0.1.
# A new row has the mean of ten models' probabilities, a calibration row that of the one that left it out.
import numpy as np
from mapie.classification import CrossConformalClassifier
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

coverage = {"mean": [], "crossval": []}
for seed in range(80):
    X, y = make_classification(1200, 10, n_informative=5, n_classes=5, flip_y=0.2, random_state=seed)
    model = CrossConformalClassifier(KNeighborsClassifier(10), confidence_level=0.9, cv=10)
    model.fit_conformalize(X[:200], y[:200])
    for aggregation, values in coverage.items():
        values.append(
            model.predict_set(X[200:], agg_scores=aggregation)[1][np.arange(1000), y[200:], 0].mean()
        )
for aggregation, values in coverage.items():
    print(f"{aggregation}: coverage {np.mean(values):.3f} +- {np.std(values) / 80**0.5:.3f}, promised 0.9")
