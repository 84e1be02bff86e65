"""`tcm-svm`: transductive confidence machine with support vector machines."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.svm import SVC

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import PValueMethod
from confml.methods.conformal.scores import margin_scores
from confml.methods.multiclass import two_class_scores
from confml.methods.tcm_nn.neighbour_counter import Counts
from confml.methods.tcm_nn.tcm_nn import prediction_of
from confml.plugins.parameters import SEED, Choice, Flag, Number

_PAIRS = 2e10  # largest number of pairs of examples over all machines: about 15 minutes
_SECONDS = 5e-8  # per pair, measured on 200 to 1000 examples
_DIGITS = 4  # decimals of a decision value that are exact within the solver's tolerance


@dataclass(eq=False, repr=False)
class TCMSVM(PValueMethod):
    """Transductive conformal p-values from the margins of support vector machines (TCM-SVM).

    A test example is added to the m training examples with each label j in turn, and one-vs-rest machines are
    trained on the m + 1 examples. The nonconformity score (strangeness) alpha of an example is the largest
    decision value of another class minus that of its own class. The p-value is
    ``p_j = #{alpha_i >= alpha_new} / (m + 1)``, with the new example included. Decision values are rounded to
    four decimals, the accuracy of the solver, so that support vectors on the margin have equal scores.

    Notes
    -----
    This needs two machines per test example and class (two per test example with two classes), so it is for
    small data sets. It raises an error if it would take more than about 15 minutes; use split conformal
    prediction instead: ``{name: kernel-svm, conformal: split}``.

    The view is ``p-value`` with ``extra``: ``n_greater`` and ``n_equal`` (n, c), ``alpha`` (n, c), and
    ``tau`` (n,) if smoothed, as in ``tcm-nn``. The prediction is the label with the largest p-value, of equal
    ones the one with the smallest alpha. With label-conditional p-values (``mondrian``) it is the label with
    the smallest alpha.

    References
    ----------
    Saunders, Gammerman, Vovk, Transduction with confidence and credibility, IJCAI 1999 (with the
    machines' multipliers); named in the conclusion of Proedrou et al., ECML 2002.

    Examples
    --------
    >>> from confml import TCMSVM
    >>> X, y = [[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"]
    >>> model = TCMSVM().fit(X, y)
    >>> model.predict_p_values([[0.5]])
    array([[1. , 0.2]])
    """

    name = "tcm-svm"
    version = 2
    parameters = {
        "C": Number("penalty of training errors", low=0, low_open=True),
        "kernel": Choice(
            "linear, or rbf with gamma = 1 / (number of features * variance)", ("rbf", "linear")
        ),
        "smoothed": Flag("break ties between nonconformity scores at random"),
        "mondrian": Flag("label-conditional p-values: count only examples of the label"),
        "random_state": SEED,
    }

    C: float = 1.0
    kernel: str = "rbf"
    smoothed: bool = False
    mondrian: bool = False
    random_state: Any = None

    def fit(self, X, y) -> Self:
        """Store the training examples X (m, d) with labels y (m,)."""
        self.X_, self.codes_ = self.check_fit_data(X, y)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """Return the view ``p-value`` of test examples X (n, d).

        Raises ConfmlError if it takes too long, and if products of values overflow.
        """
        X = self.check_predict_data(X)
        n, c, m = len(X), len(self.classes_), len(self.codes_)
        self._check_cost(n, c, m)
        greater, equal = np.zeros((n, c), dtype=np.int64), np.ones((n, c), dtype=np.int64)
        alpha = np.zeros((n, c))
        for row in range(n):
            with config_context(assume_finite=True, skip_parameter_validation=True):  # checked before
                margins = self._margins(X[row]) if c > 1 else np.zeros((1, m + 1))
            for label in range(c):
                counted = self.codes_ == label if self.mondrian else slice(None)
                alphas, new = margins[label, :-1][counted], margins[label, -1]
                greater[row, label] += np.count_nonzero(alphas > new)
                equal[row, label] += np.count_nonzero(alphas == new)
                alpha[row, label] = new
        sizes = np.bincount(self.codes_, minlength=c) if self.mondrian else m
        tau = (rng or np.random.default_rng(self.random_state)).random(n) if self.smoothed else None
        counts = Counts(greater[:, :, None], equal[:, :, None], alpha[:, :, None])
        return {"p-value": prediction_of(self.classes_, counts, 0, sizes + 1, tau, self.mondrian)}

    def _margins(self, x: np.ndarray) -> np.ndarray:
        """Return the scores of all examples, the new one last, for each label of the new one (c, m + 1)."""
        c = len(self.classes_)
        bag = np.concatenate([self.X_, x[None]])
        # The machine of class l against the rest depends only on whether the new label is l.
        machines = [1] if c == 2 else range(c)
        values = {(code, new): self._values(bag, code, new) for code in machines for new in (False, True)}
        alphas = np.empty((c, len(bag)))
        for label in range(c):
            if c == 2:
                f = values[1, label == 1]
                columns = two_class_scores(f)
            else:
                columns = np.stack([values[code, code == label] for code in range(c)], axis=1)
            codes = np.append(self.codes_, label)
            alphas[label] = np.round(margin_scores(columns)[np.arange(len(bag)), codes], _DIGITS)
        return alphas

    def _values(self, bag: np.ndarray, positive: int, new: bool) -> np.ndarray:
        """Return decision values (m + 1,) of class ``positive`` against the rest; new: whether x is in it."""
        sides = np.append(self.codes_ == positive, new)
        machine = SVC(C=self.C, kernel=self.kernel, gamma="scale", tol=1e-6)
        try:
            return machine.fit(bag, sides).decision_function(bag)
        except ValueError as error:  # products of large values overflow
            message = "a support vector machine of training examples and a new one is not finite"
            raise ConfmlError(message, hint="scale the features, or leave out the largest values") from error

    def _check_cost(self, n: int, c: int, m: int) -> None:
        machines = n * (2 if c == 2 else 2 * c) if c > 1 else 0
        pairs = machines * (m + 1.0) ** 2
        if pairs > _PAIRS:
            minutes = pairs * _SECONDS / 60
            raise ConfmlError(
                f"tcm-svm would train {machines:,} machines on {m + 1:,} examples each, about {minutes:,.0f} "
                "minutes",
                hint="use {name: kernel-svm, conformal: split} for data sets of this size",
            )
