"""Calls of ``confml bayes-error`` and of its relatives."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from confml.commands.bayes_error import bayes_error
from confml.errors import ConfmlError


def run(*arguments, command=bayes_error):
    """stdout and stderr of a command line that works."""
    result = CliRunner().invoke(command, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def refused(*arguments, command=bayes_error):
    with pytest.raises(ConfmlError) as caught:
        CliRunner().invoke(command, [str(one) for one in arguments], catch_exceptions=False)
    return caught.value
