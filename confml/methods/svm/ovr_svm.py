"""`ovr-svm`: one-vs-rest linear support vector machines."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from confml.measures.prediction import Prediction
from confml.methods.multiclass import decision_scores, one_vs_rest
from confml.methods.svm.linear_machines import LinearMachines


class OvRSVM(LinearMachines):
    """One-vs-rest linear support vector machines: one machine per class, the largest decision value wins.

    Each machine minimises ``1/2 |w|^2 + C sum max(0, 1 - t f(x))^2``, with a bias that is the weight of a
    constant feature. Features are not scaled: use ``min-max`` before this method if their units differ.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of training errors.
    solver : {"primal", "dual", "newton"}, default="primal"
        Primal: LIBLINEAR's -s 2; dual: its -s 1, which switches to -s 2 after 300 passes; newton: confml's
        own, the fastest for up to a few hundred features.
    tolerance : float, default=0.001
        Stopping tolerance: LIBLINEAR's -e, which bounds the gradient and not the objective; with newton, the
        relative excess of the objective over its minimum is at most a thousandth of it.
    class_weight : object, default=None
        Factor of C for each class: 1 by default, or the given numbers (the mean over the rows if a side of a
        problem has several classes); balanced: both sides of each problem have the same total weight; bayes-
        error: larger for classes with a large one-vs-rest Bayes error, estimated on the training part.
    random_state : int or None, default=None
        Random seed of the solver's order of examples; null: from the seed of the run.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes of the training examples, sorted.

    Notes
    -----
    View ``margin``: the decision values; with two classes there is one machine, and the columns are -f/2 and
    f/2. Ties go to the first class in sorted order. metrics: ``machines``, ``machine_rows`` (training
    examples of all machines together).

    ``solver: primal`` is LIBLINEAR's ``-s 2``, deterministic, with warm starts along a path of C. ``dual`` is
    its ``-s 1``. ``newton`` is closer to the minimum and the fastest solver for few features.

    References
    ----------
    Vapnik, Statistical Learning Theory (1998); Fan et al., LIBLINEAR, JMLR 9 (2008).

    Examples
    --------
    >>> from confml import OvRSVM
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"]
    >>> model = OvRSVM().fit(X, y)
    >>> model.predict([[0.5]])
    array(['a'], dtype='<U1')
    """

    name: ClassVar[str] = "ovr-svm"
    version: ClassVar[int] = 2
    depends_on_processor: ClassVar[bool] = True
    views: ClassVar[tuple[str, ...]] = ("margin",)
    stored = {}

    def _problems(self, X, codes, state):
        return one_vs_rest(codes, len(self.classes_)) if len(self.classes_) > 1 else []

    def _views(self, values: np.ndarray) -> dict[str, Prediction]:
        c = len(self.classes_)
        scores = decision_scores(values, c, "ovr") if c > 1 else np.zeros((len(values), 1))
        return {"margin": Prediction(self.classes_, scores, "margin")}
