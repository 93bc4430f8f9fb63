"""The HTML file of a report: the program as text, a recording, and what draws it.

`report.js` and `report.css` are bundled from the page's own sources (`web/src/report/`)
by `python3 build.py setup` and whenever a wheel is built. The policy of the file lets
nothing but this script run, whatever a program has printed.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from tensorweb.errors import MissingPackageError

POLICY = (
    "default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; "
    "img-src data:; form-action 'none'; base-uri 'none'"
)

PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{styles}</style></head>
<body class="saved-page"><main><h1>{title}</h1>
<p class="saved-facts">{facts}</p>
{program}</main>
<script type="application/json" id="recording">{recording}</script>
<script>{script}</script></body></html>
"""

PROGRAM = """\
<h2>Program</h2>
<pre class="saved-code" data-file="main.py" tabindex="0" \
aria-label="Code of {name}"><code>{text}</code></pre>
"""

FRAME = """\
<iframe srcdoc="{page}" title="{title}" sandbox="allow-scripts" \
style="width: 100%; height: {height}px; border: 0"></iframe>"""

FRAME_HEIGHT = 560


@cache
def _bundled(name: str) -> str:
    path = Path(__file__).with_name(name)
    # In the playground the file is empty until the page has loaded what no start reads.
    text = path.read_text("utf-8") if path.is_file() else ""
    if not text:
        raise MissingPackageError(
            f"reports need {name}, which is not there yet; run it again when the page "
            "is loaded, in a checkout run `python3 build.py setup` first."
        )
    return text


def html_of(title: str, facts: str, text: str, recording: dict[str, Any]) -> str:
    """Return the file's text.

    Args:
        title: its heading.
        facts: the sentence below it.
        text: the program; none is shown if it is empty.
        recording: what `web/src/report/report.ts` draws.
    """
    script = _bundled("report.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    program = ""
    if text:
        name = escape(title, quote=True)
        program = PROGRAM.format(name=name, text=escape(text))
    return PAGE.format(
        policy=POLICY.format(script=f"sha256-{digest}"),
        title=escape(title),
        facts=escape(facts),
        styles=_bundled("report.css"),
        program=program,
        # No text inside a script element can end it without this sign.
        recording=json.dumps(recording, allow_nan=False).replace("<", "\\u003c"),
        script=script,
    )


def framed(page: str, title: str) -> str:
    """Return a frame with the page, which cannot reach the document around it."""
    return FRAME.format(
        page=escape(page, quote=True),
        title=escape(title, quote=True),
        height=FRAME_HEIGHT,
    )
