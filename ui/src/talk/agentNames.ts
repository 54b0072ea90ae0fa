// Who works on a call, by the names that people know.

import { createContext, useContext } from "solid-js";
import type { Agent } from "../api/types";
import { titleOf } from "../state/agents";
import { agentIdOf, agentName } from "../state/delegation";
import type { StreamingToolCall } from "../state/model";

interface Known {
  agents(): Agent[];
  /** The agent of the session that is shown. */
  own(): string | undefined;
  /** Asks for the agents again. */
  refresh(): void;
}

export const KnownAgents = createContext<Known>({ agents: () => [], own: () => undefined, refresh: () => {} });

export function useAgentNames() {
  const { agents, own } = useContext(KnownAgents);
  return {
    of: (call: StreamingToolCall) => agentName(call, agents(), own()),
    /** By the id that the server gives. */
    titled: (id: string) => titleOf(agents(), id),
    own: () => titleOf(agents(), own() ?? "Agent"),
  };
}

/** What is known of the agent that works on a call, and how to ask again. */
export function useAgent() {
  const { agents, own, refresh } = useContext(KnownAgents);
  return {
    agentOf: (call: StreamingToolCall) => agents().find((agent) => agent.id === agentIdOf(call, own())),
    refresh,
  };
}
