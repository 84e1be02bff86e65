"""The page of the arena: `write_page` fills page.md with the stored tables."""

import shutil
from pathlib import Path

import pandas as pd

MEASURES = {
    "set size at 0.1": "size",
    "augrc": "AUGRC",
    "brier": "Brier",
    "certified coverage at risk 0.1": "certified",
}
PROMISED = {
    "split": "1 - level",
    "smoothed": "1 - level",
    "rows": "1 - level",
    "class": "each class",
    "double": "1 - 2 level",
}


def write_page(stored: Path, page: Path) -> None:
    """Write the page and its figures from the tables in the folder ``stored``."""
    entries, ranks = pd.read_csv(stored / "entries.csv"), pd.read_csv(stored / "ranks.csv")
    data = pd.read_csv(stored / "datasets.csv")
    data = data[data["name"].isin(pd.read_csv(stored / "sets.csv")["dataset"])]
    columns = ranks.pivot_table(index="entry", columns="measure", values="mean_rank")[list(MEASURES)]
    table = (
        entries.set_index("entry")
        .join(columns, how="outer")
        .reindex([*entries["entry"], *columns.index.difference(entries["entry"])])
    )
    shown = pd.DataFrame(
        {
            "promise": table["promise"].map(PROMISED).fillna("none"),
            **{name: table[name].map(number("{:.0f}")) for name in ("kept", "refused", "broken")},
            "coverage": table["coverage_0.1"].map(number("{:.3f}")),
            "class": table["worst_class"].map(number("{:.3f}")),
            **{f"rank: {name}": table[measure].map(number("{:.1f}")) for measure, name in MEASURES.items()},
            "seconds": table["seconds"].map(number("{:.2g}")),
        }
    )
    low = entries[entries[["p_0.05", "p_0.1", "p_0.2"]].min(axis=1) < 0.05]["entry"]
    broken = entries[pd.to_numeric(entries["broken"], errors="coerce") > 0]["entry"]
    verdict = (
        f"Over all data sets the coverage is shown to be below the promise for {words(low)}. "
        f"Single cells are broken for {words(broken)}."
    )
    choice = "\n".join(
        f"- Best mean rank by {name}: {group['entry'].iloc[0]} ({group['mean_rank'].iloc[0]:.1f}); "
        "no significant difference from "
        f"{words(group[group['p_of_best'] >= 0.05]['entry'].iloc[1:])}."
        for measure, name in MEASURES.items()
        for group in [ranks[ranks["measure"] == measure]]
    )
    fields = {
        "sets": str(len(data)),
        "rows": f"{data['rows'].min()} to {data['rows'].max():,}",
        "classes": f"{data['classes'].min()} to {data['classes'].max()}",
        "table": shown.to_markdown(disable_numparse=True),
        "verdict": verdict,
        "choice": choice,
    }
    text = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    for name, value in fields.items():
        text = text.replace("{" + name + "}", value)
    page.write_text(text, encoding="utf-8")
    for figure in ("coverage", "sizes"):
        shutil.copy(stored / f"{figure}.svg", page.with_name(f"arena-{figure}.svg"))


def number(form: str):
    """Return a function that writes numbers in a form, and nothing for missing ones."""
    return lambda value: "" if pd.isna(value) else form.format(value)


def words(names) -> str:
    """Return names as a list in a sentence."""
    return ", ".join(names) or "none"
