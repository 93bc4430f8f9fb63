"""How tests ask a page's own functions, with a limit for every answer.

A call that awaits its answer in the browser has none: where the browser loses it the
test would wait for ever. Each look waits in the page for a while: many short looks
would take a third of the processor.
"""

from __future__ import annotations

import time

from browsers import LIMIT_MS
from playwright.sync_api import Page

BEGIN = """([name, ...given]) => {
  globalThis.askedAnswer = globalThis[name](...given).then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
}"""

LOOK = """async (milliseconds) => {
  const later = new Promise((done) => setTimeout(done, milliseconds, null));
  const answer = await Promise.race([askedAnswer, later]);
  if (answer?.error) throw answer.error;
  return answer;
}"""

LOOK_MS = 2_000
"""How long one look waits for the answer."""


def ask(page: Page, name: str, *given: str) -> str:
    """Call a function of the page by its name and return its answer as text.

    Raises:
        Error: what the function threw.
        TimeoutError: no answer came within `LIMIT_MS`.
    """
    page.evaluate(BEGIN, [name, *given])
    end = time.monotonic() + LIMIT_MS / 1000
    while (answer := page.evaluate(LOOK, LOOK_MS)) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"{name}({given!r}) gave no answer in {LIMIT_MS} ms")
    return str(answer["value"])
