"""scikit-learn classifiers as methods."""
