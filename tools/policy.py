"""What each file of the site tells browsers about safety: the tables and their files.

A site carries its headers in `_headers`, which hosts like Netlify and Cloudflare Pages
read and `tensorweb/site_server.py` as well. Hosts that know no such file send the pages
alone, so both documents say their policy in a `meta` element too. Workers start from
`blob:` addresses and take over the policy of the document that starts them.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from fnmatch import fnmatchcase
from pathlib import Path

from tensorweb.site_server import HEADER, HEADERS_FILE, ISOLATION, RESOURCE, SHARED

Policy = dict[str, str]

STRICT: Policy = {
    "default-src": "'self'",
    "script-src": "'self' 'wasm-unsafe-eval' 'unsafe-eval'",  # programs may run_js
    "connect-src": "'self'",
    "worker-src": "'self' blob:",  # what workers import must fit as well, in Chromium
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "object-src": "'none'",
    "frame-ancestors": "'none'",
}
"""Programs reach the page's own origin only, and no other page shows this file."""

PAGE: Policy = STRICT | {"frame-ancestors": "*"}
"""Other sites may show these documents: the page, which is a link to itself there, the
compact page `embed/`, and `runtime/`, which runs the programs of elements."""

OPEN: Policy = STRICT | {"connect-src": "* blob: data:", "frame-ancestors": "'self'"}
"""The same for programs that the reader lets onto the network."""

DOCUMENTS = {
    "index.html": PAGE,
    "embed/index.html": PAGE,
    "network/index.html": OPEN,
    "runtime/index.html": PAGE,
}
"""A row for each document of the site, by its path; other files are strict."""

MANUAL = "docs"
"""Folder of documents that are strict, as files are, and say so in the page as well."""

SHOWN_ELSEWHERE = ("index.html", "embed/index.html", "runtime/index.html")
"""What isolated pages of other sites may show as well."""

LOADED_ELSEWHERE = ("/tensor-web*.js", "/wheels/*")
"""Scripts of the custom element, and wheels, which pages of other sites load."""

READERS = "Access-Control-Allow-Origin"

HEADER_ONLY = ("frame-ancestors",)
"""What browsers take from a header and not from a `meta` element."""

SLOT = 'content="POLICY"'
"""Where a document's `meta` element has its policy."""


def apply(site: Path) -> None:
    """Fill the policies into the documents of a site and write its `_headers`."""
    rules = {"/*": SHARED}
    for path in _paths(site):
        rules[path] = {HEADER: _text(STRICT), RESOURCE: ISOLATION[RESOURCE]}
        if any(fnmatchcase(path, pattern) for pattern in LOADED_ELSEWHERE):
            rules[path] |= {RESOURCE: "cross-origin", READERS: "*"}
    for name, row in DOCUMENTS.items():
        policy = _fill(site / name, row)
        folder = name.removesuffix("index.html")
        for path in (f"/{name}", f"/{folder}"):
            rules[path] = {HEADER: _text(policy), RESOURCE: _readers(name)}
    for document in (site / MANUAL).rglob("*.html"):
        _fill(document, STRICT)
    (site / HEADERS_FILE).write_text(_lines(rules), "utf-8")


def _fill(document: Path, row: Policy) -> Policy:
    """Write a policy and the scripts in the page into a document; return the policy."""
    page = document.read_text("utf-8")
    policy = row | {"script-src": " ".join([row["script-src"], *_inline(page)])}
    in_page = {key: policy[key] for key in policy if key not in HEADER_ONLY}
    assert SLOT in page, f"internal: {document} has no slot for its policy"
    document.write_text(page.replace(SLOT, f'content="{_text(in_page)}"'), "utf-8")
    return policy


def _paths(site: Path) -> list[str]:
    """Return the paths that the strict rule is for.

    Hosts join the values of all rules that fit, and browsers obey every policy that
    they get. A rule for everything would therefore close the open document again.
    """
    folders = {name.split("/")[0] for name in DOCUMENTS if "/" in name}
    entries = [entry for entry in sorted(site.iterdir()) if entry.name not in folders]
    return [f"/{entry.name}{'/*' * entry.is_dir()}" for entry in entries]


def _readers(name: str) -> str:
    return "cross-origin" if name in SHOWN_ELSEWHERE else ISOLATION[RESOURCE]


def _inline(page: str) -> list[str]:
    """Return the sources that allow the scripts written into a page."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    return [f"'sha256-{b64encode(digest).decode()}'" for digest in digests]


def _text(policy: Policy) -> str:
    return "; ".join(f"{name} {sources}" for name, sources in policy.items())


def _lines(rules: dict[str, dict[str, str]]) -> str:
    lines: list[str] = []
    for path, headers in rules.items():
        lines += [path, *(f"  {name}: {value}" for name, value in headers.items())]
    return "\n".join([*lines, ""])
