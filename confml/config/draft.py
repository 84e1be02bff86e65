"""`Draft`: a config between its stages, with the positions of its values and the errors found so far."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from confml.config.part import Part
from confml.errors import ConfmlError, did_you_mean
from confml.plugins.parameters import BadValue, UnknownParameter
from confml.yaml import Mark, Node, Problems, got

Entry = TypeVar("Entry", bound=Part)
Place = Sequence[str | int]


@dataclass
class Draft:
    """A config that passes from stage to stage.

    root: the nodes as they were read. problems: the errors found so far. folder: base of relative paths.
    default_name: name of a config without a name. path: the file, None for plain values.
    """

    root: Node
    problems: Problems
    folder: Path
    default_name: str
    path: Path | None = None

    def name_of(self, place: Place) -> str:
        """Return a place as a dotted path, as in messages and ``--set``: ``methods.0.k``."""
        return ".".join(str(part) for part, _ in self.root.walk(place))

    def file(self, path: str) -> Path:
        """Return the absolute path of a file that the config names."""
        return Path(os.path.normpath(os.path.join(self.folder, os.path.expanduser(path))))

    def add(self, place: Place, message: str, hint: str | None = None, *, at_key: bool = False) -> None:
        """Note an error at the value (or the key) of a place; the message begins with the place."""
        path = self.name_of(place)
        self.say(place, f"{path}: {message}" if path else message, hint, at_key=at_key)

    def say(self, place: Place, message: str, hint: str | None = None, *, at_key: bool = False) -> None:
        """Note an error whose message already names its subject."""
        self.problems.add(self.mark(place, at_key=at_key), message, hint)

    def mark(self, place: Place, *, at_key: bool = False) -> Mark:
        node = self.root.at(place)
        return node.key_mark or node.mark if at_key else node.mark

    def line(self, place: Place, *, at_key: bool = True) -> str:
        """Return `` on line 3``, or no text for a value without a line."""
        line = self.mark(place, at_key=at_key).line
        return f" on line {line}" if line else ""

    def entry_text(self, place: tuple) -> str:
        """Return an entry of a list as text: ``methods.0 on line 3``."""
        return f"{place[0]}.{place[1]}{self.line(place, at_key=False)}"

    def part(self, model: type[Entry], place: Place) -> Entry | None:
        """Return the value at a place as a model, or None if it is not valid, which `validate` notes."""
        try:
            return model.model_validate(self.root.at(place).plain(), by_alias=True, by_name=False)
        except ValidationError:
            return None

    def entries(self, model: type[Entry], key: str) -> Iterator[tuple[tuple, Entry]]:
        """Iterate over (place, entry) for the valid entries of a list."""
        listed = self.root.child(key)
        for index in range(len(listed.content) if listed is not None and listed.is_list else 0):
            entry = self.part(model, (key, index))
            if entry is not None:
                yield (key, index), entry

    def section(self, model: type[Entry], key: str) -> Entry | None:
        """Return a mapping of the config, or None if it is not given or not valid."""
        node = self.root.child(key)
        return self.part(model, (key,)) if node is not None and node.content is not None else None

    def add_error(self, error: ConfmlError, parameter: str, value: Any, place: Place) -> None:
        """Note the error that a registry raises for one parameter or option."""
        if isinstance(error, UnknownParameter):
            place = place[:-1] if isinstance(place[-1], int) else place
            self.say(place, error.message, error.hint, at_key=True)
        elif isinstance(error, BadValue) and error.parameter == parameter:
            self.add(place, f"expected {error.expected}, got {got(value)}", error.hint)
        else:
            self.add(place, error.message, error.hint)

    def check_file(self, place: Place, path: str) -> Path:
        """Return the absolute path of a file; note it at its place if there is no regular file."""
        from confml.data.table_files import require_regular

        file = self.file(path)
        if os.path.isdir(file):
            self.add(place, f"{file} is a folder, expected a file")
        elif not os.path.exists(file):
            hint = did_you_mean(file.name, [other.name for other in file.parent.glob("*")], list_all=False)
            self.add(place, f"there is no file {file}", hint or "paths count from the config's folder")
        else:
            try:
                require_regular(file)
            except ConfmlError as error:
                self.add(place, f"{file}: {error.message}", error.hint)
        return file

    def same_key_twice(self, place: Place) -> None:
        """Note parameters that are given twice, once spelled with - and once with _."""
        node = self.root.at(place)
        seen: dict[str, str] = {}
        for key in node.content if node.is_mapping else ():
            name = key.replace("-", "_")
            if name in seen:
                mark = node.content[key].key_mark or node.mark
                self.problems.add(mark, f"'{key}' is the same parameter as '{seen[name]}', already given")
            seen[name] = key
