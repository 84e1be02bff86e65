"""confml: run and compare classifiers that say how far each single prediction can be trusted."""

__version__ = "0.1.0"
