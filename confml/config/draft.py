"""`Draft`: a config between reading and use, with the positions of its values and the errors found so far."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from confml.config.part import Part
from confml.errors import ConfmlError, did_you_mean
from confml.plugins.parameters import BadValue, UnknownParameter
from confml.yaml import Located, got
from confml.yaml.located import Loc

Entry = TypeVar("Entry", bound=Part)


@dataclass
class Draft(Located):
    """The values of a config.

    folder: base of relative paths. default_name: name of a config without a name. path: the file, None for
    plain values.
    """

    folder: Path = field(default_factory=Path.cwd)
    default_name: str = "unnamed"
    path: Path | None = None

    def file(self, path: str) -> Path:
        """Return the absolute path of a file that the config names."""
        return Path(os.path.normpath(os.path.join(self.folder.absolute(), os.path.expanduser(path))))

    def name_of(self, loc: Loc) -> str:
        """Return a location as a dotted path, as in messages and ``--set``: ``methods.0.k``."""
        return ".".join(map(str, self.find(loc)[0]))

    def add(self, loc: Loc, message: str, hint: str | None = None, *, at_key: bool = False) -> None:
        """Note an error at the value (or the key) of a location; its dotted path begins the message."""
        path = self.name_of(loc)
        self.say(loc, f"{path}: {message}" if path else message, hint, at_key=at_key)

    def say(self, loc: Loc, message: str, hint: str | None = None, *, at_key: bool = False) -> None:
        """Note an error whose message already names its subject."""
        self.problems.add(self.mark_of(loc, at_key=at_key), message, hint)

    def line(self, loc: Loc, *, at_key: bool = True) -> str:
        """Return `` on line 3``, or no text for a value without a line."""
        line = self.mark_of(loc, at_key=at_key).line
        return f" on line {line}" if line else ""

    def entry_text(self, loc: Loc) -> str:
        """Return an entry of a list as text: ``methods.0 on line 3``."""
        return f"{loc[0]}.{loc[1]}{self.line(loc, at_key=False)}"

    def entries(self, model: type[Entry], key: str) -> Iterator[tuple[Loc, Entry]]:
        """Iterate over (location, entry) for the entries of a list that have the right form.

        `validate` notes the errors of the others.
        """
        listed = self.values.get(key)
        for index, value in enumerate(listed if isinstance(listed, list) else ()):
            with contextlib.suppress(ValidationError):
                yield (key, index), model.model_validate(value, by_alias=True, by_name=False)

    def section(self, model: type[Entry], key: str) -> Entry | None:
        """Return a mapping of the config, or None if it is not given or does not have the right form."""
        with contextlib.suppress(ValidationError):
            return model.model_validate(self.values.get(key), by_alias=True, by_name=False)
        return None

    def add_error(self, error: ConfmlError, parameter: str, value: Any, loc: Loc) -> None:
        """Note the error that a registry raises for one parameter or option."""
        if isinstance(error, UnknownParameter):
            loc = loc[:-1] if isinstance(loc[-1], int) else loc
            self.say(loc, error.message, error.hint, at_key=True)
        elif isinstance(error, BadValue) and error.parameter == parameter:
            self.add(loc, f"expected {error.expected}, got {got(value)}", error.hint)
        else:
            self.add(loc, error.message, error.hint)

    @contextlib.contextmanager
    def noting(self, loc: Loc, prefix: str = "") -> Iterator[None]:
        """Note a `ConfmlError` of the block at a location."""
        try:
            yield
        except ConfmlError as error:
            self.add(loc, f"{prefix}{error.message}", error.hint)

    def check_each(self, loc: Loc, params: Mapping[str, Any], check: Callable[[dict], object]) -> None:
        """Note the error that ``check`` raises for each of the parameters at a location."""
        for name, value in params.items():
            try:
                check({name: value})
            except ConfmlError as error:
                self.add_error(error, name, value, (*loc, name))

    def check_file(self, loc: Loc, path: str) -> Path:
        """Return the absolute path of a file; note an error if there is no regular file."""
        from confml.data.table_files import require_regular

        file = self.file(path)
        if os.path.isdir(file):
            self.add(loc, f"{file} is a folder, expected a file")
        elif not os.path.exists(file):
            siblings = [sibling.name for sibling in file.parent.glob("*")]
            hint = did_you_mean(file.name, siblings, list_all=False)
            self.add(loc, f"there is no file {file}", hint or "paths count from the config's folder")
        else:
            with self.noting(loc, f"{file}: "):
                require_regular(file)
        return file

    def same_key_twice(self, loc: Loc) -> None:
        """Note parameters that are given twice, once spelled with - and once with _."""
        spellings: dict[str, str] = {}
        _, parent, params = self.find(loc)
        for key in params if isinstance(params, dict) else ():
            first = spellings.setdefault(key.replace("-", "_"), key)
            if first != key:
                mark = self.marks.get((*parent, key), (self.mark,))[0]
                self.problems.add(mark, f"'{key}' is the same parameter as '{first}', already given")
