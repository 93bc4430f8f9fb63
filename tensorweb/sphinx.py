"""Show programs that run in the pages of Sphinx: the directive `tensorweb`.

Sphinx loads this module when `conf.py` names it among its `extensions`; it imports
Sphinx only then. `docs/guide/element.md` describes the element.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from .version import VERSION

if TYPE_CHECKING:
    from docutils.nodes import Node, document
    from docutils.parsers.rst import Directive
    from sphinx.application import Sphinx

FLAGS = ("readonly", "autorun")
TEXTS = ("label", "height", "device", "base", "href")
THEMES = ("light", "dark", "auto")

SCRIPT = "tensor-web.js"

KEY = "tensorweb"
"""The attribute of a container that holds a program: the options of its directive."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directive and the setting `tensorweb_base` to Sphinx.

    Args:
        app: Sphinx, which calls this function.

    Returns:
        What Sphinx needs to know of an extension.
    """
    app.add_config_value("tensorweb_base", "", "html", [str])
    app.add_directive("tensorweb", _directive())
    app.connect("doctree-resolved", _write)
    return {"version": VERSION, "parallel_read_safe": True, "parallel_write_safe": True}


def _directive() -> type[Directive]:
    from docutils import nodes
    from docutils.parsers.rst import directives
    from sphinx.util.docutils import SphinxDirective

    def theme(text: str | None) -> str:
        return str(directives.choice(text, THEMES))

    class Program(SphinxDirective):
        """The program is the directive's content, or the file that `:file:` names."""

        has_content = True
        option_spec = {  # noqa: RUF012  # as docutils declares it
            **dict.fromkeys((*TEXTS, "file"), directives.unchanged_required),
            **dict.fromkeys(FLAGS, directives.flag),
            "theme": theme,
        }

        def run(self) -> list[Node]:
            """Return a container of the program as a code block."""
            options = dict(self.options)
            text = "\n".join(self.content)
            if name := options.pop("file", None):
                relative, path = self.env.relfn2path(name)
                self.env.note_dependency(relative)
                try:
                    with open(path, encoding="utf-8") as file:
                        text = file.read().rstrip("\n")
                except OSError as error:
                    raise self.error(f"tensorweb: {error}") from None
            if not text.strip():
                raise self.error("tensorweb: a program is missing: write it, or :file:")
            code = nodes.literal_block(text, text, language="python")
            self.set_source_info(code)
            return [nodes.container("", code, **{KEY: options})]

    return Program


def _write(app: Sphinx, page: document, name: str) -> None:
    """Write elements around the programs of a page in HTML, and their script once."""
    from docutils import nodes

    if app.builder.format != "html":
        return
    scripts: set[str] = set()
    for container in list(page.findall(nodes.container)):
        options: dict[str, str | None] | None = container.get(KEY)
        if options is None:
            continue
        base = _base(app, name, options.get("base") or app.config.tensorweb_base)
        script = escape(f"{base}{SCRIPT}")
        before = f'<script type="module" src="{script}"></script>\n'
        attributes = {**options, "base": base}
        words = [f' {key}="{escape(text or "")}"' for key, text in attributes.items()]
        start = f"{'' if script in scripts else before}<tensor-web{''.join(words)}>"
        scripts.add(script)
        container.replace_self(
            [
                nodes.raw("", start, format="html"),
                *container.children,
                nodes.raw("", "</tensor-web>", format="html"),
            ]
        )


def _base(app: Sphinx, name: str, base: str) -> str:
    """Return the folder of the site as seen from a page of the documentation."""
    if not base:
        from sphinx.errors import ExtensionError

        raise ExtensionError(
            "tensorweb: set tensorweb_base in conf.py to the folder of a built site, "
            'such as "https://example.org/play/"'
        )
    if not base.endswith("/"):
        base += "/"
    if "://" in base or base.startswith("/"):
        return base
    return "../" * app.builder.get_target_uri(name).count("/") + base
