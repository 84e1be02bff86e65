"""`OnlineTCMNN`: TCM-NN for examples that arrive one at a time."""

from typing import Self

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from confml.data.large_integers import warn_of_rounded_integers
from confml.data.text_table import listed
from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.known_labels import SEVERAL_KINDS, check_known_labels, kind_of
from confml.methods.tcm_nn.online_pass import OnlinePass
from confml.methods.tcm_nn.tcm_nn import TCMNN, prediction_of
from confml.plugins.parameters import check_parameters


class OnlineTCMNN:
    """TCM-NN that predicts an example from all before it, and then learns it.

    Its p-values equal those of ``TCMNN(...).fit(X_before, y_before).predict_p_values(X)`` bit for bit. One
    step costs n distances and c n comparisons for n learnt examples and c classes. It starts without
    examples. If the examples are exchangeable, the smoothed p-values of the true labels are independent and
    uniform (Vovk, Gammerman, Shafer 2005, theorem 8.1): errors at a significance level are independent, and
    `confml.measures.martingales` tests exchangeability.

    Parameters
    ----------
    classes : array of shape (c,)
        All possible labels. A label without examples so far also has a p-value, by the definition (its
        example would be the only one of its class: alpha is +inf).
    k : int, default=1
        Number of nearest neighbours per list, as in `TCMNN`.
    smoothed : bool, default=False
        Compute smoothed p-values, with one tau per example in the order of the predictions.
    mondrian : bool, default=False
        Compute label-conditional p-values.
    random_state : int, optional
        Seed of tau.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
        All possible labels, sorted.

    Examples
    --------
    >>> online = OnlineTCMNN(classes=[0, 1], k=1)
    >>> for x, label in [([0.0], 0), ([1.0], 0), ([8.0], 1), ([9.0], 1)]:
    ...     view = online.predict_then_learn([x], [label])
    >>> view.scores
    array([[0.5, 1. ]])
    """

    def __init__(self, classes, k=1, smoothed=False, mondrian=False, random_state=None):
        settings = {"k": k, "smoothed": smoothed, "mondrian": mondrian, "random_state": random_state}
        check_parameters(type(self).__name__, TCMNN.parameters, settings)
        if len(classes) == 0:
            raise ConfmlError("OnlineTCMNN: classes must name at least one label, got none")
        if kind_of(classes) == SEVERAL_KINDS:
            raise ConfmlError(
                f"OnlineTCMNN: classes are text, numbers or truth values, got {listed(map(repr, classes))}"
            )
        self.classes_ = np.unique(np.asarray(classes))
        self.k, self.smoothed, self.mondrian = k, smoothed, mondrian
        self._rng = np.random.default_rng(random_state)
        self._pass: OnlinePass | None = None

    @property
    def learnt(self) -> int:
        """Number of examples learnt."""
        return 0 if self._pass is None else self._pass.learnt

    def predict_then_learn(self, X, y) -> Prediction:
        """Predict each example, then learn it with its label.

        Parameters
        ----------
        X : array-like of shape (r, d)
            Examples, in their order.
        y : array-like of shape (r,)
            Their labels.

        Returns
        -------
        Prediction
            The view ``p-value``. ``extra`` is that of `TCMNN`, and ``learnt`` (r,), the number of examples
            learnt before each.

        Raises
        ------
        ConfmlError, ValueError
            If X is not a finite matrix with the attributes of the first examples, or a label is not a class.
        """
        return self._view(*self._checked(X, y))

    def predict(self, X) -> Prediction:
        """Predict examples with unknown labels; none is learnt.

        Parameters
        ----------
        X : array-like of shape (r, d)
            Examples.

        Returns
        -------
        Prediction
            As `predict_then_learn`.
        """
        return self._view(*self._checked(X, None))

    def learn(self, X, y) -> Self:
        """Learn examples in their order.

        Parameters
        ----------
        X : array-like of shape (r, d)
            Examples.
        y : array-like of shape (r,)
            Their labels.

        Returns
        -------
        OnlineTCMNN
            The object itself.
        """
        online, X, codes = self._checked(X, y)
        online.step(X, codes, predicts=False)
        return self

    def _view(self, online: OnlinePass, X: np.ndarray, codes: np.ndarray | None) -> Prediction:
        learnt = np.full(len(X), self.learnt) if codes is None else self.learnt + np.arange(len(X))
        counts, counted = online.step(X, codes, predicts=True)
        tau = self._rng.random(len(X)) if self.smoothed else None
        return prediction_of(self.classes_, counts, 0, counted, tau, self.mondrian, {"learnt": learnt})

    def _checked(self, X, y) -> tuple[OnlinePass, np.ndarray, np.ndarray | None]:
        """Return the pass, which the first examples begin, and checked examples with their class codes."""
        warn_of_rounded_integers(X)
        X = check_array(X, dtype=np.float64, order="C", input_name="X")
        if self._pass is None:
            self._pass = OnlinePass(X.shape[1], len(self.classes_), (self.k,), self.mondrian)
        elif X.shape[1] != self._pass.attributes:
            raise ConfmlError(f"X has {X.shape[1]} attributes, expected {self._pass.attributes} as before")
        if y is None:
            return self._pass, X, None
        y = column_or_1d(y)
        check_consistent_length(X, y)
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        if y.dtype.kind != self.classes_.dtype.kind:
            check_known_labels(self.classes_, y, "the classes are", "the labels of the examples are")
        unknown = y[self.classes_[codes] != y].tolist()
        if unknown:
            raise ConfmlError(
                f"label {unknown[0]!r} is not one of the classes {listed(map(repr, self.classes_.tolist()))}",
                hint="list all possible labels in classes",
            )
        return self._pass, X, codes
