// The test page's worker: answers each message {id, kind, code} with {id, value | error}.
import { start } from "./harness.js";

const ready = start();
addEventListener("message", async ({ data: { id, kind, code } }) => {
  try {
    const run = await ready;
    postMessage({ id, value: await run(kind, code) });
  } catch (error) {
    postMessage({ id, error: String(error?.message ?? error) });
  }
});
