// Who works on a call, by the names that people know.

import { createContext, useContext } from "solid-js";
import type { Agent } from "../api/types";
import { agentName } from "../state/delegation";
import type { StreamingToolCall } from "../state/model";

interface Known {
  agents(): Agent[];
  /** The agent of the session that is shown. */
  own(): string | undefined;
}

export const KnownAgents = createContext<Known>({ agents: () => [], own: () => undefined });

export function useAgentName(): (call: StreamingToolCall) => string {
  const known = useContext(KnownAgents);
  return (call) => agentName(call, known.agents(), known.own());
}
