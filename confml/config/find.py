"""Which file a config's name means: a path, or the name of a config that comes with confml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from confml.data.locate import resource_folder
from confml.errors import ConfmlError, did_you_mean
from confml.yaml import Mark, Problems


def bundled_configs() -> dict[str, Path]:
    """The configs that come with confml by name; in a subfolder it is classical/noise."""
    folder = resource_folder("configs")
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.yaml"))
    }


def find_config(name: str) -> tuple[Path, str]:
    """The file that ``name`` means, and how messages call it. Raises ConfigErrors, with the nearest name."""
    path, mark = Path(name), Mark(source=name or "''")
    try:
        is_folder = path.is_dir()
        if path.exists() and not is_folder:
            return path, name
        yamls = sorted((path if is_folder else path.parent).glob("*.y*ml"))
    except (OSError, ValueError):  # too long for a file's name, or with a NUL in it
        is_folder, yamls = False, []
    known = _known()
    bundled = _pick(name.removesuffix(".yaml"), known)
    if bundled is not None:
        return bundled, str(bundled)
    if is_folder:
        hint = f"it holds {', '.join(other.name for other in yamls[:10])}" if yamls else None
        raise Problems().stop(mark, "this is a folder, expected a YAML file", hint)
    hint = did_you_mean(name, [*map(str, yamls), *known], list_all=False)
    if hint is None and known:
        hint = f"confml comes with {', '.join(known)}"
    raise Problems().stop(mark, "no such file, and no config of that name comes with confml", hint)


def _known() -> dict[str, Path]:
    try:
        return bundled_configs()
    except ConfmlError:  # a broken installation; a file of one's own can be run all the same
        return {}


def _pick(name: str, known: Mapping[str, Path]) -> Path | None:
    """The config of this name; the folder may be left out where that says which one."""
    if name in known:
        return known[name]
    below = [path for full, path in known.items() if full.rpartition("/")[2] == name]
    return below[0] if len(below) == 1 else None
