"""Exceptions for errors that the user can correct."""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence


class ConfmlError(ValueError):
    """An error that the user can correct.

    message: one sentence, without a final full stop.
    where: the place, as ``file:line:column`` or ``file, row 3, column 'age'``; printed before the message.
    hint: the remedy; printed after the message.
    near: an unknown name, and the known names: the hint is `did_you_mean`, or if none is similar ``hint``,
    which is "" for no hint, or else all known names.
    It is a ``ValueError`` because scikit-learn's estimator checks expect one.
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        near: tuple[object, Iterable] | None = None,
    ):
        if near is not None:
            hint = did_you_mean(str(near[0]), near[1], list_all=hint is None) or hint or None
        self.message, self.where, self.hint = message, where, hint
        super().__init__(message, where, hint)

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}; {self.hint}" if self.hint else text

    def __reduce__(self):
        # The constructors differ, and errors of worker processes arrive pickled.
        return _restored, (type(self), self.args, self.__dict__)


class ConfigError(ConfmlError):
    """An error in a config, in a parameter or in an option of a command."""


class ConfigErrors(ConfigError):
    """All errors of one config, in the order of the file, as the tuple ``errors``."""

    def __init__(self, errors: Sequence[ConfigError]):
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in errors))


class DataError(ConfmlError):
    """Data that are missing, cannot be read, or differ from their card."""

    exit_code = 3


def _restored(cls: type[ConfmlError], args: tuple, state: dict) -> ConfmlError:
    error = cls.__new__(cls, *args)
    error.__dict__.update(state)
    return error


# Words of other tools, each with the name that confml has for it.
SYNONYMS = {
    **dict.fromkeys(("target", "class", "y", "response", "outcome", "label-column"), "label"),
    **dict.fromkeys(("file", "path", "data", "table"), "csv"),
    **dict.fromkeys(("sep", "delimiter"), "separator"),
    **dict.fromkeys(("drop", "exclude"), "ignore"),
    **dict.fromkeys(("categorical", "categories"), "nominal"),
    **dict.fromkeys(("cv", "cross-validation", "kfold", "crossval", "stratified-k-fold"), "k-fold"),
    **dict.fromkeys(("loo", "loocv"), "leave-one-out"),
    **dict.fromkeys(("split", "train-test-split", "train-test", "random-split"), "holdout"),
    **dict.fromkeys(("time", "temporal", "time-series-split"), "ordered"),
    **dict.fromkeys(("critical-difference", "cd-diagram", "nemenyi"), "ranks"),
    **dict.fromkeys(("classifiers", "models", "estimators", "algorithms"), "methods"),
    **dict.fromkeys(("preprocessing", "transformers", "pipeline"), "steps"),
    **dict.fromkeys(("alpha", "alphas", "significance", "significance-levels"), "levels"),
    **dict.fromkeys(("random-state", "random-seed"), "seed"),
    **dict.fromkeys(("n-splits", "k"), "folds"),
}


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the known name of the same meaning as ``name``, or the most similar one; None without any."""
    import difflib

    names = [str(candidate) for candidate in names]
    synonym = SYNONYMS.get(str(name).lower().replace("_", "-").replace(" ", "-"))
    if synonym in names:
        return synonym
    matches = difflib.get_close_matches(str(name), names, n=1, cutoff=0.6)
    if not matches:
        folded = {candidate.casefold(): candidate for candidate in names}
        matches = [folded[match] for match in difflib.get_close_matches(str(name).casefold(), folded, 1, 0.6)]
    return matches[0] if matches else None


def family(name: str, names: Iterable[str]) -> list[str]:
    """Return the known names that have ``name`` as a word, such as svm in ovo-svm, if there are several."""
    same = [candidate for candidate in names if name in candidate.split("-")]
    return same if len(same) > 1 else []


def did_you_mean(name: str, names: Iterable[str], *, list_all: bool = True) -> str | None:
    """Return a hint with the names of the same family, the most similar known name, or all known names."""
    names = [str(candidate) for candidate in names]
    if same := family(name, names):
        return f"did you mean one of {', '.join(same[:12])}?"
    match = nearest(name, names)
    if match is not None:
        return f"did you mean {in_quotes(match)}?"
    if list_all and names:
        return "there are " + ", ".join(names) if len(names) > 1 else f"there is {names[0]}"
    return None


def in_quotes(name: str) -> str:
    """Return a name in single quotes, or in double quotes if it has single quotes itself."""
    return f'"{name}"' if "'" in name else f"'{name}'"


def text_of(something: object) -> str:
    """Return ``str(something)``, or a text that says why there is none."""
    try:
        return str(something)
    except Exception as error:
        return f"<{type(something).__name__} whose text raises {type(error).__name__}>"


def printable(text: object, limit: int | None = None) -> str:
    """Return the text of any object in a form that is safe for a terminal, a CSV file and JSON.

    Control characters (including terminal escapes), marks that change the direction of writing and lone
    surrogates become escapes such as ``\\x1b``; line breaks and tabs are kept. A text of more than ``limit``
    characters is cut in the middle and states its length.
    """
    raw = text_of(text)
    if limit is not None and len(raw) > limit:
        half = limit // 2
        raw = f"{raw[:half]} ... ({len(raw)} characters) ... {raw[-half:]}"
    if raw.isascii() and raw.isprintable():
        return raw
    return _NOT_ASCII.sub(lambda match: _escaped(match[0]), raw)


_NOT_ASCII = re.compile(r"[^\n\t -~]")
_JOINERS = "\u200c\u200d"  # parts of words and signs, not marks of direction


def _escaped(character: str) -> str:
    """Return a character, or its escape: ``\\x1b``, and the form that JSON has too above ``\\x7e``."""
    if character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character
    if character < "\x7f":
        return character.encode("unicode_escape").decode("ascii")
    return json.dumps(character)[1:-1]
