// What a turn comes to: its words, its time, and what it cost.

import type { Entry, SessionState, StreamingToolCall } from "../state/model";
import { wholeText } from "../state/text";
import { costText } from "./cost";

export interface Turn {
  turnId: string | null;
  /** What began it. */
  asked: string | null;
  /** What it ended with. */
  answer: string;
  calls: StreamingToolCall[];
  from: number | null;
  to: number | null;
  /** How long of that somebody was waited for. */
  waited: number;
  cost: string;
}

const isStart = (entry: Entry | undefined) => entry?.kind === "message" && entry.role === "user";

/** Whether a turn ends with the entry at `index`: the next one is somebody's message, or there is none. */
export function endsTurn(entries: Entry[], index: number): boolean {
  if (isStart(entries[index])) return false;
  return index === entries.length - 1 || isStart(entries[index + 1]);
}

export function turnOf(state: SessionState, end: number): Turn {
  let start = end;
  while (start >= 0 && !isStart(state.entries[start])) start -= 1;
  const first = state.entries[start];
  const asked = first?.kind === "message" ? first : null;
  const own = state.entries.slice(start + 1, end + 1);
  const calls = own.flatMap((entry) => (entry.kind === "call" ? (state.calls[entry.id] ?? []) : []));
  const answers = own.flatMap((entry) => (entry.kind === "message" && entry.role === "assistant" ? [entry] : []));
  const times = [...answers.map((entry) => entry.createdAt), ...calls.map((call) => call.endedAt)].flatMap((at) =>
    at === null ? [] : [Date.parse(at)],
  );
  const words = answers.at(-1);
  return {
    turnId: asked?.turnId ?? null,
    asked: asked ? wholeText(asked.text) : null,
    answer: words ? wholeText(words.text) : "",
    calls,
    from: asked?.createdAt ? Date.parse(asked.createdAt) : null,
    to: times.length > 0 ? Math.max(...times) : null,
    waited: waitedOf(calls),
    cost: costText(state, start, calls),
  };
}

/** Agents that wait together hold up their turn once: the last that ended knows how long that was. */
function waitedOf(calls: StreamingToolCall[]): number {
  const known = calls.flatMap((call) => call.turnWaitedMs ?? []);
  return known.length > 0 ? Math.max(...known) : calls.reduce((sum, call) => sum + call.waitedMs, 0);
}
