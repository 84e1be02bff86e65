"""`recommended`: the method that the finished run of a config recommends."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from confml._json import from_json, to_json
from confml.config import Config
from confml.data import load
from confml.data.dataset import DataSet
from confml.errors import ConfigError
from confml.predictions.training import Choice, chosen_dataset
from confml.runner.manifest import changed_keys, stored_manifest

WITHOUT_EFFECT = {"about", "datasets", "figures", "figure-formats", "silence"}  # of the data: the checksum


def recommended(
    config: Config, choice: Choice, folder: Path, say: Callable[[str], None]
) -> tuple[Config, Choice, DataSet | None]:
    """Return a config with one method, the choice with its swept values and view, and the loaded data.

    It is the method that the run in ``folder`` recommends, if the config has several and none is chosen. The
    data are only loaded (else None) to compare them with those of the run. Raises ConfigError without a
    recommendation, and for one of another config or other data.
    """
    variants = [(entry, swept) for entry in config.methods for swept in entry.variants()]
    only = len(config.methods) == 1 and {*config.methods[0].sweep} <= {*choice.params}
    if choice.method is not None or len(variants) == 1 or only:
        return config, choice, None
    spec, data = chosen_dataset(config, choice.dataset), None
    path, manifest = folder / "answer.json", stored_manifest(folder)
    is_finished = manifest is not None and manifest["finished"] is not None and path.is_file()
    answer = from_json(path.read_bytes()) if is_finished else {}
    advice = answer.get("datasets", {}).get(spec.name, {})
    label = advice.get("recommended")
    if manifest is not None and label is not None:
        changed = changed_keys(manifest["config"], config.with_baseline().as_dict(), WITHOUT_EFFECT)
        if not changed:
            data = load(spec.as_dict())
            checksums = {info["name"]: info["checksum"] for info in manifest["datasets"]}
            changed = [] if checksums.get(spec.name) == data.checksum else [f"the data of {spec.name}"]
        if changed:
            raise ConfigError(
                f"the config has several methods, and {label} is recommended by the run in {folder} of "
                f"another config or other data ({', '.join(changed)})",
                hint=f"run confml run {config.path} again, or choose a method with --method",
            )
    method = answer.get("methods", {}).get(label)
    for entry, swept in variants:
        params = from_json(to_json({**entry.given, **swept}))
        if method is not None and (entry.name, params) == (method["name"], method["params"]):
            options = _changes({**entry.given, **swept}, choice)
            here = f", with {' '.join(options)}" if options else ""
            say(f"method: {label}, which the run in {folder} recommends for the {answer['title']}{here}")
            only_method = config.model_copy(update={"methods": (entry,)})
            view = choice.view or (None if options else method["view"])  # other parameters, other views
            return only_method, replace(choice, params={**swept, **choice.params}, view=view), data
    if len(config.methods) == 1:
        return config, choice, None  # the fit asks for the swept values
    names = list(dict.fromkeys(entry.label or entry.name for entry in config.methods))
    message = f"the config has several methods, and no finished run in {folder} recommends one"
    if label is not None:
        message = f"the config does not have {label}, which the run in {folder} recommends"
    elif advice:
        message = f"the run in {folder} recommends no method. {advice['sentence'].removesuffix('.')}"
    best = answer.get("methods", {}).get(advice.get("best"), {}).get("name")
    usual = next((entry.label or entry.name for entry in config.methods if entry.name == best), names[0])
    hint = f"choose a method, such as --method '{usual}' (methods: {', '.join(names)})"
    if not advice:
        hint += f", or run confml run {config.path}, which recommends one"
    raise ConfigError(message, hint=hint)


def _changes(params: Mapping[str, Any], choice: Choice) -> list[str]:
    """Return the options of a choice that change the parameters of a method."""
    changes = [
        f"--param {name}={value}" for name, value in choice.params.items() if params.get(name) != value
    ]
    changes += [f"--conformal {choice.conformal}"] if choice.conformal is not None else []
    return changes + ["--mondrian"] * choice.mondrian
