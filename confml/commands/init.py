"""``confml init``."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from confml.commands.common import FILE, echo_json, json_option, say, table_options, table_spec

LARGE = 10_000_000  # bytes of a file whose reading is announced


@click.command()
@click.argument("file", metavar="FILE")
@table_options
@click.option(
    "--out", type=FILE, metavar="CONFIG", help="Output file; - prints it.  [default: <name of FILE>.yaml]"
)
@click.option("--force", is_flag=True, help="Replace an existing config.")
@json_option
def init(file: str, out: Path | None, force: bool, as_json: bool, **options: Any) -> None:
    """Write a commented config for a table file that runs as it is.

    FILE is a table file (CSV, .parquet, .xlsx) with --label. The config is written to the current folder
    under the name of the file. Identifiers, row numbers, dates, free text, and constant, nearly empty or
    copied columns are not features. A comment states the reason for each. Columns without numbers are
    categorical. Steps, methods, protocol and significance levels suit the file. If a class has
    less than a fifth of the rows, p-values are label-conditional (mondrian), so that each class has its own
    guarantee. Findings that need a decision go to stderr, and into the config as comments.

    \b
    confml init loans.csv --label default
    confml run loans.yaml
    confml predict loans.yaml new.csv
    """
    from confml._outputs import check_outputs, write_atomically
    from confml.config import make_config
    from confml.config.suggestion import suggest
    from confml.data.table_files import table_name
    from confml.errors import ConfigError

    if out == Path("-"):
        out = None
    elif out is None and not as_json:
        out = Path(f"{table_name(file)}.yaml")
    if out is not None:
        check_outputs([(out, lambda path: True)], [file])
        if out.exists() and not force:
            hint = "choose another name, or replace it with --force"
            raise ConfigError("the file exists", where=str(out), hint=hint)
    if Path(file).is_file() and Path(file).stat().st_size > LARGE:
        say(f"reading {file}, {Path(file).stat().st_size / 1e6:.0f} MB")
    draft = suggest(table_spec(file, options), None if out is None else out.parent)
    make_config(draft.config, folder=Path() if out is None else out.parent, where="")
    if as_json:
        report = {
            "config": draft.config,
            "rows": len(draft.data),
            "classes": {str(label): count for label, count in draft.data.class_counts().items()},
            "questions": draft.questions,
            "findings": [asdict(finding) for finding in draft.findings],
            "notes": list(draft.data.notes),
        }
        echo_json(report)
    elif out is None:
        print(draft.yaml(), end="")
    for question in draft.questions:
        say(f"to decide: {question}")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, draft.yaml().encode("utf-8"))
        say(f"wrote {out}; next: confml run {out}")
