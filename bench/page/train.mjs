/** Starts the worker that times training steps, and posts what it measures. */

const specification = await (await fetch("../specification.json")).json();
const log = document.querySelector("#log");
let posted = Promise.resolve();

/** Posts one after another, so that lines stay in order. */
function post(path, body) {
  posted = posted.then(() => fetch(`../${path}`, { method: "POST", body }));
  return posted;
}

const worker = new Worker(new URL("train-worker.mjs", import.meta.url), { type: "module" });
worker.addEventListener("error", ({ message }) => {
  void post("results", JSON.stringify({ error: message || "the worker did not load" }));
});
worker.addEventListener("message", ({ data }) => {
  if (data.log === undefined) return void post("results", JSON.stringify(data));
  log.textContent += `${data.log}\n`;
  void post("log", data.log);
});
worker.postMessage(specification);
