"""``regions/``: the prediction of every test example."""

import functools
import gzip
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from confml._outputs import open_atomically
from confml.measures import Case
from confml.measures.martingales import power_martingale, simple_mixture
from confml.measures.p_values import has_counts, is_online
from confml.measures.regions import reasons
from confml.methods import BASELINE
from confml.report.files import field, fields, numbers, safe_name, safe_names, write_lines
from confml.report.region_columns import region_fields, score_columns, score_header
from confml.report.report import Report
from confml.report.run.results import RunResults, Split, Variant
from confml.report.tables.table import Files

COUNTS = ("p_value", "n_greater", "n_equal", "tau", "n_counted", "p_smoothed")
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
        label = run.given_label(cell.method, cell.params)
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
    if has_counts(case.prediction) or is_online(case.prediction):
        header += COUNTS
    if is_online(case.prediction):
        header += [f"{name}@{float(level)!r}" for level in levels for name in ("size", "error", "errors")]
        header += STEPS
    return header


def columns_of(case: Case, levels: Sequence[float]) -> dict[str, list[str]]:
    """Return the columns of finished CSV fields of one view of a split, by name."""
    columns = {"label": fields(case.truth.tolist())}
    columns |= zip(*score_columns(case.prediction, case.confidence), strict=True)
    classes = [str(label) for label in case.prediction.classes.tolist()]
    if case.prediction.has_regions:
        for level in map(float, levels):
            region = case.regions(level).labels
            columns[f"region@{level!r}"] = region_fields(region, classes)
            columns[f"reason@{level!r}"] = reasons(region).tolist()
    if has_counts(case.prediction) or is_online(case.prediction):
        columns |= _count_columns(case)
    if is_online(case.prediction):
        columns |= _step_columns(case, levels)
    return columns


def _count_columns(case: Case) -> dict[str, list[str]]:
    """Return the p-values of the true labels and their counts, which are empty where the view has none."""
    extra, has_label = case.prediction.extra, case.true_columns >= 0
    at = np.arange(len(case.truth)), case.true_columns
    p_values = np.where(has_label, case.prediction.scores[at], 0.0)
    columns = {"p_value": numbers(p_values), "p_smoothed": numbers(case.smoothed)}
    if case.taus is not None:
        columns["tau"] = numbers(case.taus)
    if {"n_greater", "n_equal"} <= set(extra):
        greater, equal = extra["n_greater"][at], extra["n_equal"][at]
        counts = greater + extra.get("tau", 1.0) * equal
        is_counted = has_label & (p_values > 0)  # p is 0 where a tau was drawn as 0
        counted = np.rint(np.divide(counts, p_values, out=np.zeros(len(counts)), where=is_counted))
        columns["n_greater"], columns["n_equal"] = _counted(greater, has_label), _counted(equal, has_label)
        columns["n_counted"] = _counted(counted, is_counted)
    return columns


def _step_columns(case: Case, levels: Sequence[float]) -> dict[str, list[str]]:
    """Return the columns of the steps of an online pass."""
    columns = {"learnt": _whole(case.prediction.extra["learnt"])}
    for level in map(float, levels):
        region = case.prediction.region(level)
        missed = ~region[np.arange(len(case.truth)), case.true_columns]
        columns[f"size@{level!r}"] = _whole(region.sum(axis=1))
        columns[f"error@{level!r}"] = _whole(missed.astype(int))
        columns[f"errors@{level!r}"] = _whole(np.cumsum(missed))
    columns["log10_mixture_martingale"] = numbers(simple_mixture(case.smoothed))
    columns["log10_power_martingale"] = numbers(power_martingale(case.smoothed))
    return columns


def _whole(values: np.ndarray) -> list[str]:
    return [str(value) for value in np.asarray(values).tolist()]


def _counted(values: np.ndarray, is_known: np.ndarray) -> list[str]:
    """Return whole numbers (n,) as fields, empty if unknown."""
    pairs = zip(values.tolist(), is_known.tolist(), strict=True)
    return [str(int(value)) if is_number else "" for value, is_number in pairs]


def write(report: Report) -> None:
    """Write the prediction of every test example: one file per data set and variant, or per view of it.

    The files are called as the labels of the config, or as method and parameters. Files above 10 MB are
    compressed (``.csv.gz``). In Python, ``confml.load_run(folder).regions(...)`` reads the predictions.

    ``split`` is the split, and ``row`` the number of the row from 0: in the test part for a fixed split, else
    in the whole data set, after ``missing: drop`` left out rows. ``line`` is the line of the file that the
    row was read from, counted from 1 with the header (of the test file for a test part), and the columns of
    ``id:`` follow: join other data by these. ``part`` is ``train`` or ``test`` if the parts of the provider
    are pooled, because lines are then those of two files. An identifier with the name of another column is
    called ``id.<name>``. Data without a file have no lines.

    ``label`` is the true label and ``prediction`` the predicted one. ``confidence``; ``credibility`` for
    p-values; a column ``p[<class>]``, ``prob[<class>]`` or ``margin[<class>]`` for each class;
    ``total_entropy``, ``expected_entropy`` and ``mutual_information`` in nats for the view reject of draws;
    ``sd[<class>]`` for a posterior; ``lower[<class>]`` and ``upper[<class>]`` for a Venn predictor;
    ``standard_error[<class>]``, the Monte Carlo error of the score, for draws and Markov chains.
    ``region@<level>``: labels of the region, joined by ``|``; a ``|`` or a backslash in a label is escaped
    with a backslash. ``reason@<level>``: ``certain`` (one label), ``ambiguous`` (several) or ``atypical``
    (none). Margins have no regions.

    p-values with counts: ``p_value`` of the true label, 0 for an absent class; ``n_greater``, ``n_equal``:
    nonconformity scores greater than and equal to the example's own, which is one of the equal;
    ``n_counted``: N, the number of examples counted. ``p_value`` is (n_greater + n_equal) / N and
    ``p_smoothed`` is (n_greater + tau n_equal) / N, which is also ``p_value`` where the method has
    ``smoothed: true``. ``ks_statistic`` in ``metrics.csv`` is the distance of ``p_smoothed`` from the uniform
    distribution.

    Steps of an online pass: for each level ``size@`` (labels in the region), ``error@`` (1 if it does not
    contain the true label) and ``errors@`` (number so far); ``learnt`` (examples learnt before); and the
    decimal logarithms of the simple mixture and the power martingale.
    """


REGIONS = Files(
    "regions",
    {"regions": "prediction of every test example"},
    write,
    of_variant=write_variant,
)
