"""`like_source`: the experiment of a paper on another table file, from the bundled configs of the paper."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from confml.config.find import bundled_configs
from confml.config.suggestion import Suggestion
from confml.errors import ConfigError
from confml.yaml import Mark, Problems
from confml.yaml.reader import parse

SOURCES: Mapping[str, tuple[str, ...]] = {
    "proedrou": ("papers/tcm-nn/segment",),
    "graepel": ("papers/transduction/transduction-heart",),
    "krzanowski": ("papers/bayes-knn/bayes-knn", "papers/bayes-knn/bayes-knn-adaptive"),
    "burg": ("papers/smartsvm/smartsvm-laptop",),
    "kubat": ("papers/kubat/square-noise", "papers/kubat/not-separable"),
}
# Of the first config; methods are those of all. Figures of several data sets or of two features are left out.
_KEYS = ("thresholds", "figures", "noise")
_LEFT_OUT = ("ranks", "decision-boundary")
# The paper has 10,000 + 70,000 steps.
_CHAINS = {"chains": 4, "burn_in": 500, "samples": 60, "thin": 5}


def like_source(found: Suggestion, source: str) -> Suggestion:
    """Return ``found`` with the steps, methods, protocol, levels and further keys of a source.

    Columns and questions stay. Label noise is added to training parts only, and the chains of the adaptive
    model are shortened. Raises ConfigError for an unknown source.
    """
    if source not in SOURCES:
        raise ConfigError(f"unknown source '{source}'", near=(source, SOURCES))
    configs = [_read(name) for name in SOURCES[source]]
    first, reasons = configs[0], dict(found.reasons)
    for key in ("steps", "protocol", "levels"):
        if key in first:
            reasons[key] = f"as in {SOURCES[source][0]}"
    methods = [_sane(dict(method), reasons) for config in configs for method in config["methods"]]
    more = {key: first[key] for key in _KEYS if key in first}
    more["figures"] = [one for one in first.get("figures", ()) if _figure(one) not in _LEFT_OUT]
    if "noise" in more:
        more["noise"] = {**more["noise"], "on": "train"}
        reasons["noise"] = "on training parts: labels of test rows stay as they are"
    return dataclasses.replace(
        found,
        steps=first.get("steps") or found.steps,
        methods=methods,
        protocol=first["protocol"],
        levels=first.get("levels", found.levels),
        reasons=reasons,
        more={key: value for key, value in more.items() if value or key == "thresholds"},
    )


def _read(name: str) -> dict[str, Any]:
    problems = Problems()
    node = parse(bundled_configs()[name].read_text(encoding="utf-8"), name, problems, Mark(source=name))
    problems.raise_any()
    return node.plain()


def _sane(method: dict[str, Any], reasons: dict[str, str]) -> dict[str, Any]:
    """Return a method of a paper; chains of the adaptive model are shortened."""
    reasons.pop(method["name"], None)
    if method.get("model") == "adaptive":
        reasons[method["label"]] = "4 chains of 500 + 300 steps; the paper has 10,000 + 70,000"
        return {**method, **_CHAINS}
    return method


def _figure(figure: Any) -> str:
    if isinstance(figure, Mapping):
        return figure.get("name") or next(iter(figure))
    return figure
