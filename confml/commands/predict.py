"""``confml predict``."""

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from confml.commands import common, new_rows
from confml.commands.common import say, say_unless

RATE = click.FloatRange(0, 1, min_open=True, max_open=True)
OF_FORMAT = ("encoding", "decimal", "sheet")  # of the file of new rows too
OF_TABLE = ("label", "id", "nominal", "ignore", "missing")
OF_CONFIG = ("overrides", "dataset")
OF_FIT = (*OF_CONFIG, "method", "params", "conformal", "mondrian", "risk", "selection_part", *OF_TABLE)


@click.command()
@click.argument("files", nargs=-1, metavar="[CONFIG|MODEL] NEW")
@click.option("--train", metavar="FILE", help="A table file with labelled rows, in place of CONFIG.")
@functools.partial(common.table_options, keys=(*OF_TABLE, *OF_FORMAT))
@click.option("--dataset", metavar="NAME", help="The data set of CONFIG.  [default: the only one]")
@common.set_option
@common.allow_import_option
@click.option(
    "--method", metavar="NAME",
    help="A method of CONFIG, by its name or label; any method with --train.  "
    "[default: the only one, or the one that the run recommends; with --train tcm-nn]",
)  # fmt: skip
@click.option(
    "--param", "params", multiple=True, metavar="NAME=VALUE",
    help="A parameter of the method; may be repeated.",
)  # fmt: skip
@click.option("--conformal", type=click.Choice(["split", "cross", "oob"]), help="Make the method conformal.")
@click.option(
    "--mondrian", is_flag=True, help="Label-conditional p-values: the guarantee holds for each class."
)
@click.option(
    "--level", "levels", type=RATE, multiple=True,
    help="Significance level; may be repeated.  [default: those of CONFIG; with --train 0.01, 0.05, 0.1]",
)  # fmt: skip
@click.option(
    "--digits", type=click.IntRange(1, 17), metavar="N",
    help="Significant digits of numbers in the CSV file; 17 gives all digits.  [default: 4]",
)  # fmt: skip
@click.option(
    "--explain", type=click.IntRange(1), metavar="N",
    help="List the N nearest training rows of the predicted and of the runner-up class.",
)  # fmt: skip
@click.option(
    "--costs", metavar="FILE",
    help="Costs of decisions (.yaml or .csv): adds the decision of least expected cost.",
)  # fmt: skip
@click.option(
    "--risk", type=RATE,
    help="Largest error probability of an accepted row, with probability 0.95; a certified threshold decides "
    "which rows are accepted.",
)  # fmt: skip
@click.option(
    "--selection-part", type=RATE, metavar="SHARE",
    help="Share of the training rows that only fit steps and select parameters.",
)  # fmt: skip
@click.option(
    "--drift", is_flag=True, help="Test without labels whether NEW has the distribution of the training rows."
)
@click.option("--save", type=common.FILE, metavar="FILE", help="Write the fitted model to FILE.")
@click.option(
    "--trust", multiple=True, metavar="TYPE",
    help="A type that skops may write or read, besides those that it trusts; reading executes its code. "
    "May be repeated.",
)  # fmt: skip
@click.option("--out", type=common.FILE, metavar="FILE", help="Write the CSV file to FILE.")
@common.force_option
@common.json_option
@common.quiet_option
def predict(files: tuple[str, ...], quiet: bool, **options: Any) -> None:
    """Predict new rows, with a region for each significance level.

    NEW is a table file (CSV, .parquet, .xlsx), or - for CSV on standard input. Columns are matched by name.
    Labels are not needed; if there are any, the predictions are scored.

    CONFIG names the data set, steps and methods. The method is fitted to the whole data set (with fixed-split
    to its training part). Without --method, it is the method that the finished run of CONFIG recommends.
    With --train and --label no config is needed: features are standardised, and tcm-nn with k = 1 predicts.
    confml init writes a config for further settings of a table.

    --save writes the fitted model to a file. MODEL is such a file: it gives the same bytes without a fit.
    Without NEW, the model is fitted and saved. Loading a model executes no code of the file. Some classifiers
    need --trust for their types, when the model is written and when it is read.

    The output is a CSV file with one row per new row, in their order. A line without any value is no row. The
    columns are the line of the file, identifiers, label (if NEW has one), prediction, confidence,
    credibility, and p[class] or prob[class]. For each level there are region@0.05 (labels joined by |) and
    reason@0.05 (certain, ambiguous or atypical). --explain adds the runner-up, and lines and distances of the
    nearest training rows. It also adds features@predicted, the features that differ most from the nearest row
    of the predicted class. With --missing mean, filled lists the features of a row that are filled in from
    the training rows. Numbers have four significant digits, and more if rounded ones would contradict a
    region; --digits changes this, and --json has all digits. The guarantee is printed on stderr in two lines,
    which confml describe guarantee explains.

    A CSV file NEW is read with the encoding, separator and decimal mark of the training file. --encoding,
    --decimal and --sheet describe NEW, and with --train also the training file.

    --costs adds prob[class], the expected cost of each decision, decision and expected_cost. The file is YAML
    such as {matrix: {good: {bad: 1}, bad: {good: 5}}, abstain: 0.8}. The outer keys are true classes, the
    inner keys predictions. It can also be CSV with one line per true class. The decision is abstain if that
    costs less than every class. The method needs probabilities. The costs of constant decisions are printed.
    With labels, the realised cost is tested against the expected cost. The default is costs: of CONFIG.

    --selection-part 0.3 fits steps and selects parameters on 30 % of the training rows. The method computes
    p-values from the other rows, and the guarantee holds for any number of rows. Without this option, the
    guarantee is approximate with steps and tune, unless the method is conformal.

    --risk adds accepted. With probability 0.95 over the held-out rows, no threshold is certified or an
    accepted row is wrong with probability at most RISK. Without a threshold no row is accepted. The threshold
    is tested on 30 % of the training rows, which the method is not fitted to.

    --drift tests each feature. It also tests all features together, by a classifier that separates new rows
    from training rows.

    \b
    confml predict loans.yaml new.csv --method tcm-nn --out regions.csv
    confml predict --train loans.csv --label default new.csv --missing mean
    confml predict loans.yaml --save loans.confml
    confml predict loans.confml new.csv --explain 3
    zcat new.csv.gz | confml predict loans.confml - --level 0.05
    """
    from confml.config.costs import read_costs
    from confml.data.text_table import counted
    from confml.predictions.batch import Output
    from confml.predictions.default_config import LEVELS
    from confml.predictions.rounding import DIGITS
    from confml.predictions.store import save_model
    from confml.predictions.summary import Summary
    from confml.predictions.writers import csv_lines, json_lines

    if options["out"] == Path("-"):  # standard output, as without --out
        options["out"] = None
    source, new = new_rows.arguments(files, options)
    new_rows.divide_sheet(new, options)
    inputs = [source, "/dev/stdin" if new == "-" else new, options["train"], options["costs"]]
    new_rows.check_outputs(inputs, options)
    if options["save"] is not None:
        options["save"].parent.mkdir(parents=True, exist_ok=True)
    costs = None if options["costs"] is None else read_costs(options["costs"])
    inform = say_unless(quiet)
    with warnings.catch_warnings(record=True) as caught:
        model = _model(source, options, inform)
    with model.errors_of_file():
        for text in dict.fromkeys(
            f"{warning.category.__name__}: {' '.join(str(warning.message).split())}" for warning in caught
        ):
            say(f"warning: {model.facts.method}: {text}")
        for note in (*model.facts.notes, *model.notes):
            say(f"note: {note}")
        if options["save"] is not None:
            save_model(model, options["save"], options["trust"])
            inform(f"wrote the model of {model.facts.method} to {options['save']}")
        if new is None:
            return
        if options["decimal"] is not None:
            model.coder = model.coder.with_decimal(options["decimal"])
        levels = options["levels"] or model.facts.levels or LEVELS
        summary = Summary(model, Output(levels, options["explain"] or 0, costs, options["drift"]))
        batches = summary.answers(new_rows.tables_of(new, model, options), say)
        digits = options["digits"] or DIGITS
        with new_rows.destination(options["out"]) as file:
            lines = json_lines(batches, summary.facts) if options["as_json"] else csv_lines(batches, digits)
            file.writelines(lines)
        for text in summary.warnings():
            say(f"warning: {text}")
        for line in summary.lines():
            inform(line)
        for name, finding in summary.check.tests().items():
            if name in ("classifier", "features") and not finding.differs:
                say(finding.text)
        if options["out"] is not None:
            inform(f"wrote {counted(summary.check.rows, 'row')} to {options['out']}")


def _model(source: str | None, options: dict[str, Any], inform: Callable[[str], None]) -> Any:
    """Return the model of a file, or one that is fitted."""
    from confml.predictions.batch import Output
    from confml.predictions.store import is_model_file, load_model

    if source is not None and is_model_file(source):
        if option := common.first_given(*OF_FIT):
            raise click.UsageError(
                f"{option} cannot be combined with a fitted model ({source}); "
                "it is an option of the fit that --save stores"
            )
        return load_model(source, options["trust"])
    from confml.predictions.recommended import recommended
    from confml.predictions.training import Choice, fit_model

    same = ("dataset", "method", "conformal", "mondrian", "risk", "selection_part")
    choice = Choice(params=common.parameters(options["params"]), **{key: options[key] for key in same})
    config, data = _config(source, options), None
    if source is not None:
        config, choice, data = recommended(config, choice, common.folder_of(config, None), inform)
        if options["levels"]:
            config = config.model_copy(update={"levels": Output(options["levels"]).levels})
    return fit_model(config, choice, data, inform)


def _config(source: str | None, options: dict[str, Any]) -> Any:
    """Return the config of the command line, or the one that --train stands for."""
    from confml.config import load_config, make_config
    from confml.errors import ConfigErrors
    from confml.predictions.default_config import LEVELS, config_values

    if source is not None:
        if option := common.first_given(*OF_TABLE):
            raise click.UsageError(f"{option} needs --train; with a config, use --set")
        config = load_config(source, options["overrides"])
        new_rows.check_outputs(common.inputs_of(config), options)
        return config
    if option := common.first_given(*OF_CONFIG):
        raise click.UsageError(f"{option} needs a config, and cannot be combined with --train")
    spec = common.table_spec(options["train"], options)
    params = common.parameters(options["params"])
    if options["conformal"] is not None:
        params["conformal"] = options["conformal"]
    values = config_values(spec, options["method"] or "tcm-nn", params, levels=options["levels"] or LEVELS)
    try:
        return make_config(values, where="")
    except ConfigErrors as errors:
        prefixes = {"datasets.0.": "--", "methods.0.params.": "--param "}
        for error in errors.errors:
            for prefix, option in prefixes.items():
                if error.message.startswith(prefix):
                    error.message = option + error.message.removeprefix(prefix)
        raise ConfigErrors(errors.errors) from None
