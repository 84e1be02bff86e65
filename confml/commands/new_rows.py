"""Files of ``confml predict``: new rows, and the answers about them."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from confml.commands.common import first_given

TABLES = {".csv", ".tsv", ".parquet", ".xlsx", ".gz", ".bz2", ".zst"}


def arguments(files: tuple[str, ...], options: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the config or model, None with --train, and the file of new rows, None if the model is saved
    only.

    Raises UsageError for other numbers of files and a table in the place of a config, and DataError for files
    that are not there, before anything is fitted.
    """
    from confml.data.table_files import file_error, require_regular
    from confml.errors import DataError

    train = options["train"] is not None
    source, *paths = [None, *files] if train else files or ("",)
    if len(paths) > 1:
        expected = "two arguments are expected, CONFIG and NEW"
        expected = "with --train there is one argument, the file of new rows" if train else expected
        raise click.UsageError(f"{expected}; got {len(files)}")
    if source == "" or not (paths or options["save"] is not None):
        raise click.UsageError(
            "a config (or a model) and a file of new rows are needed: confml predict CONFIG NEW; "
            "without a config: confml predict --train FILE --label COLUMN NEW"
        )
    new = paths[0] if paths else None
    if source is not None:
        require_regular(Path(source))
        if Path(source).is_file() and TABLES & set(Path(source).suffixes):
            raise click.UsageError(
                f"{source} is a table, expected a config or a model; "
                f"confml predict --train {source} --label COLUMN {new or 'NEW'} fits to a table"
            )
    if new is None and (option := first_given("out", "explain", "costs", "drift", "digits", "as_json")):
        raise click.UsageError(f"{option} is for predictions of new rows, and there is no file NEW")
    if new not in (None, "-") and not Path(new).exists():
        raise file_error(Path(new), FileNotFoundError())
    if new is not None and Path(new).suffix.lower() == ".confml":
        hint = f"confml predict {new} NEW.csv predicts with it"
        raise DataError("expected a table of new rows, got a model file", where=new, hint=hint)
    return source, new


def check_outputs(inputs: Iterable[Any], options: dict[str, Any]) -> None:
    """Raise ConfmlError for an output that is an input, or a file that confml did not make."""
    from confml import _outputs
    from confml.predictions.store import is_model_file
    from confml.predictions.writers import JSON_START

    kinds = {
        "out": lambda path: (
            {"prediction", "confidence"} <= set(_header(path)) or _header(path) == [JSON_START]
        ),
        "save": is_model_file,
    }
    outputs = [(options[key], is_ours) for key, is_ours in kinds.items() if options[key] is not None]
    _outputs.check_outputs(outputs, [source for source in inputs if source is not None], options["force"])


def _header(path: Path) -> list[str]:
    with path.open("rb") as file:
        return file.readline(1 << 16).decode("utf-8", "replace").rstrip("\n").split(",")


def tables_of(new: str, model: Any, options: dict[str, Any]) -> Iterator[Any]:
    from confml.data.table_files import table_chunks

    stream = sys.stdin.buffer if new == "-" else None
    return table_chunks(
        "standard input" if new == "-" else new,
        stream,
        rows=model.chunk_rows,
        encoding=options["encoding"],
        expected=model.coder.columns,
        usual=model.coder.csv_format,
        sheet=options["sheet_of_new"],
    )


def divide_sheet(new: str | None, options: dict[str, Any]) -> None:
    """Give ``--sheet`` to those of the training file and the new rows that are workbooks."""
    from confml.data.table_files import FRAMES

    sheet, train = options["sheet"], options["train"]
    new_is_book, train_is_book = (Path(file or "").suffix.lower() in FRAMES for file in (new, train))
    options["sheet_of_new"] = sheet if new_is_book or not train_is_book else None
    options["sheet"] = sheet if train_is_book or not new_is_book else None


@contextlib.contextmanager
def destination(path: Path | None) -> Iterator[BinaryIO]:
    """Open standard output, or a file that appears when it is complete."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from confml._outputs import open_atomically, remove_abandoned_files

    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned_files(path.parent)
    with open_atomically(path) as file:
        yield file
