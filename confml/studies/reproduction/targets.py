"""`plan`: the actions of a target of ``targets.yaml``, such as ``table-tcm-nn``."""

import functools
import itertools
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from confml._version import resource_folder
from confml.errors import ConfmlError
from confml.studies.reproduction.actions import Action, Command, Copy, Keep, Listing

RESULTS = Path("results")
REFERENCE = RESULTS / "reference"
VARIABLES = ("SCALE", "SET", "SHARD", "JOBS", "ENGINE", "SCHEDULER")
"""Variables of the Makefile that targets take."""


@dataclass(frozen=True)
class Target:
    """A target: its entry in ``targets.yaml``, and the given variables, such as ``{"SHARD": "1/4"}``."""

    name: str
    entry: Mapping[str, Any]
    given: Mapping[str, str]

    @property
    def scale(self) -> str:
        return self.given.get("SCALE") or next(iter(self.entry.get("values", {"": {}})))

    @property
    def set(self) -> str:
        return self.given.get("SET", "") if self.entry.get("sets") else ""

    @property
    def command(self) -> str:
        """Command that executes the target, with the variables that change its results."""
        stated = {"SCALE": bool(self.entry.get("values")), "SET": bool(self.set)}
        words = [
            f"{name}={self.given[name]}" for name, used in stated.items() if used and self.given.get(name)
        ]
        return " ".join(["make", self.name, *words])

    def check(self) -> None:
        """Raise ConfmlError for variables that the target does not take."""
        scales = list(self.entry.get("values", ()))
        if scales and self.scale not in scales:
            raise ConfmlError(f"SCALE is {', '.join(scales[:-1])} or {scales[-1]}, got '{self.scale}'")
        if self.set and not any(_card(f"{self.set}{ending}") for ending in ("", "-smartsvm")):
            raise ConfmlError(f"SET is one data set, such as fars, got '{self.set}'")
        shard = self.given.get("SHARD", "")
        if shard and self.entry.get("whole"):
            raise ConfmlError(f"{self.name} has no parts; run it without SHARD")
        if shard and self.entry.get("parts") and not re.fullmatch(r"[1-9]\d*/[1-9]\d*", shard):
            raise ConfmlError(f"SHARD is a part such as 1/2, got '{shard}'")

    def names(self) -> dict[str, Any]:
        """Return the values of ``$scale``, ``$suffix`` and ``$dataset``, and those of the scale."""
        card = f"{self.set}-smartsvm"
        dataset = {"name": self.set, "card": card} if _card(card) else self.set
        suffix = f"-{self.set}" if self.set else ""
        return {
            **{"scale": self.scale, "suffix": suffix, "dataset": dataset},
            **self.entry.get("values", {}).get(self.scale, {}),
        }

    def applies(self, step: Mapping[str, Any]) -> bool:
        """Return whether ``when`` and ``unless`` of a step admit the scale and the data set."""
        holds = {"scale": lambda values: self.scale in values, "set": lambda _: bool(self.set)}
        wanted = [holds[name](value) for name, value in step.get("when", {}).items()]
        unwanted = [holds[name](value) for name, value in step.get("unless", {}).items()]
        return all(wanted) and not any(unwanted)

    def shard(self, count: int) -> list[bool]:
        """Return, for each of ``count`` studies, whether it belongs to the given part."""
        part, parts = map(int, (self.given.get("SHARD") or "1/1").split("/"))
        return [place % parts == part - 1 for place in range(count)]


@functools.cache
def targets() -> dict[str, dict[str, Any]]:
    """Return the entries of ``targets.yaml``, which must not be changed."""
    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def plan(name: str, given: Mapping[str, str]) -> Iterator[Action]:
    """Return the actions of a target in order.

    given: values of some `VARIABLES`. Raises ConfmlError for an unknown target, or a value that it does not
    take.
    """
    known = targets()
    if name not in known:
        raise ConfmlError(f"unknown target '{name}'", near=(name, known))
    target = Target(name, known[name], given)
    target.check()
    if target.entry.get("parts"):
        return _studies(target)
    return _actions(target)


def _actions(target: Target) -> Iterator[Action]:
    whole = not target.given.get("SHARD")
    for step in target.entry["steps"]:
        if not target.applies(step):
            continue
        if "target" in step:
            yield from plan(step["target"], target.given)
        for names in _combinations(step.get("for", {})):
            filled = _fill({key: step[key] for key in step if key != "for"}, {**target.names(), **names})
            if "run" in filled:
                filled["set"] = {**filled.get("set", {}), **_fill(names.get("set", {}), target.names())}
                yield _run(filled, target.given)
            elif "study" in filled:
                yield _study(filled, target.given)
            elif whole:
                yield from _kept(filled, target.command)


def _studies(target: Target) -> Iterator[Action]:
    """Return the actions of a target whose parts are studies: each study, its copies, and their versions."""
    folder = REFERENCE / target.entry["parts"]
    studies = [step for step in target.entry["steps"] if "study" in step]
    own = [step for step, mine in zip(studies, target.shard(len(studies)), strict=True) if mine]
    for step in own:
        yield _study(step, target.given)
        for source, to in step["copy"].items():
            yield Copy(f"{RESULTS / step['out'] / source}", folder / to)
    if own:
        yield Keep(folder, tuple(sorted(str(RESULTS / step["out"]) for step in studies)), target.command)
    if not target.given.get("SHARD"):
        for step in target.entry["steps"]:
            yield from _kept(step, target.command) if "study" not in step else ()


def _run(step: Mapping[str, Any], given: Mapping[str, str]) -> Command:
    words = ["run"]
    for variable, option in (("JOBS", "--jobs"), ("ENGINE", "--engine"), ("SCHEDULER", "--scheduler")):
        words += [option, given[variable]] if given.get(variable) else []
    words += ["--shard", given["SHARD"]] if given.get("SHARD") else []
    words += [f"configs/{step['run']}.yaml", *(() if step.get("show") else ("--quiet",))]
    for key, value in step["set"].items():
        words += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    words += ["--out", str(RESULTS / step["out"])] if "out" in step else []
    words += ["--allow-import", step["allow"]] if "allow" in step else []
    return Command(tuple(words), bool(step.get("fails")))


def _study(step: Mapping[str, Any], given: Mapping[str, str]) -> Command:
    words = [str(word) for word in step["study"]]
    words += ["--jobs", given["JOBS"]] if step.get("jobs") and given.get("JOBS") else []
    words += [*(() if step.get("show") else ("--quiet",)), "--out", str(RESULTS / step["out"])]
    return Command(tuple(words), one_thread=bool(step.get("one-thread")))


def _kept(step: Mapping[str, Any], command: str) -> Iterator[Action]:
    """Return the actions of a step without a run."""
    if "report" in step:
        # The folder has committed tables, or those of an earlier call.
        words = ["report", *_paths(step["report"]), "--out", str(RESULTS / step["out"]), "--force"]
        for option in ("table", "against", "metric", "line"):
            for value in _listed(step.get(option, [])):
                words += [f"--{option}", str(value)]
        words += [f"--{flag}" for flag in ("figures", "log", "log-metric") if step.get(flag)]
        yield Command(tuple(words))
    if "keep" in step:
        yield Keep(
            REFERENCE / step["keep"],
            tuple(_paths(step["of"])),
            command,
            tuple(step.get("metrics", ())),
            step.get("by"),
            bool(step.get("figures")),
            bool(step.get("matching")),
            bool(step.get("crossings")),
        )
    for source, to in step.get("copy", {}).items():
        yield Copy(str(RESULTS / source), REFERENCE / to)
    if "list" in step:
        yield Listing(tuple(_paths(step["list"])))


def _paths(names: Sequence[Any]) -> list[str]:
    """Return paths below ``results/``; a list in the list stands for its names."""
    return [str(RESULTS / name) for one in names for name in _listed(one)]


def _listed(value: Any) -> list:
    return value if isinstance(value, list) else [value]


def _combinations(values: Mapping[str, list] | Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return all combinations of lists of values, or the mappings themselves."""
    if not isinstance(values, Mapping):
        return map(dict, values)
    return (dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values()))


def _fill(value: Any, names: Mapping[str, Any]) -> Any:
    """Return ``value`` with the values of ``$name`` in its texts; a text of one name becomes its value."""
    if isinstance(value, Mapping):
        return {_fill(key, names): _fill(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [_fill(one, names) for one in value]
    if not isinstance(value, str):
        return value
    if alone := re.fullmatch(r"\$(\w+)", value):
        return names[alone[1]]
    return re.sub(r"\$(\w+)", lambda found: str(names[found[1]]), value)


def _card(name: str) -> bool:
    return (resource_folder("datasets") / f"{name}.yaml").is_file()


def shown(actions: Iterator[Action]) -> Iterator[str]:
    """Return actions as lines of a shell."""
    return (shlex.join(action.words()) for action in actions)
