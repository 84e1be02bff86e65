"""The templates of the page, with style and script inside of it."""

import functools
import json
from importlib import resources
from typing import Any

from markupsafe import Markup

from confml.report.page.details import Details
from confml.report.tables.columns import column_of

CONTENT = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def render(template: str, **content: Any) -> str:
    """Return a page from one of ``templates/``; every text in ``content`` is escaped."""
    return _environment().get_template(template).render(policy=CONTENT, **content)


def compile_templates() -> None:
    """Compile the templates of the page of a run, which takes longer than to fill them."""
    for name in ("base.html", "parts.html", "run.html"):
        _environment().get_template(name)


@functools.cache
def _environment():
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(lambda name: _source(f"templates/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["style"] = Markup(_source("page.css"))
    environment.globals["script"] = Markup(_source("page.js"))
    environment.globals["explorer_views"] = explorer_views
    environment.globals["column_of"] = column_of
    environment.filters["json"] = as_json
    environment.filters["text"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    return environment


def explorer_views(details: Details) -> list[dict[str, Any]]:
    """Return the test examples of each panel as plain data for the script."""
    return [{"split": panel.split, "rows": panel.rows} for panel in details.panels]


@functools.cache
def _source(name: str) -> str:
    return resources.files("confml.report.page").joinpath(name).read_text(encoding="utf-8")


def as_json(value: Any) -> Markup:
    """Return plain data as compact JSON that can stand in a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
