// What a call to an agent says of itself.

import type { Agent, ToolCall } from "../api/types";
import type { StreamingToolCall } from "./model";

/** The tool for any agent, which the call names. */
const any_agent = "delegate";
/** The tool for the session's own agent, whichever that is. */
const own_agent = "copilot_agent";

/** Whether an agent works on it. */
export function isDelegation({ name }: Pick<ToolCall, "name">): boolean {
  return name === own_agent || name === any_agent;
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

/** The agent session it belongs to: the agent's word, or the caller's while the agent has said nothing. */
export function sessionName(call: StreamingToolCall): string {
  if (call.copilotSessionName !== null) return call.copilotSessionName;
  const name = readArguments(call.arguments)?.session_name;
  return typeof name === "string" ? name : "";
}

/** The id of the agent that the call names; null where the session's own is meant. */
export function namedAgent(call: Pick<ToolCall, "name" | "arguments">): string | null {
  const agent = call.name === any_agent ? readArguments(call.arguments)?.agent : null;
  return typeof agent === "string" ? agent : null;
}

/** Who works on it, by id. History does not say who worked for the session: that is taken to be its agent of now. */
export function agentIdOf(call: StreamingToolCall, sessionAgent: string | undefined): string | undefined {
  return namedAgent(call) ?? (call.copilotDone?.agent || (call.name === any_agent ? undefined : sessionAgent));
}

/** The agent's name for people. Nobody is called by another's name while it is not known yet. */
export function agentName(call: StreamingToolCall, agents: Agent[], sessionAgent: string | undefined): string {
  const id = agentIdOf(call, sessionAgent);
  return id === undefined ? "Agent" : shortTitle(agents.find((agent) => agent.id === id)?.title ?? id);
}

/** "GitHub Copilot" is known as Copilot, also where the list of agents is not there yet. */
export function shortTitle(title: string): string {
  return title === "copilot" ? "Copilot" : title.replace(/^GitHub /, "");
}

/** An agent is, or will be, at work on it. */
export function isOpenDelegation(call: StreamingToolCall): boolean {
  return isDelegation(call) && call.copilotDone === null && call.result === null && !call.abandoned;
}

/** Its agent did not get to its end. */
export function isBroken(call: StreamingToolCall): boolean {
  const reason = call.copilotDone?.stopReason;
  return call.abandoned || reason === "interrupted" || reason === "unknown";
}
