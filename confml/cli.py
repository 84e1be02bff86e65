"""The ``confml`` command: the command group, and the conversion of errors to messages and exit codes.

Exit codes: 0 done; 1 some fits failed, the report is written; 2 usage or config; 3 data missing or wrong;
70 internal error; 130 interrupted, results kept.
"""

import contextlib
import importlib
import os
import sys
import threading
from typing import Any

import click

from confml._version import __version__
from confml.errors import ConfmlError, printable
from confml.terminal import echo, escape_controls, escape_missing_characters

SOFTWARE, INTERRUPTED = 70, 130

# Commands in the order of the workflow, with the first sentence of their help.
COMMANDS = {
    "init": "Write a commented config for a table file that runs as it is.",
    "run": "Run a config and write its reports.",
    "status": "Show the fits of RUN that are done, failed and left.",
    "report": "Rebuild tables, figures and the page of a run.",
    "compare": "Compare models on outcomes, or methods of runs.",
    "predict": "Predict new rows, with a region for each significance level.",
    "bayes-error": "Estimate the Bayes error of a data set.",
    "data": "List, describe, fetch and audit data sets.",
    "describe": "Describe a name, or list methods and steps.",
    "schema": "Print the JSON Schema of configs.",
    "doctor": "Show versions, threads, caches and data.",
}


class CommandLine(click.Group):
    """The group of all commands, each imported when it is used.

    The command ``bayes-error`` is the function ``bayes_error`` of the module of that name. ``commands`` has a
    command without options in place of each.
    """

    def __init__(self, **settings: Any):
        listed = [click.Command(name, help=text) for name, text in COMMANDS.items()]
        super().__init__(commands=listed, **settings)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        function = name.replace("-", "_")
        return getattr(importlib.import_module(f"confml.commands.{function}"), function)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:  # the reader of the output has closed it; this is not an error
            with contextlib.suppress(OSError, ValueError):  # click would exit with 1
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl([(name, cmd.get_short_help_str(limit)) for name, cmd in self.commands.items()])


@click.group(
    cls=CommandLine,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Data go to stdout, progress and messages to stderr. Exit codes: 0 done, 1 some fits failed, "
    "2 usage or config, 3 data missing or wrong, 130 interrupted (results are kept).",
)
@click.version_option(__version__, "--version", "-v", prog_name="confml")
@click.option("--debug", is_flag=True, help="Show the traceback of an error (works with every command).")
def cli(debug: bool) -> None:
    """Run and compare classifiers with a confidence for each single prediction.

    \b
    confml init my.csv --label y     a config for your own file
    confml run quickstart            the bundled example, without any download
    confml run my.yaml --jobs 4      your config, in parallel; run it again to resume
    confml predict my.yaml new.csv   regions for new rows
    confml describe tcm-nn           the documentation and parameters of a method
    """
    escape_controls(sys.stdout)


def main(arguments: list[str] | None = None) -> None:
    """Run a command line and exit: the error boundary of confml.

    A thread that a method left is not waited for.
    """
    code = _code_of(list(sys.argv[1:] if arguments is None else arguments))
    threads = set(threading.enumerate()) - {threading.main_thread(), threading.current_thread()}
    if all(thread.daemon for thread in threads):
        sys.exit(code)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _code_of(arguments: list[str]) -> int:
    """Run a command line, print its error, and return its exit code."""
    escape_missing_characters()
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    if debug:
        arguments.insert(0, "--debug")
    try:
        code = cli.main(arguments, prog_name="confml", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print("confml: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if debug:
            raise
        code, words = _explain(error)
        for line in printable(words).split("\n"):
            echo(line, err=True)
        return code


def _explain(error: Exception) -> tuple[int, str]:
    if isinstance(error, ConfmlError):
        return error.exit_code, "\n".join(f"confml: {line}" for line in str(error).splitlines())
    if isinstance(error, OSError) and error.strerror:
        prefix = f"{error.filename}: " if error.filename else ""
        return 2, f"confml: {prefix}{error.strerror}"
    if isinstance(error, MemoryError):
        return 1, "confml: out of memory; use fewer jobs (--jobs) or more memory; finished results are kept"
    words = f"confml: internal error: {type(error).__name__}: {error}"
    return SOFTWARE, f"{words}\nconfml: please report it with the output of --debug"
