// What a call to an agent says of itself.

import type { StreamingToolCall } from "./model";

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

/** The agent session it belongs to: the agent's word, or the caller's while the agent has said nothing. */
export function sessionName(call: StreamingToolCall): string {
  if (call.copilotSessionName !== null) return call.copilotSessionName;
  const name = readArguments(call.arguments)?.session_name;
  return typeof name === "string" ? name : "";
}

/** An agent is, or will be, at work on it. */
export function isOpenDelegation(call: StreamingToolCall): boolean {
  return call.name === "copilot_agent" && call.copilotDone === null && call.result === null && !call.abandoned;
}
