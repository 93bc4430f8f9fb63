// The bare page's worker: answers each message {id, kind, text} with {id, value | error}.
import { Bare } from "./bare.js";

const bare = new Bare();
addEventListener("message", async ({ data: { id, kind, text } }) => {
  try {
    postMessage({ id, value: await bare.do(kind, text) });
  } catch (error) {
    postMessage({ id, error: String(error?.message ?? error) });
  }
});
