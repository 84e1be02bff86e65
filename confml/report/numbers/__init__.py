"""Numbers of a run that several parts of its report use."""
