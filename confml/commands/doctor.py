"""``confml doctor``."""

import os
import shutil

import click

from confml.commands.common import echo_json, json_option, say
from confml.terminal import echo

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@click.command()
@click.option("--warm", is_flag=True, help="Compile the kernels that few rows and default parameters need.")
@json_option
def doctor(warm: bool, as_json: bool) -> None:
    """Show versions, threads, caches and data.

    Use it when something is slow or missing, and include its output in bug reports.
    """

    import joblib

    from confml import _jit
    from confml.runner.provenance import provenance

    if warm:
        from confml.runner.warm import warm_all

        warm_all(say)
    facts = provenance() | {
        "compiler": shutil.which("g++") or shutil.which("clang++") or shutil.which("c++"),
        "threads": {"jobs by default": joblib.cpu_count()}
        | {name: os.environ[name] for name in THREADS if name in os.environ},
        "kernel cache": str(_jit.cache_dir()),
        "kernel cache is kept": _jit.is_cache_kept(),
        "kernels compiled": sum(1 for _ in _jit.cache_dir().rglob("*.nbc")),
        "data": _data(),
    }
    facts.pop("command")
    if as_json:
        echo_json(facts)
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {_word(part)}" for key, part in value.items())
        elif isinstance(value, list):
            value = "; ".join(", ".join(f"{key} {part}" for key, part in entry.items()) for entry in value)
        echo(f"{name}: {_word(value)}")


def _data() -> dict:
    """Return the data folders, the number of data sets found in them, and the missing ones."""
    from confml.data.cards import known_cards, read_card
    from confml.data.files import search_path, states

    cards = known_cards()
    missing = [name for name in cards if any(file.state != "found" for file in states(read_card(name)))]
    return {
        "folders": [str(folder) for folder in search_path()],
        "cards": len(cards),
        "present": len(cards) - len(missing),
        "missing": missing,
    }


def _word(value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
