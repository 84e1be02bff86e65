"""Linear and polynomial classifiers with one model per class."""
