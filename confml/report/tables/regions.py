"""``regions/``: the prediction of every test example."""

import functools
import gzip
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from confml._outputs import open_atomically
from confml.measures import Case
from confml.measures.martingales import online_p_values, power_martingale, simple_mixture
from confml.measures.p_values import has_counts
from confml.measures.regions import reasons
from confml.methods import BASELINE
from confml.report.files import field, fields, numbers, safe_name, safe_names, write_lines
from confml.report.region_columns import region_fields, score_fields, score_header
from confml.report.report import Report
from confml.report.run.results import RunResults, Split, Variant
from confml.report.tables.table import Files

STEPS = ("learnt", "log10_mixture_martingale", "log10_power_martingale")
MOST_BYTES = 10_000_000  # of a file that is not compressed


def write_variant(report: Report, variant: Variant) -> None:
    """Write a file for each view of a variant, but not of the baseline, whose rows are all alike."""
    if variant.splits[0].cell.method == BASELINE:
        return
    path = file_names(report.run)[variant.key]
    for view, splits in variant.views.items():
        ending = f".{safe_name(view)}.csv" if len(variant.views) > 1 else ".csv"
        path_of_view = write_lines(report.folder / f"regions/{path}{ending}", _lines(splits, variant))
        report.paths.append(_compressed(path_of_view))


@functools.lru_cache(maxsize=1)  # for each variant in turn
def file_names(run: RunResults) -> dict[tuple[str, str, str], str]:
    """Return the path below ``regions/`` of each variant's files by its key, without ending; all differ.

    Files are called as the config's label of a method, else as its name and parameters.
    """
    names: dict[tuple[str, str], str] = {}
    for cell in run.cells:
        label = run.config_label(cell.method, cell.params)
        name = f"{cell.method};{cell.variant}".strip(";") if label is None else ";".join(label.split())
        clashes = name in names.values() and (cell.method, cell.variant) not in names
        names.setdefault((cell.method, cell.variant), f"{cell.method};{cell.variant}" if clashes else name)
    datasets, files = safe_names(cell.dataset for cell in run.cells), safe_names(names.values())
    keys = {(cell.dataset, cell.method, cell.variant) for cell in run.cells}
    return {key: f"{datasets[key[0]]}/{files[names[key[1:]]]}" for key in keys}


def _compressed(path: Path) -> Path:
    """Return the path of a file, compressed if it is large."""
    if path.stat().st_size <= MOST_BYTES:
        return path
    target = path.with_name(f"{path.name}.gz")
    with path.open("rb") as file, open_atomically(target, durable=False) as raw:
        with gzip.GzipFile("", "wb", 1, raw, mtime=0) as compressed:  # the same rows give the same bytes
            shutil.copyfileobj(file, compressed)
    path.unlink()
    return target


def _lines(splits: list[Split], variant: Variant) -> Iterator[str]:
    """Yield the lines of a file; splits may have different classes."""
    levels, origins = variant.run.config.levels, variant.run.origins.get(variant.dataset)
    headers = (header_of(case, levels) for _, case in splits)
    header = list(dict.fromkeys(name for names in headers for name in names))
    for number, (result, case) in enumerate(splits):
        split, rows = result.cell.split, result.rows
        columns = {"split": [field(split)] * len(rows), "row": _whole(rows)}
        if origins is not None:
            identifying = origins.columns(rows, split, ["split", *header])
            columns |= {name: list(map(field, values.tolist())) for name, values in identifying.items()}
        names = [*columns, *header]
        if number == 0:
            yield ",".join(map(field, names))
        columns |= columns_of(case, levels)
        empty = [""] * len(rows)
        yield from map(",".join, zip(*(columns.get(name, empty) for name in names), strict=True))


def header_of(case: Case, levels: Sequence[float]) -> list[str]:
    """Return the names of `columns_of`."""
    header = ["label", *score_header(case.prediction)]
    if case.prediction.has_regions:
        header += [f"{name}@{float(level)!r}" for level in levels for name in ("region", "reason")]
    if has_counts(case.prediction):
        header.append("p_smoothed")
    return header if online_p_values(case) is None else [*header, *STEPS]


def columns_of(case: Case, levels: Sequence[float]) -> dict[str, list[str]]:
    """Return the columns of finished CSV fields of one view of a split, by name."""
    columns = {"label": fields(case.truth.tolist())}
    scores = score_fields(case.prediction, case.confidence)
    columns |= zip(score_header(case.prediction), scores, strict=True)
    classes = [str(label) for label in case.prediction.classes.tolist()]
    if case.prediction.has_regions:
        for level in map(float, levels):
            region = case.regions(level).labels
            columns[f"region@{level!r}"] = region_fields(region, classes)
            columns[f"reason@{level!r}"] = reasons(region).tolist()
    if has_counts(case.prediction):
        columns["p_smoothed"] = numbers(case.smoothed)
    if (p := online_p_values(case)) is not None:
        logs = numbers(simple_mixture(p)), numbers(power_martingale(p))
        columns |= zip(STEPS, (_whole(case.prediction.extra["learnt"]), *logs), strict=True)
    return columns


def _whole(values: np.ndarray) -> list[str]:
    return [str(value) for value in np.asarray(values).tolist()]


def write(report: Report) -> None:
    """Write the prediction of every test example: one file per data set and variant, or per view of it.

    The files are called as the labels of the config, or as method and parameters. Files above 10 MB are
    compressed (``.csv.gz``). In Python, ``confml.load_run(folder).regions(...)`` reads the predictions.

    ``split`` is the split, and ``row`` the number of the row from 0: in the test part for a fixed split, else
    in the whole data set after ``missing: drop``. ``line`` is the line of the file that the row was read from
    (of the test file for a test part), counted from 1 with the header. The columns of ``id:`` follow; use
    them to join other data. ``part`` is ``train`` or ``test`` if the parts of the provider are pooled,
    because lines are then those of two files. An identifier with the name of another column is called
    ``id.<name>``. Data without a file have no lines.

    ``label`` is the true label and ``prediction`` the predicted one. ``confidence``; ``credibility`` for
    p-values; a column ``p[<class>]``, ``prob[<class>]`` or ``margin[<class>]`` for each class;
    ``total_entropy``, ``expected_entropy`` and ``mutual_information`` in nats for the view reject of draws;
    ``sd[<class>]`` for a posterior; ``lower[<class>]`` and ``upper[<class>]`` for a Venn predictor;
    ``standard_error[<class>]``, the Monte Carlo error of the score, for draws and Markov chains.
    ``region@<level>``: labels of the region, joined by ``|``; a ``|`` or a backslash in a label is escaped
    with a backslash. ``reason@<level>``: ``certain`` (one label), ``ambiguous`` (several) or ``atypical``
    (none). Margins have no regions.

    ``p_smoothed`` for p-values with counts: (greater + tau equal) / N of the true label. N is the number of
    counted examples; greater and equal are the numbers with a greater and with an equal nonconformity score.
    ``ks_statistic`` in ``metrics.csv`` is its distance from the uniform distribution.

    Steps of an online pass: ``learnt`` (examples learnt before), and the decimal logarithms of the simple
    mixture and the power martingale.
    """


REGIONS = Files(
    "regions",
    {"regions": "prediction of every test example"},
    write,
    of_variant=write_variant,
)
