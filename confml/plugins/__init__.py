"""Plug-ins: classes that a config names, found by name, and the declarations of their parameters."""
