/** What adapters do in a second, as the browser stores it by their names. */

import type { DeviceRates } from "../../page/protocol";
import { recall, remember } from "../../page/storage";

const KEY = "rates";
const LONGEST_NAME = 200;

export function storedRates(adapter: string): DeviceRates | null {
  return ratesIn(recall(KEY), adapter);
}

export function storeRates(rates: DeviceRates): void {
  remember(KEY, withRates(recall(KEY), rates));
}

/** The rates of an adapter in a stored text, whatever that is; null for none. */
export function ratesIn(text: string | null, adapter: string): DeviceRates | null {
  const pair: unknown = new Map(entriesOf(text)).get(adapter.slice(0, LONGEST_NAME));
  const [bandwidth, flops] = Array.isArray(pair) ? (pair as unknown[]) : [];
  return isRate(bandwidth) && isRate(flops) ? { adapter, bandwidth, flops } : null;
}

/** The text to store when an adapter has been measured. */
export function withRates(text: string | null, { adapter, bandwidth, flops }: DeviceRates): string {
  return JSON.stringify(Object.fromEntries([...entriesOf(text), [adapter.slice(0, LONGEST_NAME), [bandwidth, flops]]]));
}

function entriesOf(text: string | null): [string, unknown][] {
  try {
    return Object.entries((JSON.parse(text ?? "{}") as object | null) ?? {});
  } catch {
    return [];
  }
}

function isRate(value: unknown): value is number {
  return Number.isFinite(value) && (value as number) > 0;
}
