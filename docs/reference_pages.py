"""Reference pages of the site, generated from confml's own declarations.

Each function returns the Markdown of one page. The texts are those of ``confml describe``, ``confml schema``
and ``confml COMMAND --help``.
"""

from __future__ import annotations

import inspect
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gallery_page import gallery_page, pictures

Json = Mapping[str, Any]


def config_page() -> str:
    """Return all keys of a config, the protocols and warnings, and what comes with confml for configs."""
    return _joined("Config", [_keys_of_configs(), _protocols(), _warnings(), _configs(), _published_tables()])


def _joined(title: str, pages: Iterable[str]) -> str:
    """Return one page of several, whose titles become headings of the second level."""
    parts = [re.sub(r"^(?=#+ )", "#", page, flags=re.MULTILINE) for page in pages]
    return "\n".join([f"# {title}\n", *parts])


def _keys_of_configs() -> str:
    """Return all keys of a config, from its JSON Schema."""
    from confml.config import json_schema
    from confml.published import known_tables
    from confml.report.figures import FIGURES

    schema = json_schema(figures=FIGURES, tables=known_tables())
    parts = schema["$defs"]
    lines = [
        "# Keys",
        "",
        "A config is a YAML file. `confml schema` prints this reference as a JSON Schema for editors, and "
        "`confml run --dry-run` checks a config without computing. Relative paths count from the folder of "
        "the config.",
        "",
        "## Top level",
        "",
        *_keys(schema["properties"], schema["required"], parts),
    ]
    for name in _referenced(schema, parts):
        properties = _properties(parts[name])
        lines += [
            f"## {_PARTS.get(name, name)} {{#{name.lower()}}}",
            "",
            prose(parts[name]["description"]),
            "",
        ]
        if properties:
            lines += _keys(properties, (), parts)
        else:
            lines += [f"Accepted: {_type(parts[name], parts)}.", ""]
    return _page(lines)


_PARTS = {
    "DatasetSpec": "datasets: one data set",
    "StepSpec": "steps: one step",
    "NoiseSpec": "noise",
    "MethodEntry": "methods: one method",
    "SamplesSpec": "samples: of a method",
    "ConformalSpec": "conformal: of a method",
    "VennSpec": "venn: of a method",
    "LimitsSpec": "limits: of a method",
    "Grid": "values of sweep and tune",
    "Protocol": "protocol",
    "FigureSpec": "figures: one figure",
    "PaperSpec": "paper",
}


def commands_page() -> str:
    """Return the help of every command."""
    import click

    from confml.cli import cli

    lines = ["# Commands", "", prose(cli.epilog or ""), ""]
    for path, command in _commands(cli, ()):
        context = click.Context(command, info_name=" ".join(path), terminal_width=100, max_content_width=100)
        usage = command.collect_usage_pieces(context)
        lines += [
            f"{'#' * (len(path))} confml {' '.join(path[1:])}",
            "",
            f"`{' '.join([*path, *usage])}`",
            "",
        ]
        lines += [_help(command.help or ""), ""]
        records = [one.get_help_record(context) for one in command.get_params(context)]
        if options := [one for one in records if one and one[0] != "-h, --help"]:
            lines += ["| option | |", "| --- | --- |"]
            lines += [f"| {_code(name)} | {_cell(text)} |" for name, text in options]
            lines.append("")
    return _page(lines)


def methods_page() -> str:
    """Return the documentation of every method and step."""
    methods = (
        "All methods of a config, as `confml describe NAME` shows them. Any classifier with scikit-learn's "
        "interface is a method too, by its dotted name. `version` increases whenever results change."
    )
    steps = "Steps run before every method, in the order of the config, and are fitted to training data only."
    return _joined(
        "Methods and steps",
        [
            _described("Methods", methods, "method", _parameters),
            _described("Steps", steps, "step", _parameters),
        ],
    )


def terms_page() -> str:
    """Return the glossary, the views and the metrics."""
    glossary = Path(__file__).with_name("glossary.md").read_text(encoding="utf-8")
    return _joined("Terms, views and metrics", [glossary, _views(), _metrics()])


def _metrics() -> str:
    """Return all metrics by the file that holds them."""
    from confml.report.described import describe_all

    entries: dict[str, list[Json]] = {}
    for name in _names("metric"):
        entry = describe_all(name, "metric")[0]
        entries.setdefault(entry["file"], []).append(entry)
    lines = [
        "# Metrics",
        "",
        "Every number that a run reports, by file. `confml describe NAME` shows one.",
        "",
    ]
    for file, metrics in entries.items():
        lines += [f"## {file}", "", "| metric | heading | meaning | formula | better | source |"]
        lines.append("| --- " * 6 + "|")
        for one in metrics:
            about = one["about"] + (f" ({', '.join(one['methods'])})" if one["methods"] else "")
            formula = _code(one["formula"]) if one["formula"] else ""
            cells = (
                _code(one["name"]),
                _cell(one["label"]),
                _cell(about),
                formula,
                one["better"] or "",
                _cell(one["source"] or ""),
            )
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return _page(lines)


def files_page() -> str:
    """Return the files of a run with their columns, and the figures."""
    return _joined("Files and figures of a run", [_files(), _figures()])


def _files() -> str:
    """Return the files of a run with their columns, from the tables of the report."""

    def files(entry: Json) -> Iterator[str]:
        yield from ["| file | content |", "| --- | --- |"]
        yield from (f"| {_code(name)} | {_cell(text)} |" for name, text in entry["files"].items())
        yield ""
        if entry["metrics"]:
            yield f"Metrics: {', '.join(f'`{name}`' for name in entry['metrics'])}."
            yield ""

    intro = (
        "The folder `results/<name>/` has the files below. `.run/manifest.json` has config, versions, "
        "checksums of the data, seeds, machine and times. `.run/batches/` has the stored results, from which "
        "all other files are computed. `confml describe NAME` shows a table or a group of files."
    )
    from confml.report.tables.known import known_outputs

    names = [output.name for output in known_outputs()]
    return _described("Files and columns", intro, "table", files, names=names)


def _figures() -> str:
    """Return all kinds of figures with their options and pictures."""
    from confml.report.described import describe_all

    kinds = {}
    for name in _names("figure"):
        entry = describe_all(name, "figure")[0]
        drawn = "once for all data sets" if entry["across"] else "once per data set"
        refits = " It fits models again, which needs the data." if entry["refits"] else ""
        kinds[name] = [f"{paragraphs(entry['about'])} Drawn {drawn}.{refits}", "", *_parameters(entry)]
    return gallery_page(kinds)


def figure_pictures() -> dict[str, Path]:
    """Return the pictures of the page of figures by their paths in the site."""
    return pictures(_names("figure"))


def _views() -> str:
    """Return all views: regions, confidence and acceptance of each kind of prediction."""
    from confml.report.described import describe_all

    lines = [
        "# Views",
        "",
        "A view is one kind of confidence of a fitted method. Regions, confidence and acceptance are defined "
        "for each kind of prediction.",
        "",
        "| view | scores | region at a level | confidence | accepted | methods |",
        "| --- " * 6 + "|",
    ]
    for name in _names("view"):
        one = describe_all(name, "view")[0]
        methods = ", ".join(map(_code, one["methods"])) or "classifiers of scikit-learn"
        cells = (_cell(one[key]) for key in ("about", "region", "confidence", "accepted"))
        lines.append(f"| `{name}` | {' | '.join(cells)} | {methods} |")
    return _page([*lines, ""])


def _warnings() -> str:
    """Return all warnings with their codes."""
    from confml.report.described import describe_all

    lines = [
        "# Warnings",
        "",
        "A run warns about mistakes that make results look better or worse than they are. "
        "`silence: [CODE]` in a config leaves out the warnings of a code.",
        "",
        "| code | meaning |",
        "| --- | --- |",
        *(f"| `{name}` | {_cell(describe_all(name, 'warning')[0]['about'])} |" for name in _names("warning")),
    ]
    return _page(lines)


def _protocols() -> str:
    """Return the protocols with their keys."""
    return _described("Protocols", "A protocol makes the splits of a run.", "protocol", _parameters)


def _published_tables() -> str:
    """Return the published tables with which runs are compared."""

    def columns(entry: Json) -> Iterator[str]:
        yield f"Source: {prose(entry['source'])}. Unit: {prose(entry['unit'] or 'none')}."
        yield ""
        yield f"Data sets: {', '.join(map(_code, entry['datasets']))}."
        yield ""
        yield from (f"- {prose(note)}" for note in entry["notes"])
        yield ""

    intro = (
        "Published numbers with which `paper: {table: NAME}` in a config and `confml report --table NAME` "
        "compare computed ones."
    )
    return _described("Published tables", intro, "published-table", columns)


def api_text() -> str:
    """Return directives of mkdocstrings for every public name, for the end of the page on Python."""
    import confml

    lines = [
        "## Public names",
        "",
        "Every name is imported from `confml`, as in `from confml import TCMNN`. It is loaded when it is "
        "first used, so `import confml` takes a few milliseconds. [Methods](../reference/methods.md) "
        "describes the parameters of the methods.",
        "",
    ]
    public = {name: getattr(confml, name) for name in confml.__all__ if not name.startswith("_")}
    for name in sorted(public, key=lambda one: (one[0].isupper(), one.lower())):
        lines += [f"::: {public[name].__module__}.{public[name].__qualname__}", ""]
    return _page(lines)


def _configs() -> str:
    """Return all configs of the repository: what each shows, its data sets and its methods."""
    import yaml

    lines = [
        "# Configs",
        "",
        "Configs of the repository, in `configs/`. Each begins with a comment on what it shows.",
        "Run one with `confml run NAME`; `make help` lists the targets that run several.",
        "",
    ]
    root = Path(__file__).parents[1] / "configs"
    papers = sorted(path for path in (root / "papers").iterdir() if path.is_dir())
    for folder in (root, *papers, root / "gallery"):
        lines += [
            f"## {folder.relative_to(root.parent)}",
            "",
            "| config | shows | methods |",
            "| --- " * 3 + "|",
        ]
        for path in sorted(folder.glob("*.yaml")):
            text = path.read_text(encoding="utf-8")
            comment = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
            about = " ".join(line.lstrip("# ") for line in comment)
            methods = dict.fromkeys(
                one if isinstance(one, str) else one["name"]
                for one in yaml.safe_load(text).get("methods", [])
            )
            names = ", ".join(_code(name) for name in methods)
            lines.append(f"| {_code(path.stem)} | {_cell(about)} | {names} |")
        lines.append("")
    return _page(lines)


PAGES: Mapping[str, Callable[[], str]] = {
    "reference/config.md": config_page,
    "reference/commands.md": commands_page,
    "reference/methods.md": methods_page,
    "reference/terms.md": terms_page,
    "reference/files.md": files_page,
}


def prose(text: str) -> str:
    """Return the text of a docstring as Markdown: literals as code, and no accidental markup."""
    pieces = re.split(r"(``.+?``|`[^`]+`)", text, flags=re.DOTALL)
    return "".join(_literal(one) if one.startswith("`") else _escaped(one) for one in pieces)


def _literal(text: str) -> str:
    return f"`{' '.join(text.strip('`').split())}`"


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([*\[\]])", r"\\\1", text)
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def _cell(text: str) -> str:
    """Return a text as one cell of a table."""
    return prose(" ".join(text.split())).replace("|", "&#124;")


def _code(text: str) -> str:
    return f"<code>{_html(text)}</code>"


def _html(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")
    return re.sub(r"([*_`\[\]\\{}])", lambda match: f"&#{ord(match[0])};", escaped)


def _page(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _names(kind: str) -> list[str]:
    from confml.report.described import known_types

    return list(dict.fromkeys(known_types()[kind].names()))


def _described(
    title: str, intro: str, kind: str, more: Callable[[Json], Iterable[str]], names: Sequence[str] = ()
) -> str:
    from confml.report.described import describe_all

    lines = [f"# {title}", "", intro, ""]
    for name in names or _names(kind):
        entry = describe_all(name, kind)[0]
        lines += [f"## {name}", ""]
        text = entry.get("text") or entry.get("about") or entry["title"]
        lines += [paragraphs(text), ""]
        if kind in ("method", "step"):
            views = f"; views: {', '.join(map(_code, entry['views']))}" if entry.get("views") else ""
            lines += [f"Version {entry['version']}{views}.", ""]
        lines += more(entry)
    return _page(lines)


def paragraphs(text: str) -> str:
    """Return the paragraphs of a docstring as Markdown."""
    return "\n\n".join(prose(one) for one in re.split(r"\n\s*\n", text.strip()))


def _parameters(entry: Json) -> Iterator[str]:
    from confml.plugins.parameters import value_text

    if not entry["parameters"]:
        return
    yield from ["| parameter | meaning | accepted | default |", "| --- | --- | --- | --- |"]
    for one in entry["parameters"]:
        required = "required" if entry["type"] in ("method", "step") else ""
        default = _code(value_text(one["default"])) if "default" in one else required
        about, accepted = _cell(one.get("about") or ""), _cell(one.get("expected") or "")
        yield f"| {_code(one['name'])} | {about} | {accepted} | {default} |"
    yield ""


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Iterate over commands that do something, with the words that call them."""
    import click

    name = "confml" if not path else command.name
    path = (*path, name)
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for one in command.list_commands(context):
        yield from _commands(command.get_command(context, one), path)


def _help(text: str) -> str:
    """Return the help of a command as Markdown; the examples after ``\\b`` as code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.startswith("\b\n"):
            parts.append(f"```sh\n{paragraph.removeprefix(chr(8)).strip()}\n```")
        else:
            parts.append(prose(paragraph))
    return "\n\n".join(parts)


def _keys(properties: Json, required: Sequence[str], parts: Json) -> list[str]:
    lines = ["| key | meaning | accepted | default | example |", "| --- " * 5 + "|"]
    for key, one in properties.items():
        default = "required" if key in required else _example(one["default"]) if "default" in one else ""
        example = _example(one["examples"][0]) if one.get("examples") else ""
        about = _cell(one.get("description", ""))
        lines.append(f"| {_code(key)} | {about} | {_type(one, parts)} | {default} | {example} |")
    return [*lines, ""]


def _example(value: Any) -> str:
    from confml.yaml import flow

    return _code(flow(value)) if not isinstance(value, bool) else _code(json.dumps(value))


def _type(schema: Json, parts: Json) -> str:
    """Return the accepted values of a key as text."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{_PARTS.get(name, name).split(':')[0]}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = [_type(one, parts) for one in schema["anyOf"]]
        return " or ".join(dict.fromkeys(filter(None, kinds)))
    if "enum" in schema:
        values = list(schema["enum"])
        more = f" and {len(values) - 12} more" if len(values) > 12 else ""
        return f"one of {', '.join(_code(str(one)) for one in values[:12])}{more}"
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_type(schema['items'], parts)}" if schema.get("items") else "list"
    if kind == "object":
        return "mapping"
    if kind in ("integer", "number"):
        noun = "whole number" if kind == "integer" else "number"
        words = {"minimum": "&ge;", "exclusiveMinimum": "&gt;", "maximum": "&le;", "exclusiveMaximum": "&lt;"}
        bounds = [f"{word} {schema[key]:g}" for key, word in words.items() if key in schema]
        return f"{noun} {', '.join(bounds)}".strip()
    return {"string": "text", "boolean": "true or false", "null": "null"}.get(str(kind), "")


def _properties(schema: Json) -> dict[str, Any]:
    """Return the keys of a part, out of all its forms."""
    found = dict(schema.get("properties", {})) if schema.get("additionalProperties") is not None else {}
    found = found or dict(schema.get("properties", {}))
    for one in [*schema.get("anyOf", ()), *schema.get("allOf", ())]:
        found = {**_properties(one), **found}
    return found


def _referenced(schema: Json, parts: Json) -> list[str]:
    """Return the parts of the schema in the order of their first use."""
    names = re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(schema["properties"]))
    found: list[str] = []
    while names:
        name = names.pop(0)
        if name not in found:
            found.append(name)
            names += re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(parts[name]))
    return found
