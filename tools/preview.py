"""What other sites show of the page: absolute addresses in its head, where it has one.

Services that preview links fetch the page without running it, and most of them take a
picture only by its whole address. `web/index.html` cannot know where it will stand, so
its `og:image` is relative until `build.py site --address` says it.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from tools.process import BuildError

PICTURE = '<meta property="og:image" content="card.png" />'
"""The line of the page that names its picture."""


def checked(address: str) -> str:
    """Return the address of a site's folder, with a slash at the end.

    Raises:
        BuildError: it is no address that a site can have.

    >>> checked("https://example.org/play")
    'https://example.org/play/'
    """
    parts = urlsplit(address)
    is_plain = not (parts.query or parts.fragment or parts.username)
    if parts.scheme not in ("https", "http") or not parts.hostname or not is_plain:
        raise BuildError(
            f"--address {address}: give the whole address of the site's folder, such as"
            " https://example.org/play/"
        )
    return address.rstrip("/") + "/"


def apply(site: Path, address: str) -> None:
    """Write a site's address into its page.

    Raises:
        BuildError: `checked` refuses the address.
    """
    url = escape(checked(address))
    page = site / "index.html"
    text = page.read_text("utf-8")
    assert PICTURE in text, "internal: index.html does not name its picture so"
    indent = "\n    "
    lines = [
        f'<link rel="canonical" href="{url}" />',
        f'<meta property="og:url" content="{url}" />',
        f'<meta property="og:image" content="{url}card.png" />',
    ]
    page.write_text(text.replace(PICTURE, indent.join(lines)), "utf-8")
