/** Programs that the browser stores, with two tabs and with a full storage. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { changesBetween } from "../../web/src/page/text-changes";

let stored: Record<string, string> = {};
let isFull = false;
const methods = {
  getItem: (key: string) => stored[key] ?? null,
  removeItem: (key: string) => void delete stored[key],
  setItem: (key: string, value: string) => {
    if (isFull) throw new DOMException("full", "QuotaExceededError");
    stored[key] = value;
  },
};
const fake = new Proxy(methods, { ownKeys: () => Object.keys(stored), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: "" }) });
const browser = { location: { search: "" }, localStorage: fake, addEventListener: () => undefined, window: { top: null } };
for (const [name, value] of Object.entries(browser)) Object.defineProperty(globalThis, name, { value, configurable: true });

// It reads the address when it is loaded.
const { Documents, linkId } = await import("../../web/src/page/documents");
const opened = () => new Documents(() => undefined);

beforeEach(() => {
  stored = {};
  isFull = false;
});

test("programs of the reader are stored, listed and named once", () => {
  const documents = opened();
  const first = documents.newOwn();
  const second = documents.newOwn({ title: "Waves" });
  assert.deepEqual([first.id, first.title, second.title], ["own-1", "My program 1", "Waves"]);
  assert.equal(documents.write(first, "x = 1"), "stored");
  assert.equal(opened().read("own-1"), "x = 1");
  documents.forget("own-1");
  assert.equal(opened().newOwn().id, "own-3");
  assert.deepEqual(opened().list(), []);
});

test("a program that another tab changed is not overwritten unasked", () => {
  const [here, there] = [opened(), opened()];
  const document = here.newOwn();
  here.write(document, "mine");
  there.read(document.id);
  there.write(document, "theirs");
  assert.equal(here.write(document, "mine again"), "changed elsewhere");
  assert.equal(here.write(document, "theirs"), "stored");
  assert.equal(here.overwrite(document, "mine"), "stored");
  assert.equal(there.stored(document.id), "mine");
});

test("what a full storage refuses is there until the page is closed", () => {
  const documents = opened();
  const document = documents.newOwn();
  isFull = true;
  assert.equal(documents.write(document, "x = 1"), "full");
  assert(documents.isUnstored);
  assert.equal(documents.read(document.id), "x = 1");
  isFull = false;
  assert.equal(documents.write(document, "x = 2"), "stored");
  assert(!documents.isUnstored);
});

test("a program of a link is stored only while it differs", async () => {
  const documents = opened();
  const id = await linkId("x = 1");
  assert.equal(id === (await linkId("x = 2")), false);
  const document = { id, kind: "link", title: "Shared", original: "x = 1", address: "", isForeign: true } as const;
  documents.write(document, "x = 2");
  assert.deepEqual(documents.list().map(({ text, isForeign }) => [text, isForeign]), [["x = 2", true]]);
  documents.write(document, "x = 1");
  assert.deepEqual(documents.list(), []);
});

test("damaged records are no programs, and edits of earlier versions are adopted", () => {
  stored["tensorweb:document:own-7"] = "{";
  stored["tensorweb:code:01-tour"] = "print(1)";
  const list = opened().list();
  assert.deepEqual(list.map(({ id, text }) => [id, text]), [["own-8", "print(1)"]]);
  assert.equal(stored["tensorweb:code:01-tour"], undefined);
});

test("changes between two texts are few and make the one from the other", () => {
  const texts = ["", "a\nb\nc\n", "a\nB\nc\n", "x = 1\ny=2\n", "x = 1\ny = 2\nz\n", "c\nb\na"];
  for (const before of texts) {
    for (const after of texts) {
      let text = before;
      for (const { from, to, insert } of changesBetween(before, after).reverse()) text = text.slice(0, from) + insert + text.slice(to);
      assert.equal(text, after);
    }
  }
  assert.deepEqual(changesBetween("x = 1\ny=2\n", "x = 1\ny = 2\n").length, 2);
});
