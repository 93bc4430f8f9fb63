"""Make pages of the README and the documents: `docs/*.html` of the site.

They have what our Markdown has: headings, paragraphs, lists, tables, fenced code,
links, pictures, strong text and code. Comments are left out, other HTML is text.
"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

from tools.process import ROOT

STYLES = "documents.css"
README = "index"
"""The README's name among the documents."""

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · tensorweb</title>
<link rel="icon" href="../favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{styles}">
</head>
<body>
<nav aria-label="Site">
<a href="../">Playground</a> · <a href="index.html">Documentation</a>
</nav>
<main>
"""
FOOT = "</main>\n</body>\n</html>\n"

SOURCE = """
## Source

The library is Python and WGSL under the MIT licence. [{wheel}](wheels/{wheel}) is all
of it, as this site runs it: a zip archive of its source files.
"""

INLINE = re.compile(
    r"`([^`]+)`"
    r"|!\[([^\]]*)\]\(([^)]+)\)"
    r"|\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)]+)\)"
    r"|\*\*(.+?)\*\*"
    r"|(?<![\w*])\*([^*\s][^*]*)\*"
)
ROW = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"\|[\s:|-]+\|?$")
ITEM = re.compile(r"(?:[-*]|\d+\.) ")


def write(out: Path) -> None:
    """Write a page for the README and for each document into `out/docs`."""
    folder = out / "docs"
    folder.mkdir()
    [wheel] = [path.name for path in (out / "wheels").glob("tensorweb-*.whl")]
    readme = (ROOT / "README.md").read_text("utf-8") + SOURCE.format(wheel=wheel)
    texts = {
        path.stem: path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")
    }
    for name, text in {README: readme, **texts}.items():
        (folder / f"{name}.html").write_text(page(text, name == README), "utf-8")
    for picture in (ROOT / "docs").glob("*.png"):
        shutil.copyfile(picture, folder / picture.name)
    shutil.copyfile(ROOT / "web/documents/style.css", folder / STYLES)


def page(text: str, is_readme: bool = False) -> str:
    """Return a document as HTML; links of the README start one folder higher.

    >>> '<h1 id="a-small-one">A <em>small</em> one</h1>' in page("# A *small* one")
    True
    """
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    title = html.escape(found[1].replace("`", "")) if found else "Documents"
    body = "\n".join(_blocks(text.splitlines(), is_readme))
    return f"{HEAD.format(title=title, styles=STYLES)}{body}\n{FOOT}"


def _blocks(lines: list[str], is_readme: bool) -> list[str]:
    blocks: list[str] = []
    start = 0
    while start < len(lines):
        end = _end_of_block(lines, start)
        block = _block(lines[start:end], is_readme)
        if block:
            blocks.append(block)
        start = end
    return blocks


def _kind(line: str) -> str:
    """Return what a line begins."""
    if line.startswith("```"):
        return "code"
    if line.startswith("#"):
        return "heading"
    if line.startswith("|"):
        return "table"
    if ITEM.match(line):
        return "list"
    return "text" if line.strip() and not line.startswith("<!--") else "nothing"


def _end_of_block(lines: list[str], start: int) -> int:
    kind = _kind(lines[start])
    end = start + 1
    if kind in ("heading", "nothing"):
        return end
    if kind == "code":
        while end < len(lines) and not lines[end].startswith("```"):
            end += 1
        return end + 1
    goes_on = {"list": ("list", "text")}.get(kind, (kind,))
    while end < len(lines) and _kind(lines[end]) in goes_on:
        end += 1
    return end


def _block(lines: list[str], is_readme: bool) -> str:
    first = lines[0]
    kind = _kind(first)
    if kind == "code":
        code = html.escape("\n".join(lines[1:-1]), quote=False)
        return f'<pre tabindex="0"><code>{code}</code></pre>'
    if kind == "heading":
        level = len(first) - len(first.lstrip("#"))
        text = first[level:].strip()
        name = re.sub(r"[^\w\s-]", "", text.lower()).strip().replace(" ", "-")
        return f'<h{level} id="{name}">{_inline(text, is_readme)}</h{level}>'
    if kind == "table":
        return _table(lines, is_readme)
    if kind == "list":
        return _list(lines, is_readme)
    if kind == "text":
        return f"<p>{_inline(' '.join(lines), is_readme)}</p>"
    return ""


def _table(lines: list[str], is_readme: bool) -> str:
    rows = [
        [_inline(cell.strip().replace("\\|", "|"), is_readme) for cell in _cells(line)]
        for line in lines
        if not RULE.match(line)
    ]
    tags = ["th", *["td"] * (len(rows) - 1)]
    body = "\n".join(
        f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in row)}</tr>"
        for tag, row in zip(tags, rows, strict=True)
    )
    return f'<div class="table" tabindex="0"><table>\n{body}\n</table></div>'


def _cells(line: str) -> list[str]:
    return ROW.split(line.strip())[1:-1]


def _list(lines: list[str], is_readme: bool) -> str:
    items: list[str] = []
    for line in lines:
        if ITEM.match(line):
            items.append(ITEM.sub("", line, count=1))
        else:
            items[-1] += f" {line.strip()}"
    tag = "ul" if lines[0][0] in "-*" else "ol"
    inside = "\n".join(f"<li>{_inline(item, is_readme)}</li>" for item in items)
    return f"<{tag}>\n{inside}\n</{tag}>"


def _inline(text: str, is_readme: bool) -> str:
    parts: list[str] = []
    start = 0
    for found in INLINE.finditer(text):
        parts.append(html.escape(text[start : found.start()], quote=False))
        parts.append(_span(found, is_readme))
        start = found.end()
    return "".join([*parts, html.escape(text[start:], quote=False)])


def _span(found: re.Match[str], is_readme: bool) -> str:
    code, alt, picture, words, target, strong, stressed = found.groups()
    if code is not None:
        return f"<code>{html.escape(code, quote=False)}</code>"
    if picture is not None:
        return f'<img src="{_address(picture, is_readme)}" alt="{html.escape(alt)}">'
    if target is not None:
        address = _address(target, is_readme)
        return (
            f'<a href="{address}">{_inline(words, is_readme)}</a>' if address else words
        )
    if strong is not None:
        return f"<strong>{_inline(strong, is_readme)}</strong>"
    return f"<em>{_inline(stressed, is_readme)}</em>"


def _address(target: str, is_readme: bool) -> str:
    """Return where a link leads in the site; empty for what has no page there."""
    if "://" in target or target.startswith("#"):
        return html.escape(target)
    path, _, part = target.partition("#")
    part = f"#{part}" if part else ""
    if is_readme:
        if path.startswith("wheels/"):
            return f"../{path}"
        if not path.startswith("docs/"):
            return ""
        path = path.removeprefix("docs/")
    elif path == "../README.md":
        path = f"{README}.md"
    elif path.startswith("../"):
        return ""
    return html.escape(re.sub(r"\.md$", ".html", path) + part)
