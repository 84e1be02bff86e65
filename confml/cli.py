"""The ``confml`` command: the command group, and the conversion of errors to messages and exit codes.

Exit codes: 0 done; 1 some cells failed, the report is written; 2 usage or config; 3 data missing or wrong;
70 internal error; 130 interrupted, results kept.
"""

from __future__ import annotations

import os
import sys

import click

from confml import __version__
from confml.commands.bayes_error import bayes_error
from confml.commands.bayes_error_estimators import bayes_error_estimators
from confml.commands.bayes_error_trials import bayes_error_trials
from confml.commands.compare import compare
from confml.commands.data import data
from confml.commands.describe import describe
from confml.commands.doctor import doctor
from confml.commands.init import init
from confml.commands.methods import methods
from confml.commands.options import InOrder
from confml.commands.plan import plan
from confml.commands.predict import predict
from confml.commands.report import report
from confml.commands.run import run
from confml.commands.schema import schema
from confml.commands.status import status
from confml.errors import ConfmlError, printable
from confml.terminal import use_fallbacks

SOFTWARE, INTERRUPTED = 70, 130


@click.group(
    cls=InOrder,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Data go to stdout, progress and messages to stderr. Exit codes: 0 done, 1 some cells failed, "
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


for command in (
    init,
    run,
    plan,
    status,
    report,
    compare,
    predict,
    bayes_error,
    bayes_error_trials,
    bayes_error_estimators,
    data,
    methods,
    describe,
    schema,
    doctor,
):
    cli.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run a command line and exit: the error boundary of confml."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    use_fallbacks()
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        code = cli.main(arguments, prog_name="confml", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        print("confml: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has closed it; this is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if debug:
            raise
        code, words = _explain(error)
        print(printable(words), file=sys.stderr)
        sys.exit(code)


def _explain(error: Exception) -> tuple[int, str]:
    if isinstance(error, ConfmlError):
        return error.exit_code, "\n".join(f"confml: {line}" for line in str(error).splitlines())
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return 2, f"confml: {place}{error.strerror}"
    if isinstance(error, MemoryError):
        return 1, "confml: out of memory; use fewer jobs (--jobs) or more memory; finished results are kept"
    words = f"confml: internal error: {type(error).__name__}: {error}"
    return SOFTWARE, f"{words}\nconfml: please report it with the output of --debug"
