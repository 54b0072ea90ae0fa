// When an agent said something: where to look for it in its traffic.

import type { TraceFilter } from "../api/types";
import type { Heard, Part } from "../state/flow";
import type { StreamingToolCall } from "../state/model";
import { isStraight } from "../state/straight";

/** A line is written down a moment before what it says is known here. */
const ahead_ms = 500;
/** What is told live is dated by the clock of this device. */
const behind_ms = 2_000;

export const heardSpan = ({ from, to }: Heard): TraceFilter => ({ from_ms: from - ahead_ms, until_ms: to });

/** From its beginning to its end. */
export function callSpan({ startedAt, endedAt }: StreamingToolCall): TraceFilter | null {
  if (startedAt === null) return null;
  const until_ms = endedAt === null ? undefined : Date.parse(endedAt) + behind_ms;
  return { from_ms: Date.parse(startedAt) - behind_ms, until_ms };
}

/** The closing words of the agent that answered a person itself: from the last thing that it did before them on. */
export function spokenSpan(calls: StreamingToolCall[]): TraceFilter | null {
  const call = calls.at(-1);
  const parts = call?.copilotStream?.parts ?? [];
  const at = parts.findLastIndex((part) => part.type === "text");
  const whole = call && isStraight(call) ? callSpan(call) : null;
  if (at < 0 || whole === null) return null;
  const before = parts.slice(0, at).flatMap(heardOf);
  return { ...whole, from_ms: Math.max(whole.from_ms ?? 0, ...before.map(({ to }) => to - ahead_ms)) };
}

function heardOf(part: Part): Heard[] {
  if (part.type === "group") return part.parts.flatMap(heardOf);
  return "heard" in part && part.heard !== null ? [part.heard] : [];
}
