"""What the playground's Python answers, as text."""

from __future__ import annotations

import json
from base64 import b64encode


def text_of_answer(answer: object) -> str:
    """Return an answer as JSON, bytes in base64; numbers must be finite."""
    return json.dumps(answer, allow_nan=False, default=_base64)


def _base64(packed: bytes) -> str:
    return b64encode(packed).decode("ascii")
