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

/** The arguments as an object, if that is what they are. */
export function readArguments(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

export function sessionName(call: StreamingToolCall): string {
  if (call.copilotSessionName !== null) return call.copilotSessionName;
  const name = readArguments(call.arguments)?.session_name;
  return typeof name === "string" ? name : "";
}
