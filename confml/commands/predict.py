"""``confml predict``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from confml.commands.completion import complete_config, complete_dataset, complete_method
from confml.commands.options import (
    TABLE_KEYS,
    allow_import_option,
    parameters,
    quiet_option,
    say,
    set_option,
    table_options,
    table_spec,
)

SCALES = ("standardise", "min-max", "row-standardise", "none")
OF_CONFIG = {"overrides": "--set", "dataset": "--dataset"}


@click.command()
@click.argument("files", nargs=-1, metavar="[CONFIG] NEW", required=True, shell_complete=complete_config)
@click.option("--train", metavar="FILE", help="A table file with labelled rows, in place of CONFIG.")
@table_options
@click.option(
    "--scale", type=click.Choice(SCALES), help="Scaling of features, with --train.  [default: standardise]"
)
@click.option(
    "--dataset",
    metavar="NAME",
    shell_complete=complete_dataset,
    help="The data set of CONFIG.  [default: the only one]",
)
@set_option
@allow_import_option
@click.option(
    "--method",
    metavar="NAME",
    shell_complete=complete_method,
    help="A method of CONFIG, by its name or label; any method with --train.  "
    "[default: the only one; tcm-nn]",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method; may be repeated.",
)
@click.option("--conformal", type=click.Choice(["split", "cross"]), help="Make the method conformal.")
@click.option(
    "--per-class", is_flag=True, help="Label-conditional p-values: the guarantee holds for each class."
)
@click.option("--view", metavar="NAME", help="View of the method.  [default: the first one with regions]")
@click.option(
    "--level",
    "levels",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    multiple=True,
    help="Significance level; may be repeated.  [default: the levels of CONFIG; 0.01, 0.05 and 0.1]",
)
@click.option("--no-empty", is_flag=True, help="An empty region becomes the label of the largest p-value.")
@click.option(
    "--explain",
    type=click.IntRange(1),
    metavar="N",
    help="List the N nearest training rows of the predicted and of the runner-up class.",
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write the CSV there."
)
@quiet_option
def predict(files: tuple[str, ...], quiet: bool, **options: Any) -> None:
    """Predict new rows, with a region for each significance level.

    NEW is a table file (CSV, .parquet, .xlsx), or - for CSV on standard input. Columns are matched by name.
    Labels are not needed; if there are any, they are scored. CONFIG names the data set, steps and methods;
    the method is fitted to the whole data set (under fixed-split to its training part). With --train and
    --label no config is needed: features are standardised, and tcm-nn with k = 1 predicts.

    The output is a CSV file with one row per new row, in their order: line of the file, identifiers, label
    (if there is one), prediction, confidence, credibility, p[class] or prob[class], and for each level
    region@0.05 (labels joined by |) and reason@0.05 (certain, ambiguous or atypical). --explain adds the
    runner-up, lines and distances of the nearest training rows, and features@predicted, the features in which
    a row differs most from the nearest one of the predicted class. The guarantee is printed on stderr.

    \b
    confml predict loans.yaml new.csv --method tcm-nn --out regions.csv
    confml predict --train loans.csv --label default new.csv --missing mean
    zcat new.csv.gz | confml predict loans.yaml - --level 0.05 --explain 3
    """
    from confml.predictions import LEVELS, Choice, Model, Output, Summary, predict_new

    new = _new_file(files, options["train"])
    _check_exists(new)
    config = _config(files, options)
    choice = Choice(
        dataset=options["dataset"],
        method=options["method"],
        params=parameters(options["params"]),
        conformal=options["conformal"],
        per_class=options["per_class"],
        view=options["view"],
    )
    tell = (lambda text: None) if quiet else say
    model = Model(config, choice, None, tell)
    for note in model.data.notes:
        tell(f"note: {note}")
    output = Output(options["levels"] or model.levels or LEVELS, options["no_empty"], options["explain"] or 0)
    summary = Summary(model, output.levels)
    with _destination(options["out"]) as file:
        for number, batch in enumerate(
            predict_new(model, _tables(new, model, options), output, summary, tell)
        ):
            header, columns = batch.csv()
            if number == 0:
                file.write(f"{','.join(map(_field, header))}\n".encode())
            file.writelines(f"{','.join(fields)}\n".encode() for fields in zip(*columns, strict=True))
    for text in summary.notes():
        tell(f"warning: {text}")
    tell(" ".join(summary.sentences()))
    if score := summary.score():
        tell(score)
    if options["out"] is not None:
        tell(f"{summary.rows} {'row' if summary.rows == 1 else 'rows'} in {options['out']}")


def _new_file(files: tuple[str, ...], train: str | None) -> str:
    """The last argument, the file of new rows."""
    expected = 1 if train is not None else 2
    if len(files) == expected:
        return files[-1]
    if train is not None:
        raise click.UsageError(f"with --train there is one argument, the file of new rows; got {len(files)}")
    if len(files) == 1:
        raise click.UsageError(
            "a config and a file of new rows are needed: confml predict CONFIG NEW; "
            "without a config: confml predict --train FILE --label COLUMN NEW"
        )
    raise click.UsageError(f"two arguments are expected, CONFIG and NEW; got {len(files)}")


def _check_exists(new: str) -> None:
    """Raise DataError, before anything is fitted, if there is no file of new rows."""
    from confml.data.text_table import file_error

    if new != "-" and not Path(new).exists():
        raise file_error(Path(new), FileNotFoundError())


def _config(files: tuple[str, ...], options: dict[str, Any]) -> Any:
    """The config of the command line, or the one that --train stands for."""
    from confml.config import load_config, make_config
    from confml.predictions import LEVELS, config_values

    if options["train"] is None:
        of_table = (*(key for key in TABLE_KEYS if key not in ("separator", "encoding")), "scale")
        for key in of_table:
            if options[key] is not None:
                raise click.UsageError(
                    f"--{key} goes with --train; a config says it itself (--set overrides)"
                )
        return load_config(files[0], options["overrides"])
    for key, option in OF_CONFIG.items():
        if options[key]:
            raise click.UsageError(f"{option} goes with a config, not with --train")
    scale = options["scale"] or "standardise"
    spec = table_spec(options["train"], options)
    values = config_values(
        spec,
        options["method"] or "tcm-nn",
        steps=[] if scale == "none" else [scale],
        levels=options["levels"] or LEVELS,
    )
    return make_config(values, where="confml predict")


def _tables(new: str, model: Any, options: dict[str, Any]) -> Iterator[Any]:
    from confml.data.table_chunks import table_chunks

    stream = sys.stdin.buffer if new == "-" else None
    return table_chunks(
        "standard input" if new == "-" else new,
        stream,
        separator=options["separator"],
        encoding=options["encoding"],
        expected=model.coder.columns,
    )


@contextlib.contextmanager
def _destination(path: Path | None) -> Iterator[BinaryIO]:
    """Standard output, or a file that is there when it is complete."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _field(name: str) -> str:
    from confml.report.files import field

    return field(name)
