// How a tool call stands, in words.

import type { StreamingToolCall } from "../state/model";

export interface CallStatus {
  running: boolean;
  /** What follows the dash; empty while it runs. */
  label: string;
  tone: "running" | "good" | "bad" | "neutral";
}

const known: Record<string, [label: string, tone: CallStatus["tone"]]> = {
  end_turn: ["done", "good"],
  cancelled: ["stopped", "neutral"],
  failed: ["failed", "bad"],
  error: ["failed", "bad"],
  interrupted: ["interrupted", "bad"],
  unknown: ["outcome unknown", "bad"],
  refusal: ["refused", "bad"],
  max_tokens: ["out of tokens", "bad"],
  max_turn_requests: ["step limit reached", "bad"],
};

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
