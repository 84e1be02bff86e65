"""Options and click classes that several commands share."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from confml._json import to_json
from confml.errors import ConfigError, DataError, printable
from confml.terminal import StatusLine, echo


class InOrder(click.Group):
    """A command group that lists its commands in the order of the workflow."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


class Folder(click.Path):
    """The path of a folder, which may not exist yet; an empty text is an error."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value, param, ctx):
        if str(value) == "":
            self.fail("the name of a folder is empty", param, ctx)
        return super().convert(value, param, ctx)


FILE = click.Path(dir_okay=False, path_type=Path)
# Metavariable, or the possible values, and help of each option of a table file; --no-header has no value.
_TABLE_OPTIONS: dict[str, tuple[str | list[str], str]] = {
    "label": ("COLUMN", "Column of the class in a table file."),
    "id": ("COLUMNS", "Columns that identify a row; comma-separated."),
    "nominal": (
        "COLUMNS",
        "Columns of categories; comma-separated. Non-numeric columns are always categorical.",
    ),
    "ignore": ("COLUMNS", "Columns to leave out; comma-separated."),
    "missing": (["error", "drop", "mean"], "Treatment of missing values.  [default: error]"),
    "missing_values": (
        "TEXTS",
        'Texts of missing values; comma-separated, "" for none besides empty fields.  '
        "[default: ?, NA, nan, None and others]",
    ),
    "duplicates": (
        ["keep", "drop"],
        "Treatment of rows that repeat an earlier one, label included.  [default: keep]",
    ),
    "separator": ("MARK", "Separator between columns: a character, tab or blanks."),
    "encoding": ("NAME", "Encoding of the file if it is not UTF-8, such as latin-1."),
    "decimal": ("MARK", "Decimal mark: . or a comma."),
    "header": ("", "The file has no header; its columns are column-1, column-2, ..."),
    "sheet": ("NAME", "Sheet of a workbook.  [default: the first one]"),
    "thousands": ("MARK", "Separator of thousands.  [default: detected]"),
}
LISTS = ("id", "nominal", "ignore", "missing_values")
TABLE_KEYS = tuple(_TABLE_OPTIONS)  # keys of a data set in a config that are options of a table file


def table_options(command, keys: Sequence[str] = TABLE_KEYS):
    """Add the options of commands that take a table file, for some keys of a data set; see `table_spec`."""
    for key in reversed(keys):
        value, text = _TABLE_OPTIONS[key]
        name = f"--{key.replace('_', '-')}"
        settings: dict[str, Any] = {"metavar": value}
        if isinstance(value, list):
            settings = {"type": click.Choice(value)}
        elif not value:
            name, settings = "--no-header", {"flag_value": False, "default": None, "type": bool}
        command = click.option(name, key, help=text, **settings)(command)
    return command


def table_spec(path: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the specification of a table file for `confml.data.load`, from the values of `table_options`."""
    if options["label"] is None:
        raise ConfigError(f"{path} needs --label, the name of the column with the class")
    if not Path(path).is_file():
        raise DataError(f"{'not a regular' if Path(path).exists() else 'no such'} file", where=path)
    keys = {key: options[key] for key in (*TABLE_KEYS, "test") if options.get(key) is not None}
    keys |= {key: list(names_of(keys[key])) for key in LISTS if key in keys}
    return {"csv": path, **{key.replace("_", "-"): value for key, value in keys.items()}}


def names_of(text: str | None) -> tuple[str, ...]:
    """Return the comma-separated names of an option."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def first_given(*names: str) -> str | None:
    """Return the first option of these parameters that the command line has, None without any."""
    context = click.get_current_context()
    named = {name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    return next((param.opts[0] for param in context.command.params if param.name in named), None)


def named_or_table(dataset: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the specification of a card, a generator or a table file for `confml.data.load`."""
    from confml.data.cards import known_cards
    from confml.data.generators import GENERATORS

    names = [*known_cards(), *GENERATORS]
    if dataset not in names and (
        options["label"] is not None or Path(dataset).suffix or Path(dataset).is_file()
    ):
        return table_spec(dataset, options)
    if option := first_given(*TABLE_KEYS, "test"):
        raise ConfigError(f"{option} is for table files, and '{dataset}' is the name of a data set")
    if dataset not in names:
        text = f"there is no data set and no file '{dataset}'"
        raise ConfigError(text, near=(dataset, names), hint="confml data list shows them")
    return {"name": dataset} if dataset in known_cards() else {"name": dataset, "generate": dataset}


def parameters(texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of ``--param NAME=VALUE``: numbers, true, false and null as such, else text."""
    values: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ConfigError(f"--param expects NAME=VALUE, got '{text}'")
        name = name.replace("-", "_")
        values[name] = {"true": True, "false": False, "null": None}.get(value, value)
        for read in (float, int):  # an integer is also a float
            with contextlib.suppress(ValueError):
                values[name] = read(value)
    return values


config_argument = click.argument("config", metavar="CONFIG")
set_option = click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE",
    help="Override a value of the config, such as protocol.repeats=5; may be repeated.",
)  # fmt: skip
out_option = click.option(
    "--out", type=Folder(), metavar="DIR", help="The run's folder.  [default: results/<name of the config>]"
)


def _allow_imports(ctx: click.Context, param: click.Parameter, packages: tuple[str, ...]) -> None:
    """Permit the imports until the command ends."""
    if packages:
        from confml.plugins.imports import allow_imports

        ctx.with_resource(allow_imports(packages))


allow_import_option = click.option(
    "--allow-import", metavar="PACKAGE", multiple=True, expose_value=False, callback=_allow_imports,
    help="Allow classes of this package or module, such as xgboost; may be repeated. Importing it executes "
    "its code.  [default: scikit-learn alone]",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
all_option = click.option("--all", "everything", is_flag=True, help="Print all rows of the tables.")
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Random seed."
)
force_option = click.option("--force", is_flag=True, help="Replace files that confml did not make.")


def keeps_files(command):
    """Decorate a command that writes into the folder --out: it replaces no input, and others with --force."""

    @force_option
    @functools.wraps(command)
    def keeping(*args: Any, force: bool, **options: Any) -> Any:
        from confml._outputs import protected

        inputs = [options["dataset"]] if "dataset" in options else options.get("inputs", [])
        with protected(inputs, options["out"], force):
            return command(*args, **options)

    return keeping


quiet_option = click.option(
    "--quiet", "-q", is_flag=True, help="Hide progress and tables; warnings are still printed."
)


def inputs_of(config) -> list[Path | str]:
    """Return the files that a config is in and that it names."""
    named = [path for dataset in config.datasets for path in (dataset.csv, dataset.test) if path is not None]
    named += [path for entry in config.methods for _, path in entry.files() if isinstance(path, str)]
    return [*([] if config.path is None else [config.path]), *named]


def folder_of(config, out: Path | None) -> Path:
    """Return the folder of a run."""
    return out if out is not None else Path("results") / config.name


def echo_json(document: Any, indent: int | None = 1) -> None:
    """Print a document as JSON on stdout."""
    print(to_json(document, indent, default=str))


def say(text: str) -> None:
    """Print a message on stderr; control characters are escaped."""
    for line in printable(text).split("\n"):
        echo(line, err=True)


@contextlib.contextmanager
def status_of(results: Any, quiet: bool) -> Iterator[None]:
    """Show what the report of a run does at the moment on stderr, except with ``--quiet``."""
    if quiet:
        yield
        return
    results.status = StatusLine()
    try:
        yield
    finally:
        results.status.clear()


def say_unless(quiet: bool) -> Callable[[str], None]:
    """Return `say`, or with ``--quiet`` a function that prints nothing."""
    return (lambda text: None) if quiet else say
