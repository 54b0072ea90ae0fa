// How a tool call stands, in words.

import type { StreamingToolCall } from "../state/model";

export interface CallStatus {
  running: boolean;
  /** What follows the dash; empty while it runs. */
  label: string;
  tone: "running" | "good" | "bad" | "denied" | "neutral";
}

const known: Record<string, [label: string, tone: CallStatus["tone"]]> = {
  end_turn: ["done", "good"],
  cancelled: ["stopped", "neutral"],
  denied: ["denied", "denied"],
  failed: ["failed", "bad"],
  error: ["failed", "bad"],
  interrupted: ["interrupted", "bad"],
  unknown: ["outcome unknown", "bad"],
  refusal: ["refused", "bad"],
  max_tokens: ["out of tokens", "bad"],
  max_turn_requests: ["step limit reached", "bad"],
};

/** A person or a policy did not allow what the agent wanted to do. */
export function isDenied(call: StreamingToolCall): boolean {
  return call.copilotDone?.stopReason === "denied";
}

const not_allowed = "this was not allowed";

/** What was not allowed, in a sentence. The result is for a model to read: its first paragraph names it. */
export function denialText(call: StreamingToolCall): string {
  const reason = call.result?.split("\n\n", 1)[0] ?? "";
  const from = reason.indexOf(`${not_allowed}: `);
  const what = from < 0 ? "" : reason.slice(from + not_allowed.length + 2).trim();
  return what === "" ? "This was not allowed." : `This was not allowed: ${what}`;
}

export function callStatus(call: StreamingToolCall): CallStatus {
  if (call.copilotDone) {
    const reason = call.copilotDone.stopReason;
    const [label, tone] = known[reason] ?? [reason.replaceAll("_", " ") || "ended", "neutral"];
    return { running: false, label, tone };
  }
  if (call.result !== null) {
    return call.isError
      ? { running: false, label: "failed", tone: "bad" }
      : { running: false, label: "done", tone: "good" };
  }
  if (call.abandoned) return { running: false, label: "interrupted", tone: "bad" };
  return { running: true, label: "", tone: "running" };
}
