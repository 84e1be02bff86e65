"""Tables and figures of the arena from the report of its run: `write_tables`.

A cell is an entry around one classifier on one data set, at one level. It is refused if one of its holdouts
has no answer, broken if its coverage is shown to be below the promised one, and kept otherwise.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from figures import draw
from scipy import stats

from confml.measures.ranks import compare_ranks, holm

LEVELS = (0.05, 0.1, 0.2)
LEVEL = 0.1  # of ranks and outcomes
# What the documentation of each package promises: sets at 1 - level ("split": of a calibration part,
# "smoothed" with random ties, "class" for each class, "rows" for each row), "double" twice the level, "none".
PROMISES = {
    "MAPIE LAC": "split",
    "MAPIE APS": "split",
    "MAPIE RAPS": "split",
    "MAPIE cross mean": "rows",
    "MAPIE cross crossval": "rows",
    "crepes": "smoothed",
    "crepes unsmoothed": "split",
    "crepes Mondrian": "class",
    "crepes out-of-bag": "none",
    "puncc LAC": "split",
    "puncc classwise LAC": "class",
    "puncc APS": "smoothed",
    "puncc RAPS": "smoothed",
    "confml split": "split",
    "confml split smoothed": "smoothed",
    "confml split Mondrian": "class",
    "confml cross": "double",
    "confml out-of-bag": "none",
    "confml best-of": "split",
    "confml TCM-NN": "rows",
    "confml TCM-NN Mondrian": "class",
}
OTHERS = {  # methods without a base: their entries
    "tcm-nn": "confml TCM-NN",
    "bayes-knn": "confml Bayesian k-NN",
    "sklearn.ensemble.RandomForestClassifier": "confml samples",
    "sklearn.linear_model.LogisticRegression": "confml best-of",
}
KEY = ["entry", "base", "dataset"]
VARIANTS, SPLITS = 9, 5  # of arena.yaml: methods with the bases of the sweep, and holdouts


def with_entries(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table of the report with entry and base; of sets only those of their own level."""
    view, params = rows["view"].fillna("").astype(str), rows["params"].fillna("")
    is_arena = rows["method"] == "arena_methods.Arena"
    alone = rows["method"].map(OTHERS) + params.str.contains("mondrian").map({True: " Mondrian", False: ""})
    entry = view.str.replace(r" at [.\d]+$", "", regex=True).where(is_arena, alone)
    at = pd.to_numeric(view.str.extract(r" at ([.\d]+)$")[0])
    rows = rows.assign(
        entry=entry.str.replace(", ", " "), base=params.str.removeprefix("base=").where(is_arena, "any")
    )
    first_view = is_arena | view.isin(["p-value", "reject", ""])
    return rows[first_view & (at.isna() | rows["level"].isna() | (at == rows["level"]))]


def p_value(misses: np.ndarray, tested: int, calibration: float, level: float, promise: str) -> float:
    """Return the p-value of misses (splits,) among tested rows, for coverage of at least 1 - level.

    The chance of a miss of a split has a beta distribution given n calibration rows (exchangeable rows); of
    "class" and of entries that calibrate on all training rows, this law is an approximation. Splits depend on
    each other: twice the mean of their p-values is a p-value (Rueschendorf 1982).
    """
    level = min(1.0, 2 * level) if promise == "double" else level
    expected = level * (calibration + 1)
    is_smoothed = promise in ("smoothed", "class")
    rank = max(1.0, np.ceil(expected) if is_smoothed else np.floor(expected + 1e-9))
    if rank >= calibration + 1:
        return 1.0
    law = stats.betabinom(tested, rank, calibration + 1 - rank)
    return float(min(1.0, 2 * law.sf(misses - 1).mean()))


def cells_of(metrics: pd.DataFrame, classes: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each entry, base, data set and level: coverage, size, outcome and more."""
    rows = classes.drop_duplicates(["dataset", "class"]).groupby("dataset")["rows"].sum()
    tested = (rows / SPLITS).round().astype(int)
    sizes = metrics[metrics["metric"] == "calibration_rows"].groupby("dataset")["value"].first()
    bases = sorted(set(metrics["base"]) - {"any"})
    keys = [
        (entry, base, dataset, level)
        for entry in PROMISES
        for base in bases_of(entry, bases)
        for dataset in metrics["dataset"].unique()
        for level in LEVELS
    ]
    frame = pd.DataFrame(keys, columns=[*KEY, "level"])
    frame["promise"] = frame["entry"].map(PROMISES)
    values = metrics[metrics["metric"].isin(["coverage", "mean_region_size"])]
    table = values.pivot_table(index=[*KEY, "level", "split"], columns="metric", values="value")
    answers = table.groupby([*KEY, "level"])
    frame = frame.join(answers.size().rename("answered"), on=[*KEY, "level"]).fillna({"answered": 0})
    # The mean of numpy, not that of groupby, whose last digits differ: equal sizes have equal ranks.
    means = answers.agg(lambda values: values.mean()).rename(columns={"mean_region_size": "size"})
    frame = frame.join(means, on=[*KEY, "level"])

    def p_of(row: pd.Series) -> float:
        entry, base, dataset, level, promise = row[[*KEY, "level", "promise"]]
        coverage = table.loc[entry, base, dataset, level]["coverage"]
        misses = ((1 - coverage) * tested[dataset]).round().to_numpy()
        calibration = (1 if promise in ("split", "smoothed", "class") else 4) * sizes[dataset]
        return p_value(misses, int(tested[dataset]), calibration, level, promise)

    tried = frame[(frame["answered"] > 0) & (frame["promise"] != "none")]
    frame["p"] = tried.apply(p_of, axis=1)
    frame["holm"] = (
        frame.loc[tried.index].groupby(["entry", "level"])["p"].transform(lambda p: holm(p.to_numpy()))
    )
    refused = frame["answered"] < SPLITS
    frame["outcome"] = np.where(refused, "refused", np.where(frame["holm"] < 0.05, "broken", "kept"))
    return frame


def bases_of(entry: str, bases: list[str]) -> list[str]:
    """Return the classifiers that an entry wraps; ``any`` for a method of its own."""
    if entry in OTHERS.values() or "TCM-NN" in entry:
        return ["any"]
    return ["forest"] if "out-of-bag" in entry else bases


def ranks_of(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the mean rank of each entry by values (data set, base) x entry, lower is better, NaN is a loss.

    Ranks are means over the classifiers of a data set. p_of_best: of Wilcoxon's signed rank test against the
    entry with the best mean rank, corrected by Holm over all pairs. friedman: p-value of Friedman's test.
    """
    ranks = values.fillna(np.inf).rank(axis=1).groupby("dataset").mean()
    comparison = compare_ranks(ranks.to_numpy(), higher_is_better=False)
    means = ranks.mean()
    frame = pd.DataFrame({"measure": measure, "entry": means.index, "mean_rank": means.round(2).to_numpy()})
    frame["answered"] = values.notna().mean().round(3).to_numpy()
    frame["p_of_best"] = comparison.wilcoxon[means.argmin()].round(4)
    return frame.assign(data_sets=len(ranks), friedman=comparison.p_value).sort_values(
        "mean_rank", kind="stable"
    )


def by_base(rows: pd.DataFrame, column: str, entries: list[str] | None = None) -> pd.DataFrame:
    """Return values (data set, base) x entry; an entry without a base has its values for each base.

    entries: columns also of entries that never answer; by default of those with a value.
    """
    bases = pd.DataFrame({"base": sorted(set(rows["base"]) - {"any"})})
    alone = rows[rows["base"] == "any"].drop(columns="base").merge(bases, how="cross")
    table = pd.concat([rows[rows["base"] != "any"], alone]).pivot_table(
        index=["dataset", "base"], columns="entry", values=column, dropna=False
    )
    table = table.reindex(columns=entries or table.columns)
    return table.drop(columns=[entry for entry in table if "out-of-bag" in entry])  # of forests only


def entries_of(cells: pd.DataFrame, seconds: pd.Series, worst: pd.Series) -> pd.DataFrame:
    """Return one row for each entry with sets: outcomes, coverage, and its test over all data sets."""
    rows = []
    for (entry, promise), group in cells.groupby(["entry", "promise"], sort=False):
        at = group[group["level"] == LEVEL]
        row = {"entry": entry, "promise": promise, "cells": len(at)}
        row |= {outcome: int((at["outcome"] == outcome).sum()) for outcome in ("kept", "refused", "broken")}
        if promise == "none":
            row |= {"kept": "", "broken": ""}
        for level, of_level in group.groupby("level"):
            promised = 1 - (2 if promise == "double" else 1) * level
            means = of_level.groupby("dataset")["coverage"].mean().dropna()
            test = stats.ttest_1samp(means, promised, alternative="less") if len(means) > 1 else None
            row |= {f"coverage_{level}": round(means.mean(), 4), f"p_{level}": test.pvalue if test else 1.0}
        row |= {"size": round(at.groupby("dataset")["size"].mean().mean(), 3)}
        rows.append(row | {"worst_class": worst.get(entry), "seconds": seconds.get(entry)})
    frame = pd.DataFrame(rows)
    columns = [f"p_{level}" for level in LEVELS]
    promised = frame["promise"] != "none"
    adjusted = holm(frame.loc[promised, columns].to_numpy().ravel()).reshape(-1, len(columns))
    frame[columns] = np.nan
    frame.loc[promised, columns] = adjusted.round(4)
    return frame


def write_tables(run_folder: Path, out: Path) -> None:
    """Write the tables of a run into ``out``, and its figures beside the run."""
    metrics = pd.read_csv(run_folder / "metrics.csv", low_memory=False)
    failures = run_folder / "tables" / "failures.csv"
    ends = pd.concat([metrics, pd.read_csv(failures)]) if failures.exists() else metrics
    ends = ends.drop_duplicates(["dataset", "method", "params", "split"])
    done = ends.groupby("dataset").size()
    metrics = metrics[metrics["dataset"].isin(done.index[done == VARIANTS * SPLITS])]  # finished data sets
    costs = metrics[metrics["metric"].str.startswith("seconds ")]
    names = costs["metric"].str.removeprefix("seconds ").str.replace(", ", " ")
    seconds = costs.groupby(names)["value"].median().round(3)
    timings = pd.read_csv(run_folder / "tables" / "timings.csv").assign(view="", level=np.nan)
    alone = with_entries(timings[timings["method"].isin(list(OTHERS))])
    totals = alone["fit_seconds"] + alone["predict_seconds"]
    seconds = pd.concat([seconds, totals.groupby(alone["entry"]).median().round(3)])
    metrics = with_entries(metrics)
    classes = pd.read_csv(run_folder / "tables" / "class-coverage.csv")
    of_classes = with_entries(classes)
    of_classes = of_classes[(of_classes["level"] == LEVEL) & (of_classes["rows"] >= 10)]
    lowest = of_classes.groupby([*KEY])["coverage"].min().groupby("entry").mean().round(3)
    cells = cells_of(metrics, classes)
    out.mkdir(parents=True, exist_ok=True)
    entries = entries_of(cells, seconds, lowest)
    unranked = (
        seconds.drop(entries["entry"], errors="ignore").rename_axis("entry").reset_index(name="seconds")
    )
    entries = pd.concat([entries, unranked.assign(promise="none")])
    entries.to_csv(out / "entries.csv", index=False)
    at = cells[cells["level"] == LEVEL]
    counts = at.pivot_table(
        index=["dataset", "entry"], columns="outcome", values="level", aggfunc="size", fill_value=0
    )
    means = at.groupby(["dataset", "entry"])[["coverage", "size"]].mean().round(4)
    means.join(counts).reset_index().to_csv(out / "sets.csv", index=False)
    promised = [entry for entry, promise in PROMISES.items() if promise != "none"]
    sets = at.assign(size=at["size"].where(at["outcome"] == "kept"))
    sets = sets[sets["entry"].isin(promised)]
    tables = [ranks_of(by_base(sets, "size", promised), f"set size at {LEVEL}")]
    single = metrics[~metrics["view"].fillna("").str.contains(" at ")]
    for metric in ("augrc", "brier"):
        rows = single[single["metric"] == metric].groupby(KEY)["value"].mean().reset_index()
        tables.append(ranks_of(by_base(rows, "value"), metric))
    certified = with_entries(pd.read_csv(run_folder / "tables" / "certified.csv").assign(level=np.nan))
    certified = certified[(certified["risk"] == 0.1) & ~certified["view"].str.contains(" at ")]
    certified = certified.assign(lost=-certified["coverage"].fillna(0))
    tables.append(ranks_of(by_base(certified, "lost"), "certified coverage at risk 0.1"))
    pd.concat(tables).to_csv(out / "ranks.csv", index=False)
    draw(cells, run_folder.parent)
