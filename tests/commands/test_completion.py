"""Completion of command lines by the shell."""

import os
from pathlib import Path

import click
import processes
import pytest

from confml.cli import cli

ROOT = Path(__file__).parents[2]


def completed(text: str) -> list[str]:
    """Return the completions of a command line; a blank at the end begins a new word."""
    words = text.split()
    number = len(words) if text.endswith(" ") else len(words) - 1
    environment = {"COMP_WORDS": text, "COMP_CWORD": str(number), "_CONFML_COMPLETE": "bash_complete"}
    done = processes.confml(env={**os.environ, **environment}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("confml run quick", ["quickstart"]),
        ("confml plan configs/papers/tcm-nn/satellite.", ["configs/papers/tcm-nn/satellite.yaml"]),
        ("confml bayes-error five", ["five-gaussians"]),
        ("confml data fetch usp", ["usps"]),
        ("confml describe class-cov", ["class-coverage", "class-coverage.csv"]),
        ("confml predict --method tcm-n", ["tcm-nn"]),
    ],
)
def test_the_shell_completes_configs_data_sets_and_methods(text, expected):
    assert completed(text) == expected


def test_every_data_set_argument_is_completed():
    data = cli.get_command(click.Context(cli), "data")
    for name in ("info", "fetch", "check", "verify"):
        (argument,) = [one for one in data.commands[name].params if one.param_type_name == "argument"]
        assert argument._custom_shell_complete is not None, name
