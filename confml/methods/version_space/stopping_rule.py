"""`StoppingRule`: when a billiard in version space ends."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from confml.measures.bounds import hoeffding_draws
from confml.methods.version_space.billiard import BilliardSettings, Trajectory, sample
from confml.methods.version_space.version_space import VersionSpace
from confml.plugins.parameters import Choice, IncompatibleParameters, Number, Parameter

FIXED, HOEFFDING, ESS = "fixed", "hoeffding", "ess"
BOUNCES, EPSILON, ETA = 100_000, 0.05, 0.01  # defaults
STOPPING_PARAMETERS: Mapping[str, Parameter] = {
    "stopping": Choice(
        "fixed: after n_bounces bounces; hoeffding: after ln(1 / eta) / (2 epsilon^2) bounces, the paper's "
        "rule, which takes bounces for independent draws; ess: when the effective sample size is at least "
        "this number and the chains agree, or after n_bounces bounces",
        (FIXED, HOEFFDING, ESS),
    ),
    "epsilon": Number(
        "for stopping: hoeffding and ess: the error of a probability, in one direction, that may occur with "
        "probability eta",
        1e-4,
        1.0,
        high_open=True,
    ),
    "eta": Number(
        "for stopping: hoeffding and ess: probability that a probability is too large by epsilon or more; "
        "that it is too small by as much has the same probability",
        1e-12,
        1.0,
        high_open=True,
    ),
}
WORST_RHAT = 1.5  # chains with a larger split R-hat do not agree
_LARGEST_STEP = 10  # times as many bounces in the next run, at most: the first effective sizes are inexact


@dataclass(frozen=True)
class StoppingRule:
    """Number of bounces of a trajectory: fixed, by Hoeffding's inequality, or by the effective sample size.

    Graepel, Herbrich and Obermayer, equation 8: the mean of n independent fractions exceeds its expectation
    by epsilon or more with a probability of at most eta = exp(-2 n epsilon^2). The paper takes bounces for
    independent. ``ess`` counts effective draws, whose number is an estimate, so that eta is approximate.
    """

    kind: str
    n_bounces: int
    epsilon: float
    eta: float

    @property
    def draws(self) -> int:
        """Number n of independent draws by equation 8."""
        return hoeffding_draws(self.epsilon, self.eta)

    @property
    def most_bounces(self) -> int:
        """Largest number of bounces over all chains."""
        return self.draws if self.kind == HOEFFDING else self.n_bounces

    def reached(self, ess: float, rhat: float) -> bool:
        """Return whether a run with these estimates may end; always true except for ``ess``."""
        return self.kind != ESS or (ess >= self.draws and rhat <= WORST_RHAT)

    def sample(self, space: VersionSpace, settings: BilliardSettings, seed: int) -> Trajectory:
        """Sample a version space until this rule ends the run; ``settings.bounces`` is not used.

        With ``ess`` the run is repeated from its start with more bounces until its effective sample size is
        large enough and its chains agree. The result is that of a run with a fixed number of bounces.
        """
        bounces = min(self.draws, self.most_bounces) if self.kind == ESS else self.most_bounces
        while True:
            trajectory = sample(space, replace(settings, bounces=bounces), seed)
            if (
                not trajectory.chains
                or self.reached(trajectory.ess, trajectory.rhat)
                or bounces >= self.most_bounces
            ):
                return trajectory
            factor = min(max(1.1 * self.draws / trajectory.ess, 1.5), _LARGEST_STEP)
            bounces = min(math.ceil(factor * bounces), self.most_bounces)
            del trajectory  # its memory is free for the next run


def check_stopping(method: str, params: Mapping[str, Any]) -> None:
    """Raise `IncompatibleParameters` for parameters that the stopping rule does not use."""
    kind = params.get("stopping", FIXED)
    unused: list[tuple[str, Any]] = []
    reason = ""
    if kind == FIXED:
        unused, reason = [("epsilon", EPSILON), ("eta", ETA)], "needs stopping: hoeffding or ess"
    elif params.get("sampler") == "ep":
        unused, reason = [("stopping", FIXED)], "needs sampler: geodesic or chord"
    elif kind == HOEFFDING:
        unused, reason = [("n_bounces", BOUNCES)], "is not used with stopping: hoeffding"
    for name, default in unused:
        if params.get(name, default) != default:
            raise IncompatibleParameters(
                f"{name} {reason}", owner=f"method '{method}'", parameter=name, value=params[name]
            )
