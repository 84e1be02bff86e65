"""`MethodEntry`: an entry of ``methods`` in a config, with the settings of its wrappers and limits."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from confml.config import grids
from confml.config.part import Part, hyphenated, underscored
from confml.config.values import Duration, Grid, Memory, Words, one_of
from confml.plugins.parameters import FilePath

SELECT_BY = ("accuracy", "error", "ari", "cost")


class WrapperSpec(Part):
    """Settings of a wrapper of any method. key: that of the wrapper in the method's entry.

    The class of the wrapper declares the settings; they are checked with the method.
    """

    short = "kind"
    rest = "params"
    key: ClassVar[str]
    kind: str
    params: dict[str, Any] = {}

    @classmethod
    def _collect(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return super()._collect({key: value for key, value in values.items() if value is not None})

    def as_params(self) -> dict[str, Any]:
        """Return the given settings as parameters of the method: ``conformal``, ``conformal__folds``."""
        return {self.key: self.kind} | {f"{self.key}__{name}": value for name, value in self.params.items()}

    def as_dict(self) -> dict[str, Any]:
        return {hyphenated(name): value for name, value in super().as_dict().items()}


class ConformalSpec(WrapperSpec):
    """Settings of conformal prediction, as `confml describe conformal` lists them."""

    key = "conformal"
    kind: Words = "split"


class VennSpec(WrapperSpec):
    """Settings of Venn-Abers prediction, as `confml describe venn` lists them."""

    key = "venn"
    kind: Words = "inductive"


class SamplesSpec(WrapperSpec):
    """Settings of posterior draws, as `confml describe samples` lists them."""

    key = "samples"
    kind: Words = "bootstrap"


class LimitsSpec(Part):
    """The time and memory that one task of a method may take; they do not change results.

    timeout: Wall time of one task: seconds, or 90s, 10min, 2h. Example: '10min'
    memory: Memory that one task may take on top of its worker's. Example: '4GB'
    """

    timeout: Duration | None = None
    memory: Memory | None = None


class MethodEntry(Part):
    """A method by name; its parameters are fixed, swept (each value is reported) or tuned (one is chosen).

    name: A method of `confml describe`, or a classifier with scikit-learn's interface by its dotted name;
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
        samples, params = values.get("samples"), values.get("params") or {}
        if isinstance(samples, int | float) and isinstance(params, Mapping):  # of bayes-knn: their number
            values = {**values, "samples": None, "params": {"samples": samples, **params}}
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
        paths = [(("params", name), self.params[name]) for name in names if name in self.params]
        return paths + [(("sweep", name), value) for name in names for value in self.sweep.get(name, ())]

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
