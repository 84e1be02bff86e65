"""``python -m confml.studies.reproduction TARGET [NAME=VALUE ...]``: execute a target of the Makefile.

The targets are those of ``targets.yaml``, and ``reproduction``, which writes the pages of published numbers
and claims from the stored tables. NAME is a variable such as SCALE or SHARD. ``--dry-run`` prints the
commands, ``--list`` the targets.
"""

import argparse
import sys
from collections.abc import Mapping

from confml.errors import ConfmlError
from confml.studies.reproduction import write_page
from confml.studies.reproduction.targets import REFERENCE, VARIABLES, plan, shown, targets


def main(arguments: list[str] | None = None) -> int:
    """Run with command-line arguments; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m confml.studies.reproduction", description=__doc__)
    parser.add_argument("target", nargs="?", default="reproduction", help="such as table-tcm-nn")
    parser.add_argument("variables", nargs="*", metavar="NAME=VALUE", help=", ".join(VARIABLES))
    parser.add_argument("--dry-run", action="store_true", help="print the commands without executing them")
    parser.add_argument("--list", action="store_true", help="print the targets")
    options = parser.parse_intermixed_args(arguments)
    if options.list:
        print("\n".join(f"{name}: {entry['about']}" for name, entry in targets().items()))
        return 0
    try:
        return _execute(options.target, _given(options.variables), options.dry_run)
    except ConfmlError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _given(variables: list[str]) -> dict[str, str]:
    pairs = dict(variable.partition("=")[::2] for variable in variables)
    if unknown := [name for name in pairs if name not in VARIABLES]:
        hint = f"the variables are {', '.join(VARIABLES)}"
        raise ConfmlError(f"unknown variable '{unknown[0]}'", hint=hint)
    return pairs


def _execute(target: str, given: Mapping[str, str], is_dry: bool) -> int:
    if target == "reproduction":
        print("\n".join(map(str, write_page(REFERENCE))))
        return 0
    actions = plan(target, given)
    if is_dry:
        print("\n".join(shown(actions)))
        return 0
    for action in actions:
        if code := action():
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
