"""Steps: preprocessing that is fitted to training data and applied before every method."""

# The steps that scale features; importing them takes no time.
SCALINGS = ("min-max", "standardise", "row-standardise")
