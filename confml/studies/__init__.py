"""Studies that are not runs of cells."""
