// What a turn has cost. Agents say what their session has cost so far, so it is the difference to the turn before.

import { sessionName } from "../state/delegation";
import type { Cost } from "../state/flow";
import type { SessionState, StreamingToolCall } from "../state/model";

const costOf = (call: StreamingToolCall | undefined) => call?.copilotStream?.usage?.cost ?? null;

/** In words; empty where it is not known of every agent that took part. */
export function costText(state: SessionState, start: number, calls: StreamingToolCall[]): string {
  const last = new Map<string, Cost>();
  for (const call of calls) {
    const cost = costOf(call);
    if (cost) last.set(sessionName(call), cost);
  }
  const currency = [...last.values()][0]?.currency;
  if (currency === undefined) return "";
  let sum = 0;
  for (const [name, cost] of last) {
    const before = costBefore(state, start, name);
    if (before === undefined || cost.currency !== currency) return "";
    // One that counts from nothing again has begun anew.
    sum += cost.amount >= before ? cost.amount - before : cost.amount;
  }
  return moneyText(sum, currency);
}

/** What an agent's session had cost when the turn began; undefined where that was not fetched. */
function costBefore(state: SessionState, start: number, name: string): number | undefined {
  for (let index = start - 1; index >= 0; index -= 1) {
    const entry = state.entries[index];
    const call = entry?.kind === "call" ? state.calls[entry.id] : undefined;
    const cost = call && sessionName(call) === name ? costOf(call) : null;
    if (cost) return cost.amount;
  }
  return state.moreBefore ? undefined : 0;
}

function moneyText(amount: number, currency: string): string {
  const least = 0.01;
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
  return amount > 0 && amount < least ? `under ${format.format(least)}` : format.format(amount);
}
