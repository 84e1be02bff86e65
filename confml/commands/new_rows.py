"""Checks of the files that ``confml predict`` reads."""

from pathlib import Path

import click


def check_source(source: str | None, new: str | None) -> None:
    """Raise UsageError for a table in the place of a config, DataError for a device or a pipe."""
    from confml.data.text_table import require_regular

    if source is None or not Path(source).is_file():
        if source is not None:
            require_regular(Path(source))
        return
    if {".csv", ".tsv", ".parquet", ".xlsx", ".gz", ".bz2", ".zst"} & set(Path(source).suffixes):
        raise click.UsageError(
            f"{source} is a table, and a config or a model is expected there; "
            f"confml predict --train {source} --label COLUMN {new or 'NEW'} fits to a table"
        )


def check_new(new: str) -> None:
    """Raise DataError, before anything is fitted, if there is no file of new rows, or it is a model."""
    from confml.data.text_table import file_error
    from confml.errors import DataError

    if new == "-":
        return
    if not Path(new).exists():
        raise file_error(Path(new), FileNotFoundError())
    if Path(new).suffix.lower() == ".confml":
        raise DataError(
            "expected a table of new rows, got a model file",
            where=new,
            hint=f"confml predict {new} NEW.csv predicts with it",
        )
