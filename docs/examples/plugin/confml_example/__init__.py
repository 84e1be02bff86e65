"""A method, a step and a table of the report, registered by the entry points of `pyproject.toml`."""
