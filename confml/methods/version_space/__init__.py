"""Kernel classifiers based on the volume of version space, and a kernel support vector machine."""
