/** What the editor shows of a run, while results of the run before are there. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Annotations } from "../../web/src/page/editor";
import type { Page } from "../../web/src/page/page";
import type { LineResult, TensorRecord } from "../../web/src/page/protocol";
import type { View } from "../../web/src/page/view";
import { mountResults } from "../../web/src/panels/editor/results";
import { RESPONSES } from "./records";

const [tensor] = RESPONSES.describe as [TensorRecord];
const [line] = RESPONSES.run.lines as [LineResult];
const finite = { ...tensor, lines: [0], nan: 0, inf: 0 };

test("a line without NaN has no mark of the run before", async () => {
  const files = [{ name: "main.py", text: "x = 1" }];
  const origin = { run: 1, document: "a", python: 0, source: "x = 1" };
  const record = { ...RESPONSES.run, kernels: [], lines: [{ ...line, line: 1, endLine: 1, count: 1 }] };
  delete (record as { search?: unknown }).search;
  const shown: string[] = [];
  const answers = [[{ line: 0, kind: "nan" }], []];
  const page = {
    view: {} as View,
    request: () => Promise.resolve(answers.shift()),
    editor: {
      dom: { classList: { toggle: () => false } },
      files: () => files,
      annotate: (of: (file: string) => Annotations) => shown.push(of("main.py").ghosts[0]?.text ?? ""),
    },
  } as unknown as Page;
  const draw = mountResults(page);
  const step = async (changes: object): Promise<string | undefined> => {
    page.view = { ...page.view, ...changes };
    draw(page.view);
    await Promise.resolve().then(() => undefined).then(() => undefined);
    return shown.at(-1);
  };
  const run = (number: number): object => {
    const now = { ...origin, run: number };
    return { run: { ...record }, tensors: [{ ...finite }], phase: "reading", origins: { output: now, run: now, tensors: now } };
  };
  await step({ ...run(1), document: { id: "a" }, showsResults: true, editedSince: false, python: 0 });
  assert.equal((await step({ phase: "idle" }))?.split(" · ")[0], "NaN first seen");
  assert.equal((await step(run(2)))?.includes("NaN"), false);
  assert.equal((await step({ phase: "idle" }))?.includes("NaN"), false);
});
