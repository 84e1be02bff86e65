"""The templates of the page, with style and script inside of it."""

import functools
from importlib import resources
from typing import Any

from markupsafe import Markup

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
    environment.filters["text"] = lambda text: text.replace(" %", "\N{NO-BREAK SPACE}%")
    return environment


@functools.cache
def _source(name: str) -> str:
    return resources.files("confml.report.page").joinpath(name).read_text(encoding="utf-8")
