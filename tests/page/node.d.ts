/** The part of Node's test runner that the tests here use. */

declare module "node:test" {
  export function test(name: string, run: () => void | Promise<void>): void;
  export function beforeEach(run: () => void): void;
}

declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    rejects(run: () => Promise<unknown>, message?: RegExp): Promise<void>;
    throws(run: () => unknown, message?: RegExp): void;
  }
  const assert: Assert;
  export default assert;
}
