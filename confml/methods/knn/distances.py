"""Parameters of the distance of k-NN."""

from collections.abc import Mapping

from confml.plugins.parameters import AnyOf, Choice, IncompatibleParameters, Number, Parameter

DISTANCE_PARAMETERS: Mapping[str, Parameter] = {
    "distance": Choice(
        "euclidean; minkowski, the root of the sum of the differences to a power; mahalanobis, Euclidean "
        "after the training examples are scaled to unit covariance; polar, the angle between two examples",
        ("euclidean", "minkowski", "mahalanobis", "polar"),
    ),
    "power": AnyOf(
        "power of distance: minkowski; 1 is the sum of absolute differences, 2 the Euclidean distance, max "
        "the largest difference",
        (Number("", 1.0), Choice("", ("max",))),
    ),
}


def check_power(method: str, distance: str, power: float | str) -> None:
    """Raise `IncompatibleParameters` for a power other than 2 of a distance that has none."""
    if distance != "minkowski" and power != 2:
        message = f"power is for distance: minkowski, and the distance is {distance}"
        raise IncompatibleParameters(
            message, owner=method, parameter="power", value=power, hint="set distance: minkowski"
        )
