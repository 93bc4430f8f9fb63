"""How tests ask a page's own functions, with a limit for every answer.

A call that awaits its answer in the browser has none: where the browser loses it the
test would wait for ever.
"""

from __future__ import annotations

import time

from browsers import LIMIT_MS
from playwright.sync_api import Page

BEGIN = """([name, ...given]) => {
  globalThis.askedAnswer = null;
  globalThis[name](...given).then(
    (value) => { askedAnswer = { value }; },
    (error) => { askedAnswer = { error }; },
  );
}"""

IS_ANSWERED = "() => askedAnswer !== null"

END = """() => {
  if (askedAnswer.error) throw askedAnswer.error;
  return askedAnswer.value;
}"""

PAUSES_MS = (2, 5, 10, 20, 50)
"""Between looks for the answer; the last one again and again."""


def ask(page: Page, name: str, *given: str) -> str:
    """Call a function of the page by its name and return its answer as text.

    Raises:
        Error: what the function threw.
        TimeoutError: no answer came within `LIMIT_MS`.
    """
    page.evaluate(BEGIN, [name, *given])
    end = time.monotonic() + LIMIT_MS / 1000
    looks = 0
    while not page.evaluate(IS_ANSWERED):
        if time.monotonic() > end:
            raise TimeoutError(f"{name}({given!r}) gave no answer in {LIMIT_MS} ms")
        page.wait_for_timeout(PAUSES_MS[min(looks, len(PAUSES_MS) - 1)])
        looks += 1
    return str(page.evaluate(END))
