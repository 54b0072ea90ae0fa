// Talking straight to an agent: its own words are the answer, and what the relay repeats of them is shown once.

import { isDelegation } from "./delegation";
import type { Flow, Part } from "./flow";
import type { Entry, StreamingToolCall } from "./model";
import { wholeText } from "./text";

/** The relay passes a message on under an id of this kind; a model's calls have ids of the model's. */
const relay_call = "relay_";

/** A person's own message was passed to the agent as it was. */
export function isStraight(call: StreamingToolCall): boolean {
  return isDelegation(call) && call.id.startsWith(relay_call);
}

/** What the relay made of the agent's words, if it has: the message that follows the call at `index`. */
export function answerTo(entries: Entry[], index: number): string | null {
  const next = entries[index + 1];
  return next?.kind === "message" && next.role === "assistant" ? wholeText(next.text) : null;
}

/** The part that the answer repeats, which is then not shown itself: the agent's closing words, with nothing behind them. */
export function repeatedPart(flow: Flow | null, answer: string | null): Part | undefined {
  const last = flow?.parts.at(-1);
  if (answer === null || last?.type !== "text") return undefined;
  return wholeText(last.text).trim() === answer.trim() ? last : undefined;
}

/** An answer whose words all stand in the agent's flow, but not at its end: then they stay there, and it is not shown. */
export function isRepetition(entries: Entry[], index: number, calls: Record<string, StreamingToolCall>): boolean {
  const entry = entries[index];
  const before = entries[index - 1];
  if (entry?.kind !== "message" || entry.role !== "assistant" || before?.kind !== "call") return false;
  const call = calls[before.id];
  return call !== undefined && isStraight(call) && !repeatedPart(call.copilotStream, wholeText(entry.text));
}

/** The call that the message at `index` repeats the words of: then they are the agent's own. */
export function spokenIn(
  entries: Entry[],
  index: number,
  calls: Record<string, StreamingToolCall>,
): StreamingToolCall | undefined {
  const before = entries[index - 1];
  const call = before?.kind === "call" ? calls[before.id] : undefined;
  return call && isStraight(call) ? call : undefined;
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
