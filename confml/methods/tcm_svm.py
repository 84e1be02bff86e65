"""TCM-SVM: the transductive confidence machine with a support vector machine's margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from sklearn.svm import SVC

from confml.errors import ConfmlError
from confml.measures.prediction import Prediction
from confml.methods.base import Method
from confml.methods.conformal.scores import margin_scores
from confml.methods.tcm_nn.neighbour_counter import Counts
from confml.methods.tcm_nn.tcm_nn import prediction_of
from confml.plugins.parameters import AnyOf, Choice, Flag, Integer, Nothing, Number, Parameter

_PAIRS = 2e10  # of examples, over all machines: about a quarter of an hour
_SECONDS = 5e-8  # a pair takes, as measured on sets of 200 to 1000 examples
_DIGITS = 4  # of a decision value that the solver's tolerance leaves sure


class TCMSVM(Method):
    """Conformal p-values from the margins of support vector machines trained anew for every label.

    A test example is added to the m training examples under each label j in turn, a machine is trained on all
    m + 1 (each class against the rest), and an example's strangeness is the largest decision value of another
    class less that of its own. ``p_j = #{alpha_i >= alpha_new} / (m + 1)``, the new example counted. Decision
    values are rounded to four decimals, further than which the solver's tolerance does not go, so that
    support vectors on the margin are equally strange, as they should be, wherever they stand.

    That is two machines a test example and class, or two in all of two classes: for small sets. Where it
    would take more than about a quarter of an hour it is refused; then make a machine conformal:
    ``{name: kernel-svm, conformal: split}``.

    The one view is ``p-value``, with ``extra``: ``n_greater``, ``n_equal`` (n, c), ``alpha`` (n, c), and
    ``tau`` (n,) where smoothed, as in tcm-nn; of labels that share the largest p-value the less strange one
    is predicted.

    Source: Saunders, Gammerman, Vovk, Transduction with confidence and credibility, IJCAI 1999 (with the
    machines' multipliers); named in the conclusion of Proedrou et al., ECML 2002.
    """

    name: ClassVar[str] = "tcm-svm"
    version: ClassVar[int] = 1
    views: ClassVar[tuple[str, ...]] = ("p-value",)
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "C": Number("penalty of errors", low=0, low_open=True),
        "kernel": Choice("kernel: rbf with 1 / (d var X) as gamma, or linear", options=("rbf", "linear")),
        "smoothed": Flag("break ties between strangeness values at random"),
        "mondrian": Flag("count only examples of the label in question (label-conditional p-values)"),
        "random_state": AnyOf(
            "seed of smoothed p-values where no generator is given",
            of=(Integer("a seed", low=0), Nothing("drawn anew")),
        ),
    }

    def __init__(self, C=1.0, kernel="rbf", smoothed=False, mondrian=False, random_state=None):
        self.C = C
        self.kernel = kernel
        self.smoothed = smoothed
        self.mondrian = mondrian
        self.random_state = random_state

    def fit(self, X, y) -> TCMSVM:
        """Keep the examples. X: (m, d) finite numbers; y: (m,) labels."""
        self.X_, self.codes_ = self.check_fit_data(X, y)
        return self

    def confident_predict(self, X, rng: np.random.Generator | None = None) -> dict[str, Prediction]:
        """The view ``p-value`` of test examples X (n, d). Raises ConfmlError where it would take too long."""
        X = self.check_predict_data(X)
        n, c, m = len(X), len(self.classes_), len(self.codes_)
        self._check_cost(n, c, m)
        greater, equal = np.zeros((n, c), dtype=np.int64), np.ones((n, c), dtype=np.int64)
        alpha = np.zeros((n, c))
        for row in range(n):
            margins = self._margins(X[row]) if c > 1 else np.zeros((1, m + 1))
            for label in range(c):
                counted = self.codes_ == label if self.mondrian else slice(None)
                others, new = margins[label, :-1][counted], margins[label, -1]
                greater[row, label] += np.count_nonzero(others > new)
                equal[row, label] += np.count_nonzero(others == new)
                alpha[row, label] = new
        sizes = np.bincount(self.codes_, minlength=c) if self.mondrian else m
        tau = (rng or np.random.default_rng(self.random_state)).random(n) if self.smoothed else None
        counts = Counts(greater[:, :, None], equal[:, :, None], alpha[:, :, None])
        return {"p-value": prediction_of(self.classes_, counts, 0, sizes + 1, tau)}

    def predict_p_values(self, X) -> np.ndarray:
        """(n, c) p-values of test examples X (n, d), columns in the order of ``classes_``."""
        return self.confident_predict(X)["p-value"].scores.copy()

    def _margins(self, x: np.ndarray) -> np.ndarray:
        """(c, m + 1) the strangeness of every example, the new one last, under each label for it."""
        c = len(self.classes_)
        bag = np.concatenate([self.X_, x[None]])
        # A machine that sets class l against the rest asks of the new label only whether it is l.
        machines = [1] if c == 2 else range(c)
        values = {(one, new): self._values(bag, one, new) for one in machines for new in (False, True)}
        alphas = np.empty((c, len(bag)))
        for label in range(c):
            if c == 2:
                f = values[1, label == 1]
                columns = np.stack([-f / 2, f / 2], axis=1)
            else:
                columns = np.stack([values[one, one == label] for one in range(c)], axis=1)
            own = np.append(self.codes_, label)
            alphas[label] = np.round(margin_scores(columns)[np.arange(len(bag)), own], _DIGITS)
        return alphas

    def _values(self, bag: np.ndarray, one: int, new: bool) -> np.ndarray:
        """(m + 1,) decision values of class ``one`` against the rest, the new example in it or not."""
        sides = np.append(self.codes_ == one, new)
        machine = SVC(C=self.C, kernel=self.kernel, gamma="scale", tol=1e-6)
        return machine.fit(bag, sides).decision_function(bag)

    def _check_cost(self, n: int, c: int, m: int) -> None:
        machines = n * (2 if c == 2 else 2 * c) if c > 1 else 0
        pairs = machines * (m + 1.0) ** 2
        if pairs > _PAIRS:
            minutes = pairs * _SECONDS / 60
            raise ConfmlError(
                f"tcm-svm would train {machines:,} machines on {m + 1:,} examples each, about {minutes:,.0f} "
                "minutes",
                hint="for sets of this size: {name: kernel-svm, conformal: split}",
            )
