"""`MethodEntry`: an entry of ``methods`` in a config, with the settings of its wrappers and limits."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

from confml.config import grids
from confml.config.part import Part, underscored
from confml.config.values import (
    Between,
    Count,
    Duration,
    Folds,
    Grid,
    Level,
    Memory,
    Rule,
    Share,
    Switch,
    Whole,
    Words,
    one_of,
)
from confml.plugins.by import By, Candidates
from confml.plugins.parameters import FilePath

SELECT_BY = ("accuracy", "error", "ari", "cost")


class WrapperSpec(Part):
    """Settings of a wrapper of any method. key: that of the wrapper in the method's entry."""

    short = "kind"
    key: ClassVar[str]
    kind: str

    def as_params(self) -> dict[str, Any]:
        """Return the given settings as parameters of the method: ``conformal``, ``conformal__folds``."""
        params: dict[str, Any] = {self.key: self.kind}
        for name in type(self).model_fields:
            value = getattr(self, name)
            if name != "kind" and value is not None:
                params[f"{self.key}__{name}"] = value
        return params


class ConformalSpec(WrapperSpec):
    """Settings of conformal prediction; `confml describe conformal` has the defaults.

    kind: split: calibrate on a part of the training set; cross: on each of its folds in turn.
    nonconformity: Nonconformity score; by default lac if there are probabilities, else margin. Example: aps
    view: View of a method with a posterior, whose scores are calibrated (default reject).
    calibration: Fraction of examples in the calibration part, for split (default 0.3).
    folds: Number of folds, for cross (default 5).
    mondrian: Label-conditional p-values, which are valid for each class (default false).
    smoothed: Break ties between scores at random (default false).
    by: Groups in which p-values are valid: a column, {column: bins or [cuts]}, predicted, label, a list of
        them for combinations, or a list of lists for several divisions (default none). Example: site or
        [site, predicted] or [[site], [{age: 4}]]
    best_of: Further methods, each a name or a mapping with name and parameters. Each p-value is of the method
        with the smallest regions, and keeps its bound, for split (default none). Example: [naive-bayes,
        {name: knn, k: 5}]
    best_of_level: Level at which regions of best-of are to be small (default: the first of levels).
    shift: Weights of calibration examples for a test part of another distribution, learnt from its features
        without labels, for split (default none).
    randomised: Count a random fraction of the probability, for aps and raps (default true).
    penalty: Penalty per rank after k-reg, for raps (default 0.01).
    k_reg: Number of ranks without a penalty, for raps (default 1).
    """

    key = "conformal"
    kind: Annotated[str, one_of("split", "cross")] = "split"
    nonconformity: Annotated[str, one_of("lac", "aps", "raps", "margin")] | None = None
    view: Annotated[str, one_of("reject", "envelope", "posterior", "exceedance")] | None = None
    calibration: Between | None = None
    folds: Folds | None = None
    mondrian: Switch | None = None
    smoothed: Switch | None = None
    by: Annotated[Any, Rule(By("groups"))] | None = None
    best_of: Annotated[Any, Rule(Candidates("methods"))] | None = None
    best_of_level: Level | None = None
    shift: Annotated[str, one_of("covariate", "label")] | None = None
    randomised: Switch | None = None
    penalty: Share | None = None
    k_reg: Whole | None = None


class VennSpec(WrapperSpec):
    """Settings of Venn-Abers prediction; `confml describe venn` has the defaults.

    kind: inductive: calibrate on a part of the training set; cross: on each fold in turn.
    calibration: Fraction of examples in the calibration part, for inductive (default 0.3).
    folds: Number of folds, for cross (default 5).
    """

    key = "venn"
    kind: Annotated[str, one_of("inductive", "cross")] = "inductive"
    calibration: Between | None = None
    folds: Folds | None = None


class SamplesSpec(WrapperSpec):
    """Settings of posterior draws; `confml describe samples` has the defaults.

    kind: ensemble: the members of a forest; bootstrap: fits to random weights; laplace: Gaussian
        approximation of logistic regression.
    draws: Number of draws (default 60 of bootstrap, 1000 of laplace).
    exceeding: Threshold of the class probability for the view exceedance (default 0.5).
    entropies: Views total-entropy, expected-entropy and mutual-information too (default false).
    """

    key = "samples"
    kind: Annotated[str, one_of("ensemble", "bootstrap", "laplace")] = "bootstrap"
    draws: Count | None = None
    exceeding: Share | None = None
    entropies: Switch | None = None


class LimitsSpec(Part):
    """The time and memory that one task of a method may take; they do not change results.

    timeout: Wall time of one task: seconds, or 90s, 10min, 2h. Example: '10min'
    memory: Memory that one task may take on top of its worker's. Example: '4GB'
    """

    timeout: Duration | None = None
    memory: Memory | None = None


class MethodEntry(Part):
    """A method by name; its parameters are fixed, swept (each value is reported) or tuned (one is chosen).

    name: A method of `confml methods`, or a classifier with scikit-learn's interface by its dotted name;
        packages other than scikit-learn need --allow-import. Example: tcm-nn or
        sklearn.ensemble.RandomForestClassifier
    params: Parameters whose names are also keys of a method.
    sweep: Grids of values, each reported as a variant. Example: {k: [1, 3, 5]}
    tune: Grids that inner cross-validation chooses from. Example: {C: {log2: [-18, 18, 2]}}
    select_by: Metric that tuning optimises.
    samples: Posterior draws of this method; a single word is the kind. A number is a parameter. Example:
        ensemble or {kind: bootstrap, draws: 60}
    conformal: Conformal prediction with this method; a single word is the kind. Example: split or {kind:
        cross, nonconformity: aps}
    venn: Venn-Abers prediction with this method; a single word is the kind. Example: inductive or {kind:
        cross, folds: 5}
    label: Name in tables and figures. Example: '1-NN'
    limits: Limits of one task; a task that exceeds one becomes a failure. They have priority over --timeout
        and --memory. Example: {timeout: '10min', memory: '4GB'}
    """

    short = "name"
    rest = "params"

    name: Words
    params: dict[str, Any] = {}
    sweep: dict[str, Grid] = {}
    tune: dict[str, Grid] = {}
    select_by: Annotated[str, one_of(*SELECT_BY)] = "accuracy"
    samples: SamplesSpec | None = None
    conformal: ConformalSpec | None = None
    venn: VennSpec | None = None
    label: Words | None = None
    limits: LimitsSpec | None = None

    @classmethod
    def _collect(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        if isinstance(values.get("samples"), int | float):  # such as the number of states of bayes-knn
            params = values.get("params", {})
            own = {"samples": values["samples"], **params} if isinstance(params, Mapping) else params
            values = {**{key: value for key, value in values.items() if key != "samples"}, "params": own}
        values = super()._collect(values)
        for key in ("sweep", "tune"):
            if isinstance(values.get(key), Mapping):
                values[key] = {underscored(name): grid for name, grid in values[key].items()}
        return values

    @property
    def given(self) -> dict[str, Any]:
        """The parameters that all variants share, including the settings of wrappers."""
        params = dict(self.params)
        for spec in self.wrappers.values():
            params |= spec.as_params()
        return params

    @property
    def wrappers(self) -> dict[str, WrapperSpec]:
        """The settings of ``samples``, ``conformal`` and ``venn``, where they are given."""
        return {spec.key: spec for spec in (self.samples, self.conformal, self.venn) if spec is not None}

    @property
    def calibrating(self) -> str | None:
        """The key of the wrapper with a calibration part, ``conformal`` or ``venn``, or None."""
        return next((key for key in self.wrappers if key != "samples"), None)

    def files(self) -> list[tuple[tuple[str, str], Any]]:
        """Return the values of parameters that are paths of files, each with its keys in the entry."""
        from confml.methods.registry import methods

        cls = methods.own_class(self.name)
        rules = {} if cls is None else cls.parameters
        names = [name for name, rule in rules.items() if isinstance(rule, FilePath)]
        given = [(("params", name), self.params[name]) for name in names if name in self.params]
        return given + [(("sweep", name), value) for name in names for value in self.sweep.get(name, ())]

    @property
    def takes_rows(self) -> bool:
        """Whether the method predicts rows of a data set from a file, in place of a fit."""
        from confml.methods.registry import methods

        cls = methods.own_class(self.name)
        return cls is not None and cls.takes_rows

    @property
    def version(self) -> int | str:
        """The version of the method with the values of this entry."""
        from confml.methods.registry import version_of

        return version_of(self.name, self.given, [*self.sweep.values(), *self.tune.values()])

    @property
    def packages(self) -> dict[str, str]:
        """Package -> version of the dotted names of the entry, besides those of scikit-learn."""
        from confml.methods.registry import packages_of

        return packages_of(self.name, [*self.given.values(), *self.sweep.values(), *self.tune.values()])

    def at_levels(self, levels: Sequence[float]) -> Self:
        """Return the entry with ``best-of-level``, by default the first of ``levels``."""
        spec = self.conformal
        if spec is None or not spec.best_of or spec.best_of_level is not None:
            return self
        spec = spec.model_copy(update={"best_of_level": levels[0]})
        return self.model_copy(update={"conformal": spec})

    def variants(self) -> list[dict[str, Any]]:
        """Return the combinations of swept values, in order; one empty dict without sweep."""
        return grids.product(self.sweep)

    def tune_grid(self) -> list[dict[str, Any]]:
        """Return the combinations of values to choose from; one empty dict without tune."""
        return grids.product(self.tune)

    def as_dict(self) -> dict[str, Any]:
        plain = super().as_dict()
        if not self.tune:
            plain.pop("select-by")
        return plain
