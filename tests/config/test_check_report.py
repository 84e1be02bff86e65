"""Figures and tables that a config names."""

from config.cases import messages

from confml.config import load_config
from confml.plugins.parameters import BadValue, UnknownParameter


def test_options_of_figures_are_checked_by_the_caller(full):
    def check(name, options):
        if options.get("view") == "vote":
            raise BadValue(f"figure '{name}'", "view", "vote", "one of p-value", hint="change it")
        if options.get("view") == "p-value":
            raise UnknownParameter(f"figure '{name}'", "view", hint="it has none")

    assert messages(load_config, full, check_figure=check) == [
        f"{full}:22:48: figure 'error-against' has no parameter 'view'; it has none",
        f"{full}:22:86: figures.2.view: expected one of p-value, got 'vote'; change it",
    ]
