// Talking straight to an agent: its own words are the answer, and what the relay repeats of them is shown once.

import { isDelegation } from "./delegation";
import type { Entry, StreamingToolCall } from "./model";

/** The relay passes a message on under an id of this kind; a model's calls have ids of the model's. */
const relay_call = "relay_";

/** A person's own message was passed to the agent as it was. */
export function isStraight(call: StreamingToolCall): boolean {
  return isDelegation(call) && call.id.startsWith(relay_call);
}

/** What the relay says in the agent's name is in the agent's own flow already, or told by how its call ended. */
export function isRepetition(entries: Entry[], index: number, calls: Record<string, StreamingToolCall>): boolean {
  const entry = entries[index];
  if (entry?.kind !== "message" || entry.role !== "assistant") return false;
  // What the server had to say meanwhile may stand in between. No more is read than is needed: every entry that is drawn asks this.
  let at = index - 1;
  while (at >= 0 && entries[at]?.kind !== "call" && entries[at]?.kind !== "message") at -= 1;
  const before = entries[at];
  const call = before?.kind === "call" ? calls[before.id] : undefined;
  return call !== undefined && isStraight(call);
}

/** It was said before an agent's own session was continued here: such a message belongs to no turn. */
export function isEarlier(entry: Entry | undefined): boolean {
  return entry?.kind === "message" && entry.turnId === null && entry.createdAt !== null;
}

/** Whether what was said earlier ends at `index`. */
export function isLastEarlier(entries: Entry[], index: number): boolean {
  if (!isEarlier(entries[index])) return false;
  // What the agent did between two of its messages says nothing of when it was.
  let next = index + 1;
  while (entries[next]?.kind === "call") next += 1;
  return !isEarlier(entries[next]);
}
