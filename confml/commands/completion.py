"""Shell completion of data sets, methods, configs and the names of ``confml describe``.

click writes the scripts: ``eval "$(_CONFML_COMPLETE=bash_source confml)"``, or ``zsh_source``,
``fish_source``.
"""

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem


def complete_config(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return bundled configs, YAML files and folders that begin with ``incomplete``."""
    from confml.config.stages import bundled_configs

    return _items([*bundled_configs(), *_paths(incomplete, (".yaml", ".yml"))], incomplete)


def complete_dataset(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return cards and generators, or files if none begins with ``incomplete``."""
    from confml.data.cards import known_cards
    from confml.data.generators import GENERATORS

    return _items([*known_cards(), *GENERATORS], incomplete)


def complete_method(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return methods that begin with ``incomplete``."""
    from confml.methods.registry import methods

    return _items(methods.names(), incomplete)


def complete_described(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the names that ``confml describe`` knows."""
    from confml.report.described import known_types

    return _items([name for one in known_types().values() for name in one.names()], incomplete)


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    found = sorted({name for name in names if name.startswith(incomplete)})
    return [CompletionItem(name) for name in found] or [CompletionItem(incomplete, type="file")]


def _paths(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    """Return files with these endings, and folders with a slash at the end."""
    folder = Path(incomplete if incomplete.endswith("/") else incomplete.rpartition("/")[0] or ".")
    start = incomplete[: incomplete.rfind("/") + 1]
    try:
        entries = list(folder.iterdir())
    except OSError:
        return []
    return [
        f"{start}{entry.name}{'/' if entry.is_dir() else ''}"
        for entry in entries
        if not entry.name.startswith(".") and (entry.suffix in endings or entry.is_dir())
    ]
