// How a tool call stands, in words.

import type { Status } from "../kit/small";
import type { StreamingToolCall } from "../state/model";
import { callEnding, endingOf, type Tone } from "./endings";

export interface CallStatus {
  running: boolean;
  /** What follows the dash; empty while it runs. */
  label: string;
  tone: "running" | Tone;
  /** Its sign; a good end needs none. */
  dot: Status;
}

/** How an agent's work ended, by its reason. */
export const endWord = (reason: string, result = ""): string => endingOf(reason, result).word;

/** A person or a policy did not allow what the agent wanted to do. */
export function isDenied(call: StreamingToolCall): boolean {
  return call.copilotDone?.stopReason === "denied";
}

const not_allowed = "this was not allowed";

/** What was not allowed. The result is for a model to read: its first paragraph names it. */
export function denialText(call: StreamingToolCall): string {
  const reason = call.result?.split("\n\n", 1)[0] ?? "";
  const from = reason.indexOf(`${not_allowed}: `);
  return from < 0 ? "" : reason.slice(from + not_allowed.length + 2).trim();
}

export function callStatus(call: StreamingToolCall): CallStatus {
  const ending = callEnding(call);
  if (ending) return { running: false, label: ending.word, tone: ending.tone, dot: ending.dot };
  if (call.result !== null) {
    return call.isError
      ? { running: false, label: "failed", tone: "bad", dot: "failed" }
      : { running: false, label: "done", tone: "good", dot: "seen" };
  }
  return { running: true, label: "", tone: "running", dot: "running" };
}
