"""A method, a step and a section of the report, registered by the entry points of `pyproject.toml`."""
