"""`Remedies`: the names of options in messages, as the caller can give them."""

from typing import NamedTuple


class Remedies(NamedTuple):
    """Names of options of a fit as the caller gives them (command, Python, config), or for a new fit.

    in_python: of `confml.predict`. in_config: the data set is one of a config. stored: the model comes from a
    file, so every option needs a new fit.
    """

    in_python: bool = False
    in_config: bool = False
    stored: bool = False

    def option(self, name: str, value: str | None = None) -> str:
        """Return an option as text, such as ``--conformal split`` or ``conformal="split"``."""
        if self.in_python:
            text = f"{name}={value!r}".replace("'", '"') if value else name
            text = "per_class=True" if name == "per_class" else text
        else:
            text = " ".join(filter(None, [f"--{name.replace('_', '-')}", value]))
        return f"a new fit with {text}" if self.stored else text

    def fill_in(self) -> str:
        """Return the remedy for new rows with missing values."""
        if self.in_config and not self.stored:
            return "missing: mean of the data set in the config fills in training means"
        verb = "fills in training means"
        return f"{self.option('missing', 'mean')} {verb}"


AT_COMMAND = Remedies()
