"""Steps: preprocessing that is fitted to training data and applied before every method."""

# The steps that scale features; importing them takes no time.
SCALINGS = ("min-max", "standardise", "row-standardise")

# Class of each step by its name in a config.
STEPS: dict[str, str] = {
    "consistent-subset": "confml.steps.reduction:ConsistentSubset",
    "impute-mean": "confml.steps.impute_mean:ImputeMean",
    "min-max": "confml.steps.scaling:MinMax",
    "row-standardise": "confml.steps.scaling:RowStandardise",
    "select-attributes": "confml.steps.select_attributes:SelectAttributes",
    "select-by-bayes-error": "confml.steps.select_by_bayes_error:SelectByBayesError",
    "select-examples": "confml.steps.reduction:SelectExamples",
    "smooth-images": "confml.steps.smooth_images:SmoothImages",
    "standardise": "confml.steps.scaling:Standardise",
    "tomek-links": "confml.steps.reduction:TomekLinks",
}
