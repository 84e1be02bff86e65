"""Linear support vector machines for two and more classes."""
