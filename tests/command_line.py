"""The command line in the process of the tests."""

from click.testing import CliRunner, Result

from confml.cli import cli
from confml.errors import ConfmlError


def invoke(*arguments: object, stdin: str | bytes | None = None) -> Result:
    """Return what a command line wrote, its exit code, and its exception."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=stdin)


def command(*arguments: object, stdin: str | bytes | None = None) -> Result:
    """Return what a command line wrote, which must succeed."""
    result = invoke(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.exception or result.output
    return result


def refusal(*arguments: object) -> ConfmlError:
    """Return the error that a command line ends with."""
    error = invoke(*arguments).exception
    assert isinstance(error, ConfmlError), error
    return error
