"""Find the file of a config by its path or, for a bundled config, by its name."""

from collections.abc import Mapping
from pathlib import Path

from confml._version import resource_folder
from confml.data.cards import known_cards
from confml.data.table_files import is_table_name
from confml.errors import ConfmlError, did_you_mean
from confml.yaml import Mark, Problems


def bundled_configs() -> dict[str, Path]:
    """Return the bundled configs by name; names in a subfolder contain it: papers/kubat/rates."""
    folder = resource_folder("configs")
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.yaml"))
    }


def find_config(name: str) -> tuple[Path, str]:
    """Return the file of a config and its name in messages; raise ConfigErrors if there is none."""
    path, mark = Path(name), Mark(source=name or "''")
    file = None
    hint: str | None
    try:
        is_folder = path.is_dir()
        if path.exists() and not is_folder:
            file = path
        yamls = sorted((path if is_folder else path.parent).glob("*.y*ml"))
    except (OSError, ValueError):  # the name is too long, or contains NUL
        is_folder, yamls = False, []
    if file is not None:
        if is_table_name(name):
            hint = f"confml init {name} --label COLUMN --out {path.stem}.yaml writes one"
            raise Problems().stop(mark, "this is a table file, expected a config", hint)
        return file, name
    known = _known()
    bundled = _pick(name.removesuffix(".yaml"), known)
    if bundled is not None:
        return bundled, str(bundled)
    if is_folder:
        hint = f"it holds {', '.join(other.name for other in yamls[:10])}" if yamls else None
        raise Problems().stop(mark, "this is a folder, expected a YAML file", hint)
    if name in known_cards():
        hint = f"write a config with datasets: [{name}], methods: and protocol:, or confml run quickstart"
        raise Problems().stop(mark, f"'{name}' is a data set, expected a config", hint)
    hint = did_you_mean(name, [*map(str, yamls), *known], list_all=False)
    if hint is None and known:
        hint = f"confml comes with {', '.join(known)}"
    raise Problems().stop(mark, "no such file, and no config of that name comes with confml", hint)


def _known() -> dict[str, Path]:
    try:
        return bundled_configs()
    except ConfmlError:  # broken installation: config files can still be run
        return {}


def _pick(name: str, known: Mapping[str, Path]) -> Path | None:
    """Return the config of this name; folders may be omitted if the rest is unique."""
    if name in known:
        return known[name]
    below = [path for full, path in known.items() if name and full.endswith(f"/{name}")]
    return below[0] if len(below) == 1 else None
