"""Which file a config's name means: a path, or the name of a config that comes with confml."""

from __future__ import annotations

from pathlib import Path

from confml.config.problems import Mark, Problems
from confml.data.locate import resource_folder
from confml.errors import ConfmlError, did_you_mean


def bundled_configs() -> dict[str, Path]:
    """The configs that come with confml by name; in a subfolder it is classical/noise."""
    folder = resource_folder("configs")
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.yaml"))
    }


def find_config(name: str) -> tuple[Path, str]:
    """The file that ``name`` means, and how messages call it. Raises ConfigErrors, with the nearest name."""
    problems = Problems()
    path = Path(name)
    try:
        if path.exists() and not path.is_dir():
            return path, name
        bundled = _bundled(name)
        if bundled is not None:
            return bundled, str(bundled)
        if path.is_dir():
            inside = sorted(other.name for other in path.glob("*.y*ml"))
            hint = f"it holds {', '.join(inside[:10])}" if inside else None
            raise problems.stop(Mark(source=name), "this is a folder, expected a YAML file", hint)
        beside = [str(other) for other in path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
    except (OSError, ValueError):  # too long for a file's name, or with a NUL in it
        beside = []
    try:
        names = list(bundled_configs())
    except ConfmlError:
        names = []
    hint = did_you_mean(name, [*beside, *names], list_all=False)
    if hint is None and names:
        hint = f"confml comes with {', '.join(names)}"
    raise problems.stop(Mark(source=name), "no such file, and no config of that name comes with confml", hint)


def _bundled(name: str) -> Path | None:
    try:
        known = bundled_configs()
    except ConfmlError:
        return None
    name = name.removesuffix(".yaml")
    if name in known:
        return known[name]
    below = [path for full, path in known.items() if full.rpartition("/")[2] == name]
    return below[0] if len(below) == 1 else None
