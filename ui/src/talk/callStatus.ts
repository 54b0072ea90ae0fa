// How a tool call stands, in words.

import type { Status } from "../kit/small";
import type { StreamingToolCall } from "../state/model";

export interface CallStatus {
  running: boolean;
  /** What follows the dash; empty while it runs. */
  label: string;
  tone: "running" | "good" | "bad" | "denied" | "neutral";
  /** Its sign; a good end needs none. */
  dot: Status;
}

const known: Record<string, [label: string, tone: CallStatus["tone"], dot: Status]> = {
  end_turn: ["done", "good", "seen"],
  cancelled: ["stopped", "neutral", "seen"],
  denied: ["declined", "denied", "seen"],
  failed: ["failed", "bad", "failed"],
  error: ["failed", "bad", "failed"],
  interrupted: ["interrupted", "bad", "interrupted"],
  unknown: ["outcome unknown", "bad", "unknown"],
  refusal: ["refused", "bad", "failed"],
  max_tokens: ["out of tokens", "bad", "interrupted"],
  max_turn_requests: ["step limit reached", "bad", "interrupted"],
};

/** How an agent's work ended, by its reason. */
export const endWord = (reason: string): string => known[reason]?.[0] ?? (reason.replaceAll("_", " ") || "ended");

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
  if (call.copilotDone) {
    const reason = call.copilotDone.stopReason;
    const [, tone, dot] = known[reason] ?? ["", "neutral", "seen"];
    return { running: false, label: endWord(reason), tone, dot };
  }
  if (call.result !== null) {
    return call.isError
      ? { running: false, label: "failed", tone: "bad", dot: "failed" }
      : { running: false, label: "done", tone: "good", dot: "seen" };
  }
  if (call.abandoned) return { running: false, label: "interrupted", tone: "bad", dot: "interrupted" };
  return { running: true, label: "", tone: "running", dot: "running" };
}
