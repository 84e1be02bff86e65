"""Fit details: typed in Python, plain data in the store, and the same after both ways."""

import json

import numpy as np

from confml.measures import Prediction
from confml.methods.base import Views
from confml.methods.details import FitDetails
from confml.runner.results import views_from_arrays, views_to_arrays

LEAVES = {"classes": ["b", "c"], "cut": 0.5, "left": {"class": "b"}, "right": {"class": "c"}}
TREE = {"classes": ["a", "b", "c"], "cut": 0.25, "left": {"class": "a"}, "right": LEAVES}
CHAINS = {"traces": {"k": [[1.0, 2.0], [1.0, 3.0]]}, "every": {"k": 4}, "rhat": {"k": 1.5}, "ess": {"k": 7.0}}
CHAINS |= {"worst_rhat": 1.6, "least_ess": 5.0, "warnings": ["the chains have not converged"]}
STORED = {
    "tree": TREE,
    "chains": CHAINS,
    "calibration_rows": [["a", 3], ["b", 4]],
    "tuning": {"chosen": {"k": 3}, "select_by": "accuracy", "scores": [], "seconds": 0.5},
    "of_a_plug_in": [1, 2],
}


def test_details_pass_through_the_store():
    view = Prediction(np.array(["a", "b"]), np.array([[0.2, 0.8]]), "vote")
    details = FitDetails.from_dict(STORED)
    assert json.dumps(details.to_dict()) == json.dumps(STORED)
    assert FitDetails.from_dict({}) == FitDetails() and FitDetails().to_dict() == {}
    about, arrays = views_to_arrays(Views({"vote": view}, fit_details=details))
    again = views_from_arrays(json.loads(json.dumps(about)), arrays)
    assert again.fit_details == details
