// The bare page's main thread: Python here or in the worker, as the tests ask for it.
import { Bare } from "./bare.js";

const main = new Bare();
let worker;
let nextId = 1;
const waiting = new Map();

window.onMain = (kind, text) => main.do(kind, text);
window.inWorker = (kind, text) => {
  if (!worker) {
    worker = new Worker("./worker.js", { type: "module" });
    worker.onmessage = ({ data: { id, value, error } }) => {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    };
  }
  return new Promise((resolve, reject) => {
    const id = nextId++;
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, kind, text });
  });
};
document.body.dataset.state = "ready";
