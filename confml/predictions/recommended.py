"""`recommended`: the method that the finished run of a config recommends."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from confml._json import from_json, to_json
from confml.config import Config
from confml.errors import ConfigError
from confml.predictions.training import Choice, chosen_dataset


def recommended(
    config: Config, choice: Choice, folder: Path, say: Callable[[str], None]
) -> tuple[Config, Choice]:
    """Return a config with one method, and the choice with its swept values and view.

    It is the method that the run in ``folder`` recommends, if the config has several and none is chosen. No
    data are read. Raises ConfigError without a recommendation.
    """
    variants = [(entry, swept) for entry in config.methods for swept in entry.variants()]
    only = len(config.methods) == 1 and {*config.methods[0].sweep} <= {*choice.params}
    if choice.method is not None or len(variants) == 1 or only:
        return config, choice
    dataset = chosen_dataset(config, choice.dataset).name
    path = folder / "answer.json"
    answer = from_json(path.read_bytes()) if path.is_file() else {}
    advice = answer.get("datasets", {}).get(dataset, {})
    label = advice.get("recommended")
    method = answer.get("methods", {}).get(label)
    for entry, swept in variants:
        params = from_json(to_json({**entry.given, **swept}))
        if method is not None and (entry.name, params) == (method["name"], method["params"]):
            say(f"method: {label}, which the run in {folder} recommends for the {answer['title']}")
            only_method = config.model_copy(update={"methods": (entry,)})
            view = choice.view or method["view"]
            return only_method, replace(choice, params={**swept, **choice.params}, view=view)
    if len(config.methods) == 1:
        return config, choice  # the fit asks for the swept values
    names = ", ".join(dict.fromkeys(entry.label or entry.name for entry in config.methods))
    reason = f"no finished run in {folder} recommends one"
    if label is not None:
        reason = f"the config does not have {label}, which the run in {folder} recommends"
    elif advice:
        reason = f"the run in {folder} recommends none: {advice['sentence']}"
    first = config.methods[0].label or config.methods[0].name
    hint = f"choose one, such as --method '{first}', or run confml run {config.path}, which recommends one"
    raise ConfigError(f"the config has several methods ({names}), and {reason}", hint=hint)
