"""The page of the arena: `write_page` fills page.md with the stored tables."""

import re
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


def write_page(stored: Path, figures: Path, page: Path) -> None:
    """Write the page from the tables in the folder ``stored``, and copy its figures from ``figures``."""
    entries, ranks = pd.read_csv(stored / "entries.csv"), pd.read_csv(stored / "ranks.csv")
    data = pd.read_csv(stored / "datasets.csv")
    data = data[data["name"].isin(pd.read_csv(stored / "sets.csv")["dataset"])]
    columns = ranks.pivot_table(index="entry", columns="measure", values="mean_rank")[list(MEASURES)]
    table = (
        entries.set_index("entry")
        .join(columns, how="outer")
        .reindex([*entries["entry"], *columns.index.difference(entries["entry"])])
    )
    promised = table["promise"].map(PROMISED).fillna("none")
    shown = pd.DataFrame(
        {
            "promise": promised.mask(table.index.str.contains("out-of-bag"), "about 1 - level"),
            **{name: table[name].map(number("{:.0f}")) for name in ("kept", "refused", "broken")},
            "coverage": table["coverage_0.1"].map(number("{:.3f}")),
            "class": table["worst_class"].map(number("{:.3f}")),
            **{f"rank: {name}": table[measure].map(number("{:.1f}")) for measure, name in MEASURES.items()},
            "seconds": table["seconds"].map(number("{:.2g}")),
        }
    )
    low = entries[entries[["p_0.05", "p_0.1", "p_0.2"]].min(axis=1) < 0.05]["entry"]
    broken = entries[pd.to_numeric(entries["broken"], errors="coerce") > 0]["entry"]
    verdict = "At no level is the mean coverage over the data sets shown to be below the promise"
    if len(low):
        verdict = f"The mean coverage over the data sets is shown to be below the promise for {words(low)}"
    verdict += f". Broken single cells: {words(broken)}."
    choice = "\n".join(
        f"- By {name}: {group['entry'].iloc[0]} has the best mean rank ({group['mean_rank'].iloc[0]:.1f}). "
        f"No significant difference from: {words(group[group['p_of_best'] >= 0.05]['entry'].iloc[1:])}."
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
    numbers = entries.set_index("entry")
    text = re.sub(r"\{([^:{}]+):([^:{}]+)\}", lambda match: f"{numbers.loc[match[1], match[2]]:.3g}", text)
    page.write_text(text, encoding="utf-8")
    for figure in ("coverage", "sizes"):
        path = figures / f"arena-{figure}.svg"
        if path.resolve().parent != page.resolve().parent:
            shutil.copy(path, page.parent)


def number(form: str):
    """Return a function that writes numbers in a form, and nothing for missing ones."""
    return lambda value: "" if pd.isna(value) else form.format(value)


def words(names) -> str:
    """Return names as a list in a sentence."""
    return ", ".join(names) or "none"
